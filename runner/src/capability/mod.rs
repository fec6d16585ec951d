//! The contract: capability.json (DESIGN: section 4).

mod rules;
#[cfg(test)]
mod tests;

use crate::file_error::{FileError, escape, from_json, read, schema_one};
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The file's name.
pub const FILE: &str = "capability.json";

/// What was read from a file, with the digest of the file's bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// What it holds.
    pub value: T,
    /// SHA-256 of its bytes, lower-case hex.
    pub sha256: String,
    /// Where it stands.
    pub path: PathBuf,
}

impl<T> Loaded<T> {
    /// A value read from `bytes`.
    pub fn new(value: T, bytes: &[u8], path: &Path) -> Self {
        Self { value, sha256: sha256(bytes), path: path.into() }
    }
}

/// SHA-256, lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |hex, byte| hex + &format!("{byte:02x}"))
}

/// What a capability can do, what it costs, how it performs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capability {
    /// The format's version: 1.
    #[serde(deserialize_with = "schema_one")]
    #[schemars(range(min = 1, max = 1))]
    pub schema: u64,
    /// The name it is called by.
    #[serde(deserialize_with = "rules::id")]
    #[schemars(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$"))]
    pub id: String,
    /// Its SemVer version.
    #[serde(deserialize_with = "rules::version")]
    #[schemars(with = "String")]
    pub version: Version,
    /// A name for people.
    #[serde(default)]
    pub title: Option<String>,
    /// What it does, for the model that chooses.
    #[serde(default)]
    pub description: Option<String>,
    /// A public name that several capabilities share.
    #[serde(default, deserialize_with = "rules::optional_id")]
    pub provides: Option<String>,
    /// Who supplies the data.
    #[serde(default)]
    pub supplier: Option<String>,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Who may see it; empty: everybody.
    #[serde(default)]
    pub audience: Vec<String>,
    /// JSON Schema of the input, an object.
    #[serde(deserialize_with = "rules::object_schema")]
    pub input_schema: Value,
    /// JSON Schema of the output; absent: any JSON value.
    #[serde(default, deserialize_with = "rules::optional_schema")]
    pub output_schema: Option<Value>,
    /// What a call costs.
    #[serde(default)]
    pub cost: Cost,
    /// How it performs.
    #[serde(default)]
    pub reliability: Reliability,
    /// What a call does to the world.
    #[serde(default)]
    pub annotations: Annotations,
    /// Inputs with their outputs.
    #[serde(default)]
    pub examples: Vec<Example>,
}

/// What a call costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Cost {
    /// For each call.
    #[serde(deserialize_with = "rules::amount")]
    #[schemars(range(min = 0))]
    pub per_call: f64,
    /// For each token of output.
    #[serde(deserialize_with = "rules::amount")]
    #[schemars(range(min = 0))]
    pub per_token: f64,
    /// In which currency.
    pub currency: String,
}

impl Default for Cost {
    fn default() -> Self {
        Self { per_call: 0.0, per_token: 0.0, currency: "USD".into() }
    }
}

/// How it performs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Reliability {
    /// The share of calls that do not end in a channel failure, 0 to 1.
    #[serde(deserialize_with = "rules::share")]
    #[schemars(range(min = 0, max = 1))]
    pub uptime: f64,
    /// 95 of 100 calls are at most this slow, milliseconds.
    pub p95_latency_ms: u64,
}

impl Default for Reliability {
    fn default() -> Self {
        Self { uptime: 0.99, p95_latency_ms: 2000 }
    }
}

/// What a call does to the world. What is not said is assumed at its worst.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// The same request twice does what it does once.
    pub idempotent: bool,
    /// It may remove or overwrite.
    pub destructive: bool,
    /// It reaches things outside the host.
    pub open_world: bool,
}

impl Default for Annotations {
    fn default() -> Self {
        Self { read_only: false, idempotent: false, destructive: true, open_world: true }
    }
}

/// An input with its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Example {
    /// The input.
    pub input: Value,
    /// What it gives; absent: not fixed.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// Whether `text` can be a capability's id: MCP, OpenAI, Anthropic and Gemini all take it as a tool's name.
pub fn is_id(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && text.len() <= 64
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Reads a contract. Unknown fields are ignored: a newer contract must not stop an older runner.
pub fn parse(bytes: &[u8], path: &Path) -> Result<Loaded<Capability>, FileError> {
    let value = from_json(bytes, path)?;
    Ok(Loaded::new(value, bytes, path))
}

/// Reads the contract in a folder.
pub fn load(dir: &Path) -> Result<Loaded<Capability>, FileError> {
    let path = dir.join(FILE);
    parse(&read(&path)?, &path)
}

const FIELDS: [&str; 15] = [
    "schema",
    "id",
    "version",
    "title",
    "description",
    "provides",
    "supplier",
    "tags",
    "audience",
    "input_schema",
    "output_schema",
    "cost",
    "reliability",
    "annotations",
    "examples",
];
const INNER: [(&str, &[&str]); 3] = [
    ("cost", &["per_call", "per_token", "currency"]),
    ("reliability", &["uptime", "p95_latency_ms"]),
    ("annotations", &["read_only", "idempotent", "destructive", "open_world"]),
];
const EXAMPLE: &[&str] = &["input", "output"];

/// JSON Pointers of the fields this version does not know, for lint. Of bytes that are no JSON: none.
pub fn unknown_fields(bytes: &[u8]) -> Vec<String> {
    let Ok(value) = crate::json::value(bytes) else { return Vec::new() };
    let mut unknown = Vec::new();
    collect(&value, &FIELDS, "", &mut unknown);
    for (name, fields) in INNER {
        collect(&value[name], fields, &format!("/{name}"), &mut unknown);
    }
    for (n, example) in value["examples"].as_array().into_iter().flatten().enumerate() {
        collect(example, EXAMPLE, &format!("/examples/{n}"), &mut unknown);
    }
    unknown
}

fn collect(value: &Value, known: &[&str], at: &str, unknown: &mut Vec<String>) {
    let keys = value.as_object().into_iter().flat_map(|map| map.keys());
    unknown.extend(keys.filter(|key| !known.contains(&key.as_str())).map(|key| format!("{at}/{}", escape(key))));
}
