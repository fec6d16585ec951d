//! JSON Schema (2020-12 and draft-07), offline.
//!
//! No schema is ever fetched: a `$ref` that leaves the document is an error of the schema. Formats are asserted.
//! Messages quote no long values and no secrets.

mod message;
mod secrets;
#[cfg(test)]
mod suite;
#[cfg(test)]
mod tests;
mod walk;

pub use secrets::{secrets_escape, secrets_in};

use crate::json::pointer_get;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ReferencingError, Retrieve, Uri, ValidationError};
use secrets::Secrets;
use serde_json::Value;
use std::borrow::Cow;

/// The most violations that are reported of one instance.
pub const MAX_VIOLATIONS: usize = 100;

/// A compiled schema.
#[derive(Debug)]
pub struct Validator {
    inner: jsonschema::Validator,
    secrets: Secrets,
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if pointer.is_empty() { String::new() } else { format!("{pointer}: ") })]
pub struct SchemaError {
    /// JSON Pointer into the schema.
    pub pointer: String,
    /// The fact.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
}

/// One place where an instance breaks its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer into the instance; empty for the whole.
    pub instance: String,
    /// JSON Pointer into the schema, of the keyword that is broken.
    pub schema: String,
    /// The JSON type of the value there.
    pub found: &'static str,
    /// The fact.
    pub message: String,
}

impl SchemaError {
    fn new(pointer: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), hint: Some(hint.into()) }
    }
}

/// Fetches nothing.
struct Refuse;

impl Retrieve for Refuse {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("schemas are never fetched".into())
    }
}

impl Validator {
    /// Compiles a schema. Nothing outside of it is opened.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Self::compile_with(schema, true)
    }

    fn compile_with(schema: &Value, formats: bool) -> Result<Self, SchemaError> {
        let draft = draft(schema)?;
        walk::check(schema)?;
        let schema = canonical(schema, draft);
        let inner = options(draft, formats).build(&schema).map_err(|error| schema_error(&schema, &error))?;
        for (pointer, pattern) in walk::unused_patterns(&schema) {
            let alone = serde_json::json!({ "pattern": pattern });
            options(draft, formats).build(&alone).map_err(|_| pattern_error(pointer, pattern))?;
        }
        Ok(Self { inner, secrets: Secrets::of(&schema) })
    }

    /// Everything the instance breaks, up to [`MAX_VIOLATIONS`].
    pub fn violations(&self, instance: &Value) -> Vec<Violation> {
        let errors = self.inner.iter_errors(instance).take(MAX_VIOLATIONS);
        errors.map(|error| self.violation(instance, &error)).collect()
    }

    /// Whether the instance keeps the schema; cheaper than [`Validator::violations`].
    pub fn is_valid(&self, instance: &Value) -> bool {
        self.inner.is_valid(instance)
    }

    fn violation(&self, whole: &Value, error: &ValidationError<'_>) -> Violation {
        let instance = error.instance_path().as_str().to_owned();
        let schema = error.schema_path().as_str().to_owned();
        let found = pointer_get(whole, &instance).unwrap_or_else(|| error.instance());
        let message = message::message(error, &self.secrets, &instance, &schema);
        Violation { found: type_name(found), instance, schema, message }
    }
}

/// The JSON name of a value's type.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn options(draft: Draft, formats: bool) -> jsonschema::ValidationOptions<'static> {
    jsonschema::options()
        .with_draft(draft)
        .with_retriever(Refuse)
        .should_validate_formats(formats)
        .with_pattern_options(PatternOptions::fancy_regex().size_limit(4 << 20).backtrack_limit(100_000))
}

/// The dialect of a schema, by its `$schema`.
fn draft(schema: &Value) -> Result<Draft, SchemaError> {
    schema.get("$schema").map_or(Ok(Draft::Draft202012), |named| draft_named(named, ""))
}

fn draft_named(named: &Value, at: &str) -> Result<Draft, SchemaError> {
    let uri = named.as_str().map(|uri| uri.strip_suffix('#').unwrap_or(uri));
    match uri.and_then(|uri| uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))) {
        Some("json-schema.org/draft/2020-12/schema") => Ok(Draft::Draft202012),
        Some("json-schema.org/draft-07/schema") => Ok(Draft::Draft7),
        _ => Err(SchemaError::new(
            format!("{at}/$schema"),
            format!("dialect {} is not supported", message::quote(named)),
            format!("use {} or {}", uri_of(Draft::Draft202012), uri_of(Draft::Draft7)),
        )),
    }
}

fn uri_of(draft: Draft) -> &'static str {
    if draft == Draft::Draft7 {
        "http://json-schema.org/draft-07/schema#"
    } else {
        "https://json-schema.org/draft/2020-12/schema"
    }
}

/// The same schema with `$schema` in its usual spelling, the only one the crate knows.
fn canonical(schema: &Value, draft: Draft) -> Cow<'_, Value> {
    match schema.get("$schema") {
        Some(named) if named.as_str() != Some(uri_of(draft)) => {
            let mut schema = schema.clone();
            schema["$schema"] = uri_of(draft).into();
            Cow::Owned(schema)
        }
        _ => Cow::Borrowed(schema),
    }
}

fn schema_error(schema: &Value, error: &ValidationError<'_>) -> SchemaError {
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            let (pointer, text) = walk::reference_to(schema, uri).unwrap_or_else(|| (String::new(), uri.clone()));
            external(pointer, &text)
        }
        ValidationErrorKind::Referencing(inner) => {
            let pointer = error.schema_path().as_str();
            SchemaError::new(pointer, message::cut(inner), walk::NOWHERE_HINT)
        }
        _ => {
            let pointer = error.instance_path().as_str();
            let of_pattern = matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex");
            if let Some(pattern) = error.instance().as_str().filter(|_| of_pattern) {
                return pattern_error(pointer.to_owned(), pattern);
            }
            let shown = error.masked_with(message::quote(error.instance()));
            let hint = match pointer.rsplit('/').next() {
                Some("type") => "the types are null, boolean, object, array, number, integer and string",
                _ => "correct the schema; its $schema says what may stand here",
            };
            SchemaError::new(pointer, message::cut(shown), hint)
        }
    }
}

fn external(pointer: String, uri: &str) -> SchemaError {
    let fact = format!("external $ref not allowed: {}", message::cut(uri));
    SchemaError::new(pointer, fact, "copy that schema under $defs and refer to it by #/$defs/<name>")
}

fn pattern_error(pointer: String, pattern: &str) -> SchemaError {
    let quoted = message::quote(&Value::String(pattern.to_owned()));
    SchemaError::new(pointer, format!("pattern {quoted} does not compile"), "write an ECMA-262 regular expression")
}
