//! How a host runs a capability: tool.toml (DESIGN: section 5).

mod element;
mod exit_codes;
#[cfg(test)]
mod tests;
pub mod variables;

pub use element::Element;

use crate::call::{ExitMeaning, Retry, StdoutKind};
use crate::capability::Loaded;
use crate::file_error::{FileError, from_toml, read_text, rule, schema_one};
use crate::json::pointer_parse;
use crate::limits_spec::LimitsSpec;
use crate::units::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The file's name.
pub const FILE: &str = "tool.toml";

/// Sections of later versions, so that a file that uses one is told so.
const LATER: [&str; 5] = ["avoid", "cache", "concurrency", "clean", "filter"];

/// What tool.toml says.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFile {
    /// The argument vector; the first element is the program and always a literal.
    pub command: Vec<Element>,
    /// The sandbox profile it asks for.
    pub profile: String,
    /// What goes to standard input.
    pub stdin: StdinSpec,
    /// How standard output is read.
    pub stdout: StdoutKind,
    /// Secrets, by the variables the tool sees.
    pub secrets: Vec<String>,
    /// Limits it asks for.
    pub limits: LimitsSpec,
    /// JSON Pointers to host paths in the input; one that ends in `/*` means each item.
    pub files_in: Vec<String>,
    /// What exit codes mean.
    pub exit_codes: BTreeMap<u8, ExitMeaning>,
    /// When it is tried again.
    pub retry: Option<Retry>,
    /// Variables it sets.
    pub env_set: BTreeMap<String, String>,
    /// Variables of the runner it asks for.
    pub env_pass: Vec<String>,
}

/// What goes to standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StdinSpec {
    /// The input, as one JSON document.
    #[default]
    Json,
    /// Nothing.
    None,
}

/// tool.toml as it is written.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ToolFile")]
pub struct ToolToml {
    /// The format's version: 1.
    #[serde(deserialize_with = "schema_one")]
    #[schemars(range(min = 1, max = 1))]
    pub schema: u64,
    /// The argument vector: literals, templates, nested arrays.
    #[serde(deserialize_with = "element::command")]
    pub command: Vec<Element>,
    /// The sandbox profile; `strict` when absent.
    #[serde(default = "strict")]
    pub profile: String,
    /// What goes to standard input.
    #[serde(default)]
    pub stdin: StdinSpec,
    /// How standard output is read.
    #[serde(default = "json")]
    pub stdout: StdoutKind,
    /// Secrets, by the variables the tool sees.
    #[serde(default, deserialize_with = "variables::secrets")]
    pub secrets: Vec<String>,
    /// Limits.
    #[serde(default)]
    pub limits: LimitsSpec,
    /// Files of the caller.
    #[serde(default)]
    pub files: FilesToml,
    /// What exit codes mean.
    #[serde(default, deserialize_with = "exit_codes::read")]
    #[schemars(with = "BTreeMap<String, exit_codes::Form>")]
    pub exit_codes: BTreeMap<u8, ExitMeaning>,
    /// When it is tried again.
    #[serde(default, deserialize_with = "retry")]
    #[schemars(with = "Option<RetryToml>")]
    pub retry: Option<Retry>,
    /// Variables.
    #[serde(default)]
    pub env: EnvToml,
}

/// `[files]`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FilesToml {
    /// JSON Pointers to host paths in the input.
    #[serde(rename = "in", deserialize_with = "pointers")]
    pub inputs: Vec<String>,
}

/// `[retry]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryToml {
    /// How many retries after the first attempt.
    pub max: u32,
    /// The first pause; it doubles.
    #[serde(default = "backoff")]
    pub backoff: Millis,
    /// The longest pause.
    #[serde(default = "max_backoff")]
    pub max_backoff: Millis,
}

/// `[env]`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EnvToml {
    /// Variables with their values.
    #[serde(deserialize_with = "variables::set")]
    pub set: BTreeMap<String, String>,
    /// Variables of the runner.
    #[serde(deserialize_with = "variables::passed")]
    pub pass: Vec<String>,
}

/// Reads a tool file.
pub fn parse(text: &str, path: &Path) -> Result<Loaded<ToolFile>, FileError> {
    let toml: ToolToml = from_toml(text, path).map_err(later)?;
    variables_once(&toml, path)?;
    let value = ToolFile {
        command: toml.command,
        profile: toml.profile,
        stdin: toml.stdin,
        stdout: toml.stdout,
        secrets: toml.secrets,
        limits: toml.limits,
        files_in: toml.files.inputs,
        exit_codes: toml.exit_codes,
        retry: toml.retry,
        env_set: toml.env.set,
        env_pass: toml.env.pass,
    };
    Ok(Loaded::new(value, text.as_bytes(), path))
}

/// Reads the tool file in a folder.
pub fn load(dir: &Path) -> Result<Loaded<ToolFile>, FileError> {
    let path = dir.join(FILE);
    parse(&read_text(&path)?, &path)
}

fn later(mut error: FileError) -> FileError {
    if let Some(name) = LATER.iter().find(|name| error.message.starts_with(&format!("unknown field `{name}`"))) {
        error.message = format!("unknown section `{name}`");
        error.hint = Some(format!("this version of toolcell has no `{name}`; remove it, or upgrade toolcell"));
    }
    error
}

/// Which of two sources a variable has would depend on the order they are applied in.
fn variables_once(toml: &ToolToml, path: &Path) -> Result<(), FileError> {
    let mut seen = BTreeSet::new();
    let lists = [
        ("/secrets", toml.secrets.iter().collect::<Vec<_>>()),
        ("/env/set", toml.env.set.keys().collect()),
        ("/env/pass", toml.env.pass.iter().collect()),
    ];
    for (pointer, names) in lists {
        for name in names {
            if !seen.insert(name) {
                return Err(FileError::new(path, format!("the variable `{name}` is named twice"))
                    .at(pointer)
                    .hint("name it once, in secrets, env.set or env.pass"));
            }
        }
    }
    Ok(())
}

fn strict() -> String {
    "strict".into()
}

fn json() -> StdoutKind {
    StdoutKind::Json
}

fn backoff() -> Millis {
    Millis(200)
}

fn max_backoff() -> Millis {
    Millis(5000)
}

fn retry<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Retry>, D::Error> {
    let retry = RetryToml::deserialize(deserializer)?;
    if retry.max_backoff < retry.backoff {
        return Err(rule(
            format!("max_backoff {} is shorter than backoff {}", retry.max_backoff, retry.backoff),
            "raise max_backoff or lower backoff",
        ));
    }
    Ok(Some(Retry { max: retry.max, backoff_ms: retry.backoff.0, max_backoff_ms: retry.max_backoff.0 }))
}

fn pointers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let pointers = Vec::<String>::deserialize(deserializer)?;
    let mut seen = BTreeSet::new();
    for pointer in &pointers {
        if pointer.is_empty() {
            return Err(rule("an empty pointer means the whole input, which is no path", "name a member: \"/path\""));
        }
        pointer_parse(pointer).map_err(|error| rule(error, "write it as \"/path\" or \"/docs/*\""))?;
        if !seen.insert(pointer) {
            return Err(rule(format!("`{pointer}` is named twice"), "name it once"));
        }
    }
    Ok(pointers)
}
