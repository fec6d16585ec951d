//! A row of the table, as plain data.

/// What the tool is sent.
#[derive(Clone, Copy, Debug)]
pub enum Send {
    /// These bytes, as they are.
    Bytes(&'static [u8]),
    /// An order for `bytes.py`: print these bytes.
    Print(&'static [u8]),
    /// An order for `bytes.py`: a head, a byte so many times, a tail.
    Repeat(&'static [u8], u8, usize, &'static [u8]),
    /// Bytes that are made: a head, a piece so many times, a tail.
    Made(&'static [u8], &'static [u8], usize, &'static [u8]),
}

/// How the tool itself ended.
#[derive(Clone, Copy, Debug)]
pub enum Exit {
    /// With this exit code.
    Code(i64),
    /// By this signal.
    Signal(&'static str),
    /// There was no tool, or its end is not looked at.
    Any,
}

/// What the envelope has to say.
#[derive(Clone, Copy, Debug)]
pub struct Expect {
    /// The status.
    pub status: &'static str,
    /// The reason; empty for `ok`.
    pub reason: &'static str,
    /// What toolcell or the kernel did; empty for null, [`EITHER`] where the tool may have been first.
    pub killed_by: &'static str,
    /// How the tool ended.
    pub exit: Exit,
    /// Warnings that must be among those given.
    pub warnings: &'static [&'static str],
    /// Warnings that must not be among those given.
    pub without: &'static [&'static str],
    /// What the message holds.
    pub message: &'static str,
    /// Members of the envelope, each by JSON Pointer and as JSON text.
    pub holds: &'static [(&'static str, &'static str)],
}

impl Expect {
    /// Failed for this reason.
    pub const fn failure(reason: &'static str) -> Self {
        Self { status: "channel_failure", reason, ..OK }
    }

    /// Ended by the deadline.
    pub const fn timeout() -> Self {
        Self { killed_by: "deadline", exit: Exit::Any, ..Self::failure("timeout") }
    }

    /// Lost a process to the kernel's OOM killer.
    pub const fn out_of_memory() -> Self {
        Self { killed_by: "memory", exit: Exit::Any, ..Self::failure("out_of_memory") }
    }

    /// Died of a signal nobody but itself has sent.
    pub const fn crash(signal: &'static str) -> Self {
        Self { exit: Exit::Signal(signal), ..Self::failure("crashed") }
    }

    /// Ended with a code that nothing declares.
    pub const fn undeclared(code: i64) -> Self {
        Self { exit: Exit::Code(code), ..Self::failure("undeclared_exit") }
    }

    /// Printed what is no JSON value.
    pub const fn invalid_output(message: &'static str) -> Self {
        Self { message, ..Self::failure("invalid_output") }
    }

    /// Refused before anything was started.
    pub const fn refused(reason: &'static str, message: &'static str) -> Self {
        Self { status: "call_error", reason, message, exit: Exit::Any, ..OK }
    }
}

/// See [`Expect::killed_by`].
pub const EITHER: &str = "either";

/// The tool succeeded.
pub const OK: Expect = Expect {
    status: "ok",
    reason: "",
    killed_by: "",
    exit: Exit::Code(0),
    warnings: &[],
    without: &["out_truncated", "unreaped"],
    message: "",
    holds: &[],
};

/// One hostile tool in one situation.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The kind it belongs to.
    pub case: &'static str,
    /// What happens, in a few words; no other row has the same.
    pub name: &'static str,
    /// The file in `tests/hostile/`, or a binary of this package.
    pub tool: &'static str,
    /// Arguments for it.
    pub args: &'static [&'static str],
    /// The profile.
    pub profile: &'static str,
    /// What more tool.toml says below `[limits]`.
    pub limits: &'static str,
    /// What more tool.toml says before its tables.
    pub toml: &'static str,
    /// Flags of the call.
    pub flags: &'static [&'static str],
    /// Standard input.
    pub input: Send,
    /// What is expected with a control group (level 3).
    pub expect: Expect,
    /// What is expected without one (level 2), where that differs. Memory is then limited for each process only.
    pub without_group: Option<Expect>,
    /// The envelope comes within these milliseconds, where nothing else loads the machine.
    pub within: (u64, u64),
}

/// What rows have in common: twenty seconds of time, 64 MiB, 64 processes, 4 MiB of output.
pub const ROW: Row = Row {
    case: "",
    name: "",
    tool: "",
    args: &[],
    profile: "standard",
    limits: LONG,
    toml: "",
    flags: &[],
    input: Send::Bytes(b"{}"),
    expect: OK,
    without_group: None,
    within: (0, 8_000),
};

/// Limits of a row that ends by itself.
pub const LONG: &str = "wall = \"20s\"\ngrace = \"300ms\"\nmemory = \"64MiB\"\nstdout = \"4MiB\"\n";
/// Limits of a row that the deadline ends.
pub const SHORT: &str = "wall = \"1s\"\ngrace = \"300ms\"\nmemory = \"64MiB\"\nstdout = \"4MiB\"\n";
/// The window of a row that the deadline ends: not before it, and not long after the grace.
pub const AT_DEADLINE: (u64, u64) = (950, 6_000);
/// The window of a row whose tool has to be killed after the grace.
pub const AFTER_GRACE: (u64, u64) = (1_250, 6_500);
