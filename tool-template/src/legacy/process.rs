//! One child process from its start to the end of its group.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

use super::output::{End, Output};
use super::streams::Streams;
use crate::{ToolError, sys};

/// How long at most until a deadline or a SIGTERM is noticed; well below the 200 ms that the tool itself has then.
const SLICE: Duration = Duration::from_millis(50);
/// How long a helper of the program may go on writing (`tee` behind a process substitution) after it has ended.
const AFTERMATH: Duration = Duration::from_secs(1);
/// How long a killed process may take to die; one in uninterruptible sleep is left behind.
const LAST_BREATH: Duration = Duration::from_secs(2);

/// A started child. However it is let go, its group is gone after that.
struct Group {
    child: Child,
}

impl Drop for Group {
    fn drop(&mut self) {
        // The leader may be reaped already. Its number cannot be another group's while a member of its own lives; and
        // when none lives, a new one would have to get this very number in the moment since.
        sys::kill_group(self.child.id());
        let _ = self.child.wait_timeout(LAST_BREATH);
    }
}

pub(super) fn run(
    mut command: Command,
    input: Option<Vec<u8>>,
    limits: [usize; 2],
    until: Option<Instant>,
    name: String,
) -> Result<Output, ToolError> {
    let output = |end, stdout, stderr| Output {
        end,
        stdout,
        stderr,
        stdout_truncated: false,
        stderr_truncated: false,
        name: name.clone(),
    };
    // Started only to be killed, it could leave half a change behind.
    if until.is_some_and(|until| until <= Instant::now()) {
        return Ok(output(End::TimedOut, Vec::new(), Vec::new()));
    }
    let child = command.process_group(0).spawn().map_err(|error| {
        ToolError::channel_failure(format!(
            "{name} cannot be started: {error}: check that it is installed and that the sandbox lets it run"
        ))
        .reason("start_failed")
    })?;
    let mut group = Group { child };
    let broken = |error: io::Error| ToolError::internal(format!("{name} cannot be supervised: {error}"));
    let mut streams = Streams::new(&mut group.child, input.unwrap_or_default(), limits).map_err(broken)?;
    let status = wait(&mut group.child, &mut streams, until).map_err(broken)?;
    let end = match status {
        Waited::Ended(status) => ended(status),
        Waited::TimedOut => End::TimedOut,
        Waited::Cancelled => {
            return Err(
                ToolError::channel_failure(format!("told to stop while {name} was running")).reason("cancelled")
            );
        }
    };
    drop(group);
    Ok(Output {
        stdout_truncated: streams.stdout.truncated,
        stderr_truncated: streams.stderr.truncated,
        ..output(end, streams.stdout.bytes, streams.stderr.bytes)
    })
}

enum Waited {
    Ended(ExitStatus),
    TimedOut,
    Cancelled,
}

fn wait(child: &mut Child, streams: &mut Streams, until: Option<Instant>) -> io::Result<Waited> {
    loop {
        if sys::cancelled() {
            return Ok(Waited::Cancelled);
        }
        let patience = until.map_or(SLICE, |until| until.saturating_duration_since(Instant::now()).min(SLICE));
        if patience.is_zero() {
            return Ok(Waited::TimedOut);
        }
        let status = if streams.open() {
            streams.pump(patience)?;
            child.try_wait()?
        } else {
            child.wait_timeout(patience)?
        };
        if let Some(status) = status {
            drain(streams, until)?;
            return Ok(Waited::Ended(status));
        }
    }
}

/// Reads what is left after the program has ended.
fn drain(streams: &mut Streams, until: Option<Instant>) -> io::Result<()> {
    let limit = Instant::now() + AFTERMATH;
    let until = until.map_or(limit, |until| until.min(limit));
    streams.close_stdin();
    while streams.open() && !sys::cancelled() {
        let patience = until.saturating_duration_since(Instant::now()).min(SLICE);
        // One look at zero too: what the program itself wrote is in the pipe already and must not be lost.
        streams.pump(patience)?;
        if patience.is_zero() {
            break;
        }
    }
    Ok(())
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signaled(signal.unwrap_or_default()),
    }
}
