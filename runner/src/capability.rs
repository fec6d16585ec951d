//! The contract: capability.json (DESIGN: section 4).

use crate::file_error::{FileError, escape, from_json, read, rule, schema_one};
use schemars::JsonSchema;
use semver::Version;
use serde::{Deserialize, Deserializer, Serialize};
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
    #[serde(deserialize_with = "id")]
    #[schemars(regex(pattern = r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$"))]
    pub id: String,
    /// Its SemVer version.
    #[serde(deserialize_with = "version")]
    #[schemars(with = "String")]
    pub version: Version,
    /// A name for people.
    #[serde(default)]
    pub title: Option<String>,
    /// What it does, for the model that chooses.
    #[serde(default)]
    pub description: Option<String>,
    /// A public name that several capabilities share.
    #[serde(default, deserialize_with = "optional_id")]
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
    #[serde(deserialize_with = "object_schema")]
    pub input_schema: Value,
    /// JSON Schema of the output; absent: any JSON value.
    #[serde(default, deserialize_with = "optional_schema")]
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
    #[serde(deserialize_with = "amount")]
    #[schemars(range(min = 0))]
    pub per_call: f64,
    /// For each token of output.
    #[serde(deserialize_with = "amount")]
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
    #[serde(deserialize_with = "share")]
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
    #[serde(default, deserialize_with = "present")]
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

fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_id(&text) {
        return Ok(text);
    }
    Err(rule(format!("`{text}` is not an id"), "1 to 64 letters, digits, `_` and `-`, beginning with a letter or `_`"))
}

fn optional_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Option::<String>::deserialize(deserializer)? {
        Some(text) if !is_id(&text) => Err(rule(
            format!("`{text}` is not a public name"),
            "1 to 64 letters, digits, `_` and `-`, beginning with a letter or `_`",
        )),
        name => Ok(name),
    }
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    let text = String::deserialize(deserializer)?;
    Version::parse(&text)
        .map_err(|error| rule(format!("`{text}` is not a SemVer version: {error}"), "write it as 1.2.0"))
}

fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    if amount < 0.0 {
        return Err(rule("is negative", "a cost is 0 or more"));
    }
    Ok(amount)
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    if !(0.0..=1.0).contains(&share) {
        return Err(rule(format!("{share} is not a share"), "write 0 to 1, for example 0.9995"));
    }
    Ok(share)
}

fn object_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let schema = Value::deserialize(deserializer)?;
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        return Ok(schema);
    }
    Err(rule("is not the schema of an object", "the input is always an object: add \"type\": \"object\""))
}

fn optional_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        schema @ (Value::Object(_) | Value::Bool(_)) => Ok(Some(schema)),
        _ => Err(rule("is not a JSON Schema", "write an object, or leave it out")),
    }
}

/// `"output": null` is an output, not its absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SMALL: &str = r#"{"schema": 1, "id": "a", "version": "1.2.0", "input_schema": {"type": "object"}}"#;

    fn with(pointer: &str, new: Value) -> String {
        let mut value = serde_json::from_str(SMALL).unwrap();
        crate::json::pointer_set(&mut value, pointer, new).unwrap();
        let bytes = serde_json::to_vec_pretty(&value).unwrap();
        match parse(&bytes, Path::new("capability.json")) {
            Ok(_) => "ok".into(),
            Err(error) => format!("{}: {} ({})", error.pointer.unwrap(), error.message, error.hint.unwrap_or_default()),
        }
    }

    #[test]
    fn what_is_missing_has_its_default() {
        let loaded = parse(SMALL.as_bytes(), Path::new("x/capability.json")).unwrap();
        assert_eq!(loaded.value.reliability, Reliability { uptime: 0.99, p95_latency_ms: 2000 });
        assert_eq!(loaded.value.cost, Cost { per_call: 0.0, per_token: 0.0, currency: "USD".into() });
        assert!(loaded.value.annotations.destructive && !loaded.value.annotations.idempotent);
        assert_eq!(loaded.sha256, sha256(SMALL.as_bytes()));
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn each_rule_is_kept() {
        let id_hint = "1 to 64 letters, digits, `_` and `-`, beginning with a letter or `_`";
        let cases = [
            ("/id", json!("1a"), format!("/id: `1a` is not an id ({id_hint})")),
            ("/id", json!("a".repeat(65)), format!("/id: `{}` is not an id ({id_hint})", "a".repeat(65))),
            ("/provides", json!("a b"), format!("/provides: `a b` is not a public name ({id_hint})")),
            ("/schema", json!(2), "/schema: schema 2 is newer than this toolcell, which reads 1 (upgrade toolcell)".into()),
            (
                "/version",
                json!("1.2"),
                "/version: `1.2` is not a SemVer version: unexpected end of input while parsing minor version number (write it as 1.2.0)".into(),
            ),
            ("/cost/per_call", json!(-0.5), "/cost/per_call: is negative (a cost is 0 or more)".into()),
            ("/cost/per_token", json!(-1), "/cost/per_token: is negative (a cost is 0 or more)".into()),
            (
                "/reliability/uptime",
                json!(99.95),
                "/reliability/uptime: 99.95 is not a share (write 0 to 1, for example 0.9995)".into(),
            ),
            (
                "/input_schema",
                json!({"type": "array"}),
                "/input_schema: is not the schema of an object (the input is always an object: add \"type\": \"object\")".into(),
            ),
            ("/output_schema", json!(3), "/output_schema: is not a JSON Schema (write an object, or leave it out)".into()),
            ("/output_schema", json!(null), "ok".into()),
            ("/examples", json!([{"output": 1}]), "/examples/0: missing field `input` (add it)".into()),
            ("/from_the_future", json!(1), "ok".into()),
        ];
        for (pointer, value, want) in cases {
            assert_eq!(with(pointer, value), want);
        }
    }

    #[test]
    fn the_place_of_an_error_is_named() {
        let text = "{\"schema\": 1, \"id\": \"a\",\n \"version\": \"1.0.0\",\n \"cost\": {\"per_call\": -1}}";
        let error = parse(text.as_bytes(), Path::new("capability.json")).unwrap_err();
        assert_eq!(error.line, Some(3));
        assert!(error.to_string().starts_with("capability.json:3:"), "{error}");
        assert!(error.to_string().ends_with(": /cost/per_call: is negative"), "{error}");
        let error = parse(b"{\"id\": \"a\",\n\"id\": \"b\"}", Path::new("c.json")).unwrap_err();
        assert_eq!(error.to_string(), "c.json:2:1: duplicate key `id` at /id");
    }

    #[test]
    fn the_lists_of_known_fields_are_the_types_fields() {
        let mut full = serde_json::to_value(parse(SMALL.as_bytes(), Path::new("c")).unwrap().value).unwrap();
        full["examples"] = serde_json::to_value(vec![Example { input: json!({}), output: Some(json!(1)) }]).unwrap();
        assert_eq!(full.as_object().unwrap().len(), FIELDS.len());
        for (name, fields) in INNER {
            assert_eq!(full[name].as_object().unwrap().len(), fields.len(), "{name}");
        }
        assert_eq!(unknown_fields(&serde_json::to_vec(&full).unwrap()), Vec::<String>::new());
        full["x/y"] = json!(1);
        full["cost"]["per_year"] = json!(1);
        full["examples"][0]["note"] = json!("");
        let unknown = unknown_fields(&serde_json::to_vec(&full).unwrap());
        assert_eq!(unknown, ["/x~1y", "/cost/per_year", "/examples/0/note"]);
    }
}
