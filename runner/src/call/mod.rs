//! The Call: one execution, resolved, as pure data.
//!
//! Everything a launch needs and a verdict is judged by stands here; nothing after [`crate::resolve`] reads flags,
//! environment or files to decide anything. It holds no id, no time and no secret, so that `toolcell plan` prints
//! the very bytes that a record stores.

mod sandbox;

pub use sandbox::{
    Access, Bind, Family, IdRange, Landlock, LandlockRule, Link, MadeFile, Mounts, Namespaces, Owner, Seccomp,
};

use crate::layer::{Layer, Need};
use crate::text::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format's name and version, the value of [`Call::schema`].
pub const SCHEMA: &str = "toolcell.call/1";

/// One resolved execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Always `toolcell.call/1`.
    pub schema: String,
    /// The contract this call is made under; null for `exec`.
    pub capability: Option<CapabilityRef>,
    /// The name of the profile the sandbox sections below were made from.
    pub profile: String,
    /// The program's absolute path, as it stands inside the sandbox.
    pub program: Text,
    /// The argument vector, `argv[0]` included.
    pub argv: Vec<Text>,
    /// The tool's variables but for those of the attempt (TOOLCELL_*, trace context) and the secrets.
    pub env: BTreeMap<String, Text>,
    /// The input the arguments were made of, where standard input does not carry it.
    pub input: Option<serde_json::Value>,
    /// Secrets by reference; launch reads their values.
    pub secrets: Vec<SecretRef>,
    /// JSON Pointers into the input whose values are withheld from this Call and handed to launch beside it.
    pub sensitive: Vec<String>,
    /// The working directory inside the sandbox.
    pub cwd: Text,
    /// What goes in and what form comes out.
    pub stdio: Stdio,
    /// Which namespaces are made, and who the tool is in them.
    pub namespaces: Namespaces,
    /// The file system the tool sees.
    pub mounts: Mounts,
    /// The Landlock domain; null when the profile asks for none.
    pub landlock: Option<Landlock>,
    /// The seccomp filter; null when the profile asks for none.
    pub seccomp: Option<Seccomp>,
    /// Resource limits, effective values.
    pub limits: Limits,
    /// What each layer's absence means.
    pub require: BTreeMap<Layer, Need>,
    /// The lowest sandbox level this call may run at (0 to 3).
    pub min_level: u8,
    /// The folder inside the sandbox whose files are collected after the call.
    pub out_dir: Text,
    /// What the verdict is judged by.
    pub contract: Contract,
    /// Facts of the resolution that the envelope repeats as warnings.
    pub notes: Vec<Note>,
}

/// Which capability a call is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapabilityRef {
    /// The capability's id.
    pub id: String,
    /// Its SemVer version.
    pub version: String,
    /// Who supplies the data, as the contract says.
    pub supplier: Option<String>,
    /// SHA-256 of the bytes of capability.json, lower-case hex.
    pub contract_sha256: String,
}

/// A secret by reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretRef {
    /// The variable the tool sees.
    pub name: String,
    /// Where the value comes from; null: the host's config has no such secret for this capability.
    pub from: Option<SecretSource>,
}

/// Where a secret's value is read from at launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecretSource {
    /// A file; one trailing newline is dropped.
    File(Text),
    /// A variable of the runner's environment.
    Env(String),
}

/// The three streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stdio {
    /// What the tool reads.
    pub stdin: Stdin,
    /// What its standard output has to be.
    pub stdout: StdoutKind,
}

/// What the tool reads on standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// Nothing: /dev/null.
    None,
    /// One JSON document.
    Json(serde_json::Value),
    /// Bytes as they are.
    Bytes(Text),
}

/// How standard output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StdoutKind {
    /// One JSON value.
    Json,
    /// One JSON value a line, made into an array.
    Jsonl,
    /// Text, made into `{"text": ...}`.
    Text,
}

/// Resource limits, effective values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// From acceptance to SIGTERM, milliseconds.
    pub wall_ms: u64,
    /// From SIGTERM to SIGKILL, milliseconds.
    pub grace_ms: u64,
    /// How long a process that outlives the tool may take to end by itself, milliseconds.
    pub leak_window_ms: u64,
    /// Memory of the whole call, bytes; swap is always 0.
    pub memory: u64,
    /// CPU share, in cores.
    pub cpu: f64,
    /// Processes and threads of the tool at once.
    pub pids: u64,
    /// Descriptors a process may have open.
    pub open_files: u64,
    /// Largest file, bytes.
    pub file_size: u64,
    /// The scratch tmpfs, bytes.
    pub tmp: u64,
    /// Its inodes.
    pub tmp_inodes: u64,
    /// Standard output, bytes; more is `output_limit`.
    pub stdout: u64,
    /// Standard error kept, bytes; more is dropped.
    pub stderr: u64,
    /// Files collected, bytes.
    pub out: u64,
}

/// What the verdict is judged by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// JSON Schema the output has to keep; null: any JSON value.
    pub output_schema: Option<serde_json::Value>,
    /// What tool.toml says of exit codes, by number.
    pub exit_codes: BTreeMap<u8, ExitMeaning>,
    /// Whether the same request may be sent twice without harm.
    pub idempotent: bool,
    /// Retries of retryable channel failures; null: none.
    pub retry: Option<Retry>,
}

/// What an exit code means, as declared in tool.toml.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExitMeaning {
    /// The status this exit code stands for.
    pub status: toolcell_tool::Status,
    /// The reason; null: the status's own default.
    #[serde(default)]
    pub reason: Option<String>,
    /// Whether the same request may succeed later (channel failures only).
    #[serde(default)]
    pub retryable: bool,
}

/// When and how often a call is tried again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How many retries after the first attempt.
    pub max: u32,
    /// The first pause, milliseconds; it doubles.
    pub backoff_ms: u64,
    /// The longest pause, milliseconds.
    pub max_backoff_ms: u64,
}

/// A fact of the resolution that the envelope repeats as a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The warning's code.
    pub code: crate::envelope::WarningCode,
    /// The fact, for people.
    pub message: String,
}
