//! The Envelope (version 1): what the caller reads. Its JSON Schema stands in docs/schemas.

use crate::layer::{Layer, LayerState};
use crate::outcome::{KillCause, OutFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use toolcell_tool::Status;

/// The format's name and version, the value of [`Envelope::schema`].
pub const SCHEMA: &str = "toolcell.envelope/1";

/// The one answer to a call.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// Always `toolcell.envelope/1`.
    pub schema: String,
    /// The call's id, a UUID version 7 unless the caller gave one.
    pub call_id: String,
    /// Which capability answered; null for `exec` and where none was found.
    pub capability: Option<CapabilityName>,
    /// Which of the four things happened.
    pub status: Status,
    /// The tool's own JSON, untouched; null when there is none.
    #[schemars(with = "Value")]
    pub output: Option<Box<RawValue>>,
    /// Why not; null exactly when `status` is `ok`.
    pub error: Option<CallError>,
    /// How the last attempt's process ended; both null when none did.
    pub exit: Exit,
    /// What the runner did or the kernel reported; null: the tool ended by itself.
    pub killed_by: Option<KillCause>,
    /// What was used; null for what could not be measured.
    pub usage: Usage,
    /// Standard error of the last attempt, bounded.
    pub stderr: StderrText,
    /// Files the tool left in its out folder.
    pub files: Vec<OutFile>,
    /// How many processes were started for this call.
    pub attempts: u32,
    /// Facts beside the verdict.
    pub warnings: Vec<Warning>,
    /// What was enforced.
    pub sandbox: Sandbox,
    /// The trace this call belongs to.
    pub trace: Trace,
    /// What was kept of it.
    pub record: RecordState,
}

/// Names of a capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityName {
    /// Its id.
    pub id: String,
    /// Its SemVer version.
    pub version: String,
    /// Who supplies the data.
    pub supplier: Option<String>,
}

/// Why a call did not end `ok`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallError {
    /// A stable word; docs/exit-codes.md lists the runner's own.
    pub reason: String,
    /// Who has to act.
    pub origin: Origin,
    /// The fact.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long to wait first, in milliseconds; null: not known.
    pub retry_after_ms: Option<u64>,
    /// Facts by name.
    pub details: Value,
}

/// Where an error comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The request.
    Caller,
    /// The tool or what stands behind it.
    Tool,
    /// toolcell.
    Runner,
    /// The machine toolcell runs on, or its configuration.
    Host,
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exit {
    /// The exit code.
    pub code: Option<u8>,
    /// The signal's name, such as "SIGSEGV".
    pub signal: Option<String>,
}

/// What a call used: CPU summed over the attempts, peaks the highest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// From acceptance to the verdict, milliseconds.
    pub wall_ms: u64,
    /// CPU time, milliseconds.
    pub cpu_ms: Option<u64>,
    /// Highest memory, bytes.
    pub memory_peak_bytes: Option<u64>,
    /// Most processes and threads at once.
    pub pids_peak: Option<u64>,
    /// Bytes the tool wrote to standard output.
    pub stdout_bytes: Option<u64>,
    /// Bytes the tool wrote to standard error.
    pub stderr_bytes: Option<u64>,
}

/// Standard error as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StderrText {
    /// The text; bytes that are not UTF-8 are shown as U+FFFD.
    pub text: String,
    /// Whether some was dropped.
    pub truncated: bool,
}

/// A fact beside the verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Which kind.
    pub code: WarningCode,
    /// The fact.
    pub message: String,
    /// Facts by name.
    pub details: Value,
}

/// The kinds of warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// Processes outlived the tool and were killed; `details`: `count`, `window_ms`.
    LeakedProcesses,
    /// The tool did not read all of its input.
    StdinClosedEarly,
    /// The CPU quota stopped it for over 10 % of the wall time; `details`: `throttled_ms`, `wall_ms`, `cpu` (cores).
    Throttled,
    /// The scratch space was full at the end; `details`: `limit_bytes`, `limit_inodes`.
    TmpFull,
    /// Standard output that is no result; `details`: `text` (beginning and end), `bytes`, `truncated`.
    StdoutPartial,
    /// Standard error was cut in its middle; `details`: `limit_bytes`, `stderr_bytes`.
    StderrTruncated,
    /// A limit that was asked for was cut to what is allowed.
    LimitClamped,
    /// A limit is kept by weaker means than a control group; `details`: `limits`, `by`.
    LimitDegraded,
    /// Forks were refused; `details`: `limit`, `hits`.
    PidsLimitHit,
    /// A path the profile names does not exist.
    ProfilePathMissing,
    /// The caller's trace context was malformed; `details`: `traceparent`.
    TraceContextDropped,
    /// One byte-order mark was dropped.
    BomDropped,
    /// A declared filter changed the output.
    OutputFiltered,
    /// A declared rule changed the input.
    InputCleaned,
    /// The tool's error object contradicts its exit code; `details`: `exit_code`, `status`, `said` or `said_reason`.
    ClassConflict,
    /// The tool's program is not the one the index names.
    ExecutableChanged,
    /// A layer is less than whole; `details`: `layer`, `state`, `why`.
    LayerDegraded,
    /// Something in uninterruptible sleep was left behind.
    Unreaped,
    /// Not every file could be collected; `details`: `limit_bytes`, `why`.
    OutTruncated,
    /// The record could not be written.
    RecordNotStored,
}

/// What was enforced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sandbox {
    /// The profile; null when none was resolved.
    pub profile: Option<String>,
    /// The level reached (0 to 3); null when nothing ran.
    pub level: Option<u8>,
    /// Each layer's state.
    pub layers: BTreeMap<Layer, LayerState>,
    /// Refusals the kernel gave evidence of; null where nothing could be observed.
    pub denied: Option<Vec<Denial>>,
}

/// One refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Denial {
    /// `path`, `connect`, `exec` or `syscall`.
    pub kind: String,
    /// What was asked for.
    pub object: String,
    /// The error's name.
    pub errno: String,
    /// Which rule refused it.
    pub rule: String,
    /// The profile line that would allow it.
    pub allow_with: Option<String>,
}

/// The trace this call belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// 32 hex digits.
    pub trace_id: String,
    /// The call's span, 16 hex digits.
    pub span_id: String,
}

/// What was kept of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordState {
    /// Whether the record was written.
    pub stored: bool,
    /// The command that runs this call again; null when nothing is stored.
    pub replay: Option<String>,
}
