//! The error document: what a tool writes to stdout when it exits with another code than 0.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Status;

/// What went wrong, in the tool's own words. Every field may be absent: the exit code alone decides the status, and
/// this refines it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub struct ErrorObject {
    /// The status. Counts only for an exit code that has no meaning of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// A stable word for programs, `^[a-z][a-z0-9_]{0,63}$`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A sentence for people and models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Facts about the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
    /// Whether the same request may work later. Counts only for a channel failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// How long to wait before that, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

/// The whole of stdout on failure: `{"error": {..}, "output": ..}`. Other keys beside these are tolerated.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
pub struct ErrorDocument {
    /// What went wrong.
    pub error: ErrorObject,
    /// The partial answer, untouched. Counts only for a data limitation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub output: Option<Box<RawValue>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_tolerated_and_the_output_is_untouched() {
        let text = r#"{"v":1,"error":{"reason":"no_coverage","code":7},"output":{"b":1.00,"a":90071992547409931}}"#;
        let document: ErrorDocument = serde_json::from_str(text).unwrap();
        assert_eq!(document.error.reason.as_deref(), Some("no_coverage"));
        assert_eq!(document.output.unwrap().get(), r#"{"b":1.00,"a":90071992547409931}"#);
    }

    #[test]
    fn absent_fields_are_not_written() {
        let document = ErrorDocument { error: ErrorObject::default(), output: None };
        assert_eq!(serde_json::to_string(&document).unwrap(), r#"{"error":{}}"#);
    }

    #[test]
    fn text_instead_of_an_object_is_no_error_document() {
        assert!(serde_json::from_str::<ErrorDocument>(r#"{"error":"no such index"}"#).is_err());
    }
}
