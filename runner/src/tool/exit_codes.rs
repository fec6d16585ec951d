//! `[exit_codes]`: for programs that were not written for toolcell.

use crate::call::ExitMeaning;
use crate::file_error::rule;
use schemars::JsonSchema;
use serde::Deserializer;
use serde::de::{self, DeserializeSeed, MapAccess, Visitor, value::MapAccessDeserializer};
use std::collections::BTreeMap;
use std::fmt;
use toolcell_tool::Status;

/// How a meaning is written, for the JSON Schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its JSON Schema is used")]
pub enum Form {
    /// The status alone.
    Word(Status),
    /// The status with its reason.
    Full(ExitMeaning),
}

/// Reads the table; a rule that is broken names the code.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u8, ExitMeaning>, D::Error> {
    deserializer.deserialize_map(Table)
}

struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = BTreeMap<u8, ExitMeaning>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of exit codes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut table = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            // The value is read with its key at hand, so that the error's pointer names the code.
            let (code, meaning) = map.next_value_seed(Meaning { key })?;
            table.insert(code, meaning);
        }
        Ok(table)
    }
}

struct Meaning {
    key: String,
}

impl<'de> DeserializeSeed<'de> for Meaning {
    type Value = (u8, ExitMeaning);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let key = self.key;
        let Some(code) = key.parse::<u8>().ok().filter(|code| code.to_string() == key) else {
            return Err(rule(format!("`{key}` is not an exit code"), "write 1 to 255"));
        };
        let meaning = deserializer.deserialize_any(MeaningVisitor)?;
        judge(code, &meaning)?;
        Ok((code, meaning))
    }
}

struct MeaningVisitor;

impl<'de> Visitor<'de> for MeaningVisitor {
    type Value = ExitMeaning;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a status, or { status = ..., reason = ..., retryable = ... }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ExitMeaning, E> {
        let Some(status) = Status::ALL.into_iter().find(|status| status.as_str() == text) else {
            return Err(rule(
                format!("`{text}` is not a status"),
                "write ok, call_error, data_limitation or channel_failure",
            ));
        };
        Ok(ExitMeaning { status, reason: None, retryable: false })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExitMeaning, A::Error> {
        de::Deserialize::deserialize(MapAccessDeserializer::new(map))
    }
}

fn judge<E: de::Error>(code: u8, meaning: &ExitMeaning) -> Result<(), E> {
    let ok = meaning.status == Status::Ok;
    if code == 0 {
        return Err(rule("exit code 0 cannot be given a meaning", "0 is always ok; remove it"));
    }
    if ok && !matches!(code, 1..=63 | 79..=123) {
        return Err(rule(
            format!("exit code {code} cannot mean ok"),
            "only 1 to 63 and 79 to 123 can; the others are failures by convention",
        ));
    }
    if meaning.retryable && meaning.status != Status::ChannelFailure {
        return Err(rule(
            format!("a {} is not retryable", meaning.status.as_str()),
            "only channel_failure can be; remove retryable or change the status",
        ));
    }
    match meaning.reason.as_deref() {
        Some(_) if ok => Err(rule("ok has no reason", "remove it")),
        Some(reason) if !is_reason(reason) => Err(rule(
            format!("`{reason}` is not a reason"),
            "1 to 64 lower-case letters, digits and `_`, beginning with a letter",
        )),
        _ => Ok(()),
    }
}

/// Whether `text` can be a reason.
fn is_reason(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && text.len() <= 64
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
