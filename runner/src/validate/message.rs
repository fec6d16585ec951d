//! What a violation says: never a long value, never a secret.

use super::secrets::Secrets;
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;
use std::fmt::{Display, Write};

/// The most characters of a value that are quoted.
const MAX_QUOTE: usize = 120;
/// The most characters of a message; names of properties can be long too.
const MAX_MESSAGE: usize = 600;

pub(super) fn message(error: &ValidationError<'_>, secrets: &Secrets, instance: &str, schema: &str) -> String {
    let keyword = error.kind().keyword();
    if secrets.covers(instance, schema) {
        return format!("breaks `{keyword}` (the value is not shown: it is marked secret)");
    }
    let value = error.instance();
    match error.kind() {
        // These quote the values of items, one by one.
        Kind::AdditionalItems { .. } | Kind::UnevaluatedItems { .. } => cut(error.masked_with("the array")),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "the pattern takes too many steps on this value".into()
        }
        Kind::FromUtf8 { .. } => "the decoded content is not UTF-8".into(),
        Kind::PropertyNames { error: inner } => cut(format_args!(
            "property name {}",
            inner.masked_with(quote(inner.instance())).to_string().trim_start_matches("property name ")
        )),
        _ if !secrets.is_empty() && (value.is_object() || value.is_array()) => {
            let what = if value.is_object() { "the object" } else { "the array" };
            cut(error.masked_with(what))
        }
        _ => cut(error.masked_with(quote(value))),
    }
}

/// A value as JSON, cut when it is long.
pub(super) fn quote(value: &Value) -> String {
    limited(value, MAX_QUOTE)
}

/// A message, cut when it is long.
pub(super) fn cut(text: impl Display) -> String {
    limited(text, MAX_MESSAGE)
}

fn limited(text: impl Display, most: usize) -> String {
    let mut out = Limited { text: String::new(), left: most };
    if write!(out, "{text}").is_err() {
        out.text.push('…');
    }
    out.text
}

/// Takes so many characters and then fails, so that a huge value is not written out to be thrown away.
struct Limited {
    text: String,
    left: usize,
}

impl Write for Limited {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        match part.char_indices().nth(self.left) {
            Some((end, _)) => {
                self.text.push_str(&part[..end]);
                self.left = 0;
                Err(std::fmt::Error)
            }
            None => {
                self.left -= part.chars().count();
                self.text.push_str(part);
                Ok(())
            }
        }
    }
}
