//! A failure that toolcell names itself.

use crate::envelope::CallError;
use crate::reason::Reason;
use serde_json::Value;

/// A built-in reason with its error, while it is being put together.
#[derive(Debug)]
pub(super) struct Fault {
    pub reason: Reason,
    pub error: Box<CallError>,
}

impl Fault {
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, error: Box::new(reason.error(message)) }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint = Some(hint.into());
        self
    }

    pub fn details(mut self, details: Value) -> Self {
        self.error.details = details;
        self
    }
}
