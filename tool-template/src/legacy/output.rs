//! What came of an older program, and what that means.

use crate::{Status, ToolError};

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// This signal killed it.
    Signaled(i32),
    /// It was killed at its deadline, or never started because the deadline had passed.
    TimedOut,
}

/// What the program left.
#[derive(Clone, Debug)]
pub struct Output {
    /// How it ended.
    pub end: End,
    /// What it wrote to stdout, up to the limit.
    pub stdout: Vec<u8>,
    /// What it wrote to stderr, up to the limit.
    pub stderr: Vec<u8>,
    /// Whether it wrote more to stdout than the limit.
    pub stdout_truncated: bool,
    /// Whether it wrote more to stderr than the limit.
    pub stderr_truncated: bool,
    pub(super) name: String,
}

impl Output {
    /// The output of a program that exited 0.
    ///
    /// # Errors
    ///
    /// See [`map_exit`](Self::map_exit); here every other exit code is a channel failure.
    pub fn require_success(self) -> Result<Self, ToolError> {
        self.map_exit(&[])
    }

    /// The output of a program that exited 0, or with a code that `map` calls ok. `map` says what the other codes
    /// mean: `&[(1, Status::DataLimitation)]` for grep.
    ///
    /// # Errors
    ///
    /// An error of the status that `map` names for the exit code; the channel failure `undeclared_exit` for a code
    /// that it does not name, `upstream_timeout`, `crashed` (a signal), or `output_limit` where a success lost a part
    /// of its stdout.
    pub fn map_exit(self, map: &[(i32, Status)]) -> Result<Self, ToolError> {
        let name = &self.name;
        let code = match self.end {
            End::Exited(code) => code,
            End::Signaled(signal) => {
                let message = format!("{name} was killed by signal {signal}");
                return Err(self.failure(Status::ChannelFailure, &message).reason("crashed").detail("signal", signal));
            }
            End::TimedOut => {
                let message = format!("{name} did not end in time and was killed");
                return Err(self.failure(Status::ChannelFailure, &message).reason("upstream_timeout"));
            }
        };
        let declared = map.iter().find(|(mapped, _)| *mapped == code).map(|(_, status)| *status);
        match declared.or((code == 0).then_some(Status::Ok)) {
            Some(Status::Ok) if self.stdout_truncated => Err(ToolError::channel_failure(format!(
                "{name} wrote more than the {} bytes that are kept: raise stdout_limit, or ask it for less",
                self.stdout.len()
            ))
            .reason("output_limit")),
            Some(Status::Ok) => Ok(self),
            Some(status) => Err(self.failure(status, &format!("{name} exited with {code}")).detail("exit_code", code)),
            None => Err(self
                .failure(Status::ChannelFailure, &format!("{name} exited with {code}, which is not declared"))
                .reason("undeclared_exit")
                .detail("exit_code", code)),
        }
    }

    /// The message ends with the last line of stderr: that is where such programs say why.
    fn failure(&self, status: Status, fact: &str) -> ToolError {
        let text = String::from_utf8_lossy(&self.stderr);
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        match last {
            Some(line) => {
                ToolError::with_status(status, format!("{fact}: {}", line.chars().take(500).collect::<String>()))
            }
            None => ToolError::with_status(status, fact),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(end: End) -> Output {
        Output {
            end,
            stdout: b"out".to_vec(),
            stderr: b"first\nno such index\n\n".to_vec(),
            stdout_truncated: false,
            stderr_truncated: false,
            name: "old".to_owned(),
        }
    }

    fn failed(end: End, map: &[(i32, Status)]) -> (i32, String) {
        let error = output(end).map_exit(map).unwrap_err();
        (error.exit_code(), error.to_string())
    }

    #[test]
    fn the_map_decides_and_what_it_does_not_name_is_a_channel_failure() {
        let map = [(1, Status::DataLimitation), (2, Status::CallError), (3, Status::Ok)];
        let (code, text) = failed(End::Exited(1), &map);
        assert_eq!((code, text.as_str()), (66, "data_limitation: old exited with 1: no such index"));
        assert_eq!(failed(End::Exited(2), &map).0, 64);
        assert_eq!(output(End::Exited(3)).map_exit(&map).unwrap().stdout, b"out");
        let (code, text) = failed(End::Exited(4), &map);
        assert_eq!(code, 69);
        assert!(text.contains("undeclared_exit"), "{text}");
    }

    #[test]
    fn only_zero_is_a_success() {
        assert!(output(End::Exited(0)).require_success().is_ok());
        assert_eq!(output(End::Exited(66)).require_success().unwrap_err().exit_code(), 69);
    }

    #[test]
    fn a_signal_or_a_timeout_is_never_taken_for_an_exit_code() {
        let map = [(9, Status::DataLimitation), (137, Status::DataLimitation), (124, Status::DataLimitation)];
        assert!(failed(End::Signaled(9), &map).1.starts_with("channel_failure (crashed)"));
        assert!(failed(End::TimedOut, &map).1.starts_with("channel_failure (upstream_timeout)"));
    }

    #[test]
    fn a_success_that_lost_output_is_none() {
        let cut = Output { stdout_truncated: true, ..output(End::Exited(0)) };
        assert!(cut.require_success().unwrap_err().to_string().contains("raise stdout_limit"));
    }
}
