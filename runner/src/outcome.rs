//! The Outcome: what was seen of one attempt, before anyone judges it.

use crate::layer::Layers;
use crate::text::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Raw facts of one attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Why no process started; null when one did.
    pub failure: Option<StartFailure>,
    /// How the tool ended; null when it never started or its end was not seen.
    pub end: Option<End>,
    /// What the runner did, or the kernel reported, to end it.
    pub killed_by: Option<KillCause>,
    /// Whether SIGKILL had to follow SIGTERM.
    pub escalated: bool,
    /// Standard output, up to its cap.
    pub stdout: Capture,
    /// Standard error: its beginning and its end, secrets replaced.
    pub stderr: Capture,
    /// Whether the tool closed its input before all was written.
    pub stdin_closed_early: bool,
    /// Whether a secret's value stood in standard output (which is then withheld).
    pub secret_in_output: bool,
    /// Processes that outlived the tool and had to be killed.
    pub leaked_processes: u32,
    /// Whether something in uninterruptible sleep was left behind.
    pub unreaped: bool,
    /// What was used; null for what could not be measured.
    pub usage: Usage,
    /// What the kernel counted.
    pub events: Events,
    /// What was enforced.
    pub layers: Layers,
    /// Read-only binds whose file system cannot map owners: the tool sees its files as somebody else's.
    pub unmapped: Vec<String>,
    /// Files that were collected.
    pub files: Vec<OutFile>,
    /// Why collecting files fell short; null when it did not.
    pub files_truncated: Option<String>,
}

/// How a process ended. The two never share a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// By exit, with this code (0 to 255).
    Exited(u8),
    /// By this signal.
    Signaled(i32),
}

/// What ended the call from outside the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KillCause {
    /// The deadline passed.
    Deadline,
    /// The kernel's OOM killer struck in the call's group.
    Memory,
    /// Standard output grew beyond its cap.
    OutputLimit,
    /// The caller cancelled.
    Cancelled,
}

/// Bytes of a stream, as far as they were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// What was kept.
    pub kept: Text,
    /// How many bytes came in all.
    pub total: u64,
    /// Whether some were dropped.
    pub truncated: bool,
}

/// Why no process started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartFailure {
    /// Which kind of failure.
    pub kind: StartFailureKind,
    /// The set-up step that failed, by its name in docs/sandbox.md.
    pub step: String,
    /// The error's name, such as EPERM; null when it was no system call.
    pub errno: Option<String>,
    /// What the step was done to: a path, a layer, a variable.
    pub object: String,
    /// The whole fact, for people.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
}

/// Which kind of failure kept the tool from starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StartFailureKind {
    /// The program itself could not be executed.
    Program,
    /// A layer the profile requires is not to be had here.
    Sandbox,
    /// A secret has no value.
    Secret,
    /// The runner's own fault.
    Internal,
    /// The deadline passed, or the caller cancelled, before the start (see `killed_by`).
    Ended,
}

/// What was used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// From launch to the end of the last process, milliseconds.
    pub wall_ms: Option<u64>,
    /// User and system time of all processes, milliseconds.
    pub cpu_ms: Option<u64>,
    /// Highest memory of the whole call, bytes.
    pub memory_peak_bytes: Option<u64>,
    /// Most processes and threads at once.
    pub pids_peak: Option<u64>,
}

/// What the kernel counted during the attempt; null where there is no counter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// Processes killed for memory.
    pub oom_kills: Option<u64>,
    /// Forks refused.
    pub pids_limit_hits: Option<u64>,
    /// Time the CPU quota stopped the call, milliseconds.
    pub throttled_ms: Option<u64>,
    /// Whether the scratch tmpfs was full at the end.
    pub tmp_full: bool,
}

/// A file the tool left in its out folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutFile {
    /// Path below the out folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256, lower-case hex.
    pub sha256: String,
    /// Where it was put on the host; null when it was not kept.
    pub path: Option<String>,
}
