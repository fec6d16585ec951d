//! The error object that a tool may leave on standard output when it does not exit 0.

use crate::json;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolcell_tool::Status;

/// What a failed tool left on standard output, as far as it is JSON.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// The error object.
    pub said: Option<Said>,
    /// What stood beside it as `output`, untouched.
    pub output: Option<Box<RawValue>>,
    /// Whether there is a key `error`, of whatever form.
    pub names_error: bool,
    /// Where there is no error object: a text that is plainly the tool's message.
    pub message: Option<String>,
}

/// The fields of an error object that have the right type; every other field is ignored.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    pub status: Option<Status>,
    pub reason: Option<String>,
    pub message: Option<String>,
    pub details: Option<Value>,
    pub retryable: Option<bool>,
    pub retry_after_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Outer {
    error: Option<Value>,
    message: Option<Value>,
    output: Option<Box<RawValue>>,
}

/// Reads standard output; what is not one JSON object reads as nothing.
pub(super) fn read(stdout: &[u8]) -> Body {
    let Ok(raw) = json::raw(stdout) else { return Body::default() };
    if !raw.get().starts_with('{') {
        return Body::default(); // serde would fill a struct from an array too
    }
    let Ok(outer) = serde_json::from_str::<Outer>(raw.get()) else { return Body::default() };
    let names_error = outer.error.is_some();
    match outer.error {
        Some(Value::Object(error)) => {
            Body { said: Some(Said::from(&error)), output: outer.output, names_error, message: None }
        }
        error => {
            let message = error.or(outer.message).as_ref().and_then(text);
            Body { said: None, output: None, names_error, message }
        }
    }
}

impl From<&Map<String, Value>> for Said {
    fn from(error: &Map<String, Value>) -> Self {
        let field = |name: &str| error.get(name);
        Self {
            status: field("status").and_then(Value::as_str).and_then(status),
            reason: field("reason").and_then(Value::as_str).filter(|reason| well_formed(reason)).map(str::to_owned),
            message: field("message").and_then(text),
            details: field("details").filter(|details| !details.is_null()).cloned(),
            retryable: field("retryable").and_then(Value::as_bool),
            retry_after_ms: field("retry_after_ms").and_then(Value::as_u64),
        }
    }
}

fn status(name: &str) -> Option<Status> {
    Status::ALL.into_iter().find(|status| status.as_str() == name)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// `^[a-z][a-z0-9_]{0,63}$`
fn well_formed(reason: &str) -> bool {
    let mut bytes = reason.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && reason.len() <= 64
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(error: Value) -> Said {
        read(json!({"error": error}).to_string().as_bytes()).said.expect("an error object")
    }

    #[test]
    fn the_error_object_of_the_tool_crate_is_read_whole() {
        let error = json!({
            "status": "data_limitation", "reason": "no_coverage", "message": "m", "details": {"a": 1},
            "retryable": true, "retry_after_ms": 5,
        });
        let object: toolcell_tool::ErrorObject = serde_json::from_value(error.clone()).unwrap();
        assert_eq!(said(serde_json::to_value(object).unwrap()), said(error.clone()));
        let expected = Said {
            status: Some(Status::DataLimitation),
            reason: Some("no_coverage".into()),
            message: Some("m".into()),
            details: Some(json!({"a": 1})),
            retryable: Some(true),
            retry_after_ms: Some(5),
        };
        assert_eq!(said(error), expected);
    }

    #[test]
    fn a_field_of_a_wrong_type_is_ignored_and_the_others_stand() {
        let error = json!({"status": "broken", "reason": 7, "message": "m", "retryable": "yes", "retry_after_ms": -1});
        assert_eq!(said(error), Said { message: Some("m".into()), ..Said::default() });
    }

    #[test]
    fn only_well_formed_reasons_are_taken() {
        let long = "a".repeat(65);
        for bad in ["", "A", "1a", "a-b", "a b", "_a", "\u{e9}", &long] {
            assert_eq!(said(json!({"reason": bad})).reason, None, "{bad}");
        }
        for good in ["a", "a1_", &"a".repeat(64)] {
            assert_eq!(said(json!({"reason": good})).reason.as_deref(), Some(good));
        }
    }

    #[test]
    fn what_is_no_object_with_an_error_object_is_no_error_object() {
        for body in
            ["", "7", "[{\"message\":\"m\"},1,2]", "{\"error\":\"text\"}", "{\"error\":{},\"error\":", "not json"]
        {
            assert!(read(body.as_bytes()).said.is_none(), "{body}");
        }
        assert_eq!(read(br#"{"error":"no such index"}"#).message.as_deref(), Some("no such index"));
        assert_eq!(read(br#"{"code":"auth","message":"expired"}"#).message.as_deref(), Some("expired"));
    }
}
