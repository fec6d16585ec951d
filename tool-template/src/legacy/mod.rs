//! Runs an older command-line program inside a tool, so that it can neither outlive the call nor hang it.
//!
//! ```no_run
//! use toolcell_tool::{Context, Status, ToolError, legacy};
//!
//! fn search(pattern: &str, context: &Context) -> Result<Vec<u8>, ToolError> {
//!     let output = legacy::Command::new("grep").arg("-e").arg(pattern).arg("/tool/notes").deadline(context).run()?;
//!     Ok(output.map_exit(&[(1, Status::DataLimitation)])?.stdout)
//! }
//! ```

mod output;
mod process;
mod streams;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

pub use output::{End, Output};

use crate::{Context, ToolError};

const STDOUT_LIMIT: usize = 8 << 20;
const STDERR_LIMIT: usize = 1 << 20;

/// A program to run: its own process group, a deadline, bounded streams, no shell.
#[derive(Clone, Debug)]
#[must_use = "nothing runs before `run`"]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    current_dir: Option<PathBuf>,
    stdin: Option<Vec<u8>>,
    deadline: Option<Instant>,
    timeout: Option<Duration>,
    stdout_limit: usize,
    stderr_limit: usize,
}

impl Command {
    /// A program by its path, or by its name in PATH.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            current_dir: None,
            stdin: None,
            deadline: None,
            timeout: None,
            stdout_limit: STDOUT_LIMIT,
            stderr_limit: STDERR_LIMIT,
        }
    }

    /// One more argument. A value from the input that may begin with `-` belongs after an argument that takes it, or
    /// after `--`: the program would take it for an option.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// More arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// A variable beside the ones that the tool itself has.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// The folder to run in; without it the tool's own.
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.current_dir = Some(folder.into());
        self
    }

    /// What the program reads from stdin; without it there is nothing to read.
    pub fn stdin_bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Ends the program when nine tenths of the call's remaining time are used, and at least 200 ms before the
    /// deadline, so that the tool can still say what happened. Without a deadline of the call this changes nothing.
    pub fn deadline(mut self, context: &Context) -> Self {
        self.deadline = context.deadline();
        self
    }

    /// Ends the program after this time. With [`deadline`](Self::deadline) too, the earlier counts.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How many bytes of stdout are kept; 8 MiB without it. The rest is read and dropped.
    pub fn stdout_limit(mut self, bytes: usize) -> Self {
        self.stdout_limit = bytes;
        self
    }

    /// How many bytes of stderr are kept; 1 MiB without it. The rest is read and dropped.
    pub fn stderr_limit(mut self, bytes: usize) -> Self {
        self.stderr_limit = bytes;
        self
    }

    /// Runs the program to its end, and ends its process group with it.
    ///
    /// A process that leaves the group (`setsid`) is not reached; the sandbox ends that one.
    ///
    /// # Errors
    ///
    /// A channel failure: `start_failed` where the program cannot be started, `cancelled` where the tool was told to
    /// stop, `tool_internal` where the pipes fail. That the program failed is no error here, see [`Output`].
    pub fn run(self) -> Result<Output, ToolError> {
        let until = self.until(Instant::now());
        let name = self.name();
        process::run(self.to_std(), self.stdin, [self.stdout_limit, self.stderr_limit], until, name)
    }

    fn name(&self) -> String {
        PathBuf::from(&self.program).file_name().unwrap_or(&self.program).to_string_lossy().into_owned()
    }

    fn until(&self, now: Instant) -> Option<Instant> {
        let by_deadline = self.deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(now);
            let reserve = (left / 10).max(Duration::from_millis(200));
            now + left.saturating_sub(reserve)
        });
        let by_timeout = self.timeout.and_then(|timeout| now.checked_add(timeout));
        by_deadline.into_iter().chain(by_timeout).min()
    }

    fn to_std(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.current_dir {
            command.current_dir(folder);
        }
        command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_a_tenth_and_at_least_200_ms() {
        let now = Instant::now();
        let seconds = |s: f64| Duration::from_secs_f64(s);
        let cases =
            [(10.0, None, 9.0), (1.0, None, 0.8), (0.1, None, 0.0), (10.0, Some(3.0), 3.0), (1.0, Some(3.0), 0.8)];
        for (left, timeout, expected) in cases {
            let command =
                Command { deadline: Some(now + seconds(left)), timeout: timeout.map(seconds), ..Command::new("x") };
            assert_eq!(command.until(now), Some(now + seconds(expected)), "{left} {timeout:?}");
        }
        assert_eq!(Command::new("x").until(now), None);
    }
}
