//! The elements of `command`.

use crate::file_error::rule;
use crate::json::pointer_parse;
use schemars::JsonSchema;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// One element of `command`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// Text as it stands.
    Literal(String),
    /// `"{/pointer/*}"`: one argument for each item at the pointer (here without `/*`).
    Each {
        /// JSON Pointer to an array in the input.
        pointer: String,
    },
    /// `"{/pointer}"`: one argument.
    One {
        /// JSON Pointer into the input.
        pointer: String,
    },
    /// A nested array, left out whole when a pointer in it is absent.
    Group(Vec<Element>),
}

impl Element {
    /// Only text that is wholly `{/...}` is a template: a literal that merely holds braces (JSON, awk) stays one.
    fn from_text<E: de::Error>(text: &str) -> Result<Self, E> {
        if text.contains('\0') {
            return Err(rule("an argument cannot hold NUL", "remove it"));
        }
        let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let Some(pointer) = inner.filter(|inner| inner.starts_with('/') && !inner.contains(['{', '}'])) else {
            return Ok(Self::Literal(text.into()));
        };
        pointer_parse(pointer).map_err(|error| rule(error, "write templates as \"{/name}\" or \"{/names/*}\""))?;
        Ok(match pointer.strip_suffix("/*") {
            Some(array) => Self::Each { pointer: array.into() },
            None => Self::One { pointer: pointer.into() },
        })
    }
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ElementVisitor)
    }
}

struct ElementVisitor;

impl<'de> Visitor<'de> for ElementVisitor {
    type Value = Element;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a nested array of strings")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Element, E> {
        Element::from_text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Element, A::Error> {
        let mut group = Vec::new();
        while let Some(item) = items.next_element()? {
            group.push(item);
        }
        if group.is_empty() {
            return Err(rule("a nested array is empty", "remove it, or write [\"--flag\", \"{/name}\"]"));
        }
        Ok(Element::Group(group))
    }
}

/// Reads `command`: the program is never chosen by the input.
pub(super) fn command<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Element>, D::Error> {
    let command = Vec::<Element>::deserialize(deserializer)?;
    match command.first() {
        Some(Element::Literal(program)) if !program.is_empty() => Ok(command),
        Some(Element::Literal(_)) | None => {
            Err(rule("names no program", "write command = [\"program\", \"argument\"]"))
        }
        Some(_) => Err(rule("the program is a template or a nested array", "name the program itself first")),
    }
}

impl JsonSchema for Element {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Element".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let inner = generator.subschema_for::<Self>();
        schemars::json_schema!({
            "description": "A literal, a template \"{/pointer}\" or \"{/pointer/*}\", or a nested array that is left out when its pointer is absent",
            "anyOf": [{"type": "string"}, {"type": "array", "items": inner, "minItems": 1}]
        })
    }
}
