//! What stops a call before any process: the fact, the way out, and the reason.

use crate::envelope::CallError;
use crate::reason::Reason;
use serde_json::{Map, Value};

/// Why a call was not made.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Which kind of refusal.
    pub reason: Reason,
    /// The fact: a lower-case fragment, no trailing period.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
    /// Facts by name.
    pub details: Value,
    /// How long to wait first, milliseconds.
    pub retry_after_ms: Option<u64>,
}

impl Refusal {
    /// A refusal with its fact.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        let details = Value::Object(Map::new());
        Self { reason, message: message.into(), hint: None, details, retry_after_ms: None }
    }

    /// With the way out.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With facts by name.
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// With how long to wait first, milliseconds.
    pub fn retry_after(mut self, millis: u64) -> Self {
        self.retry_after_ms = Some(millis);
        self
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        let Refusal { reason, message, hint, details, retry_after_ms } = refusal;
        CallError { hint, details, retry_after_ms, ..reason.error(message) }
    }
}

impl From<&Refusal> for CallError {
    fn from(refusal: &Refusal) -> Self {
        refusal.clone().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refusal_becomes_the_error_of_its_reason() {
        let refusal = Refusal::new(Reason::QuotaExceeded, "20 calls in the last hour")
            .hint("wait")
            .with_details(json!({"calls": 20}))
            .retry_after(60_000);
        let error = CallError::from(&refusal);
        assert_eq!(error.reason, "quota_exceeded");
        assert!(error.retryable);
        assert_eq!(error.retry_after_ms, Some(60_000));
        assert_eq!(error.hint.as_deref(), Some("wait"));
        assert_eq!(error.details, json!({"calls": 20}));
        assert_eq!(refusal.to_string(), "20 calls in the last hour");
    }
}
