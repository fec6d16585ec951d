//! The rules of single fields. Each stands in a `Deserialize`, so that its error has line and pointer.

use super::is_id;
use crate::file_error::rule;
use semver::Version;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

pub(super) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_id(&text) {
        return Ok(text);
    }
    Err(rule(format!("`{text}` is not an id"), "1 to 64 letters, digits, `_` and `-`, beginning with a letter or `_`"))
}

pub(super) fn optional_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Option::<String>::deserialize(deserializer)? {
        Some(text) if !is_id(&text) => Err(rule(
            format!("`{text}` is not a public name"),
            "1 to 64 letters, digits, `_` and `-`, beginning with a letter or `_`",
        )),
        name => Ok(name),
    }
}

pub(super) fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    let text = String::deserialize(deserializer)?;
    Version::parse(&text)
        .map_err(|error| rule(format!("`{text}` is not a SemVer version: {error}"), "write it as 1.2.0"))
}

pub(super) fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    if amount < 0.0 {
        return Err(rule("is negative", "a cost is 0 or more"));
    }
    Ok(amount)
}

pub(super) fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    if !(0.0..=1.0).contains(&share) {
        return Err(rule(format!("{share} is not a share"), "write 0 to 1, for example 0.9995"));
    }
    Ok(share)
}

pub(super) fn object_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let schema = Value::deserialize(deserializer)?;
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        return Ok(schema);
    }
    Err(rule("is not the schema of an object", "the input is always an object: add \"type\": \"object\""))
}

pub(super) fn optional_schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        schema @ (Value::Object(_) | Value::Bool(_)) => Ok(Some(schema)),
        _ => Err(rule("is not a JSON Schema", "write an object, or leave it out")),
    }
}

/// `"output": null` is an output, not its absence.
pub(super) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
