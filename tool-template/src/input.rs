//! From stdin to the handler's input: bounded, and read strictly.

use std::collections::HashSet;
use std::fmt;
use std::io::Read;

use serde::de::{Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use crate::output::pointer;
use crate::{ToolError, exit};

/// A caller that sends more than this sends files, and files have their own way in.
const LIMIT: u64 = 64 << 20;

pub(crate) fn read(from: impl Read) -> Result<Vec<u8>, ToolError> {
    read_limited(from, LIMIT)
}

fn read_limited(from: impl Read, limit: u64) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    from.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| ToolError::internal(format!("stdin cannot be read: {error}")))?;
    if bytes.len() as u64 > limit {
        return Err(ToolError::call_error(format!(
            "the input is larger than {limit} bytes: send less, or name a file instead of its content"
        ))
        .code(exit::BAD_INPUT));
    }
    Ok(bytes)
}

pub(crate) fn parse<I: DeserializeOwned>(bytes: &[u8]) -> Result<I, ToolError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(ToolError::call_error("stdin is empty: send one JSON value, {} where there is nothing to say"));
    }
    // A pass of its own: typed reading skips fields that it does not know and keeps the last of two equal map keys,
    // so that the validator before the tool and the tool could see different values.
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize::<_, Unique>(&mut deserializer).map_err(|error| refuse(&error))?;
    deserializer.end().map_err(|error| syntax(&error))?;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| refuse(&error))
}

fn refuse(error: &serde_path_to_error::Error<serde_json::Error>) -> ToolError {
    if error.inner().classify() != Category::Data {
        return syntax(error.inner());
    }
    let at = pointer(error.path());
    let place = if at.is_empty() { "the input".to_owned() } else { format!("the input at {at}") };
    ToolError::call_error(format!("{place} is not what this tool takes: {}", error.inner()))
        .detail("pointer", at)
        .code(exit::BAD_INPUT)
}

fn syntax(error: &serde_json::Error) -> ToolError {
    ToolError::call_error(format!("the input is not one JSON value: {error}"))
        .reason("invalid_input_json")
        .detail("line", error.line())
        .detail("column", error.column())
        .code(exit::BAD_INPUT)
}

/// Any JSON value in which no object has the same key twice. Keeps nothing.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

macro_rules! accept {
    ($($method:ident($type:ty))*) => { $(
        fn $method<E: Error>(self, _: $type) -> Result<Self, E> {
            Ok(self)
        }
    )* };
}

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    accept! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if seen.insert(key) {
                members.next_value::<Self>()?;
            } else {
                // Refused as the value, not as the key, so that the path in the error ends in this key.
                members.next_value_seed(Twice)?;
            }
        }
        Ok(self)
    }
}

struct Twice;

impl<'de> DeserializeSeed<'de> for Twice {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<(), D::Error> {
        Err(D::Error::custom("duplicate key, and readers disagree about which one counts: send it once"))
    }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
