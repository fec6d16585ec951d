//! [`ToolError`]: how a handler says that there is no full answer.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::{ErrorDocument, ErrorObject, Status, exit, output};

/// A failure whose status the author chose.
///
/// There is no `From` for other errors: see [`OrFail`](crate::OrFail).
#[derive(Debug)]
pub struct ToolError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    status: Status,
    message: String,
    reason: Option<&'static str>,
    details: Map<String, Value>,
    retryable: Option<bool>,
    retry_after: Option<Duration>,
    partial: Option<Box<RawValue>>,
    code: Option<i32>,
}

impl ToolError {
    fn new(status: Status, message: String) -> Self {
        Self(Box::new(Inner {
            status,
            message,
            reason: None,
            details: Map::new(),
            retryable: None,
            retry_after: None,
            partial: None,
            code: None,
        }))
    }

    pub(crate) fn with_status(status: Status, message: impl Into<String>) -> Self {
        Self::new(status, message.into())
    }

    /// The request has to change. Say what is wrong with it and what would be right.
    pub fn call_error(message: impl Into<String>) -> Self {
        Self::new(Status::CallError, message.into())
    }

    /// The tool worked, but the data is not there or only partly.
    pub fn data_limitation(message: impl Into<String>) -> Self {
        Self::new(Status::DataLimitation, message.into())
    }

    /// The way to the data is broken: a supplier down, a secret missing, an answer that makes no sense.
    pub fn channel_failure(message: impl Into<String>) -> Self {
        Self::new(Status::ChannelFailure, message.into())
    }

    /// A fault of the tool itself.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::channel_failure(message).reason("tool_internal")
    }

    pub(crate) fn code(mut self, code: i32) -> Self {
        self.0.code = Some(code);
        self
    }

    /// A stable word that programs can act on, for example `no_coverage`. Without one it is the exit code's own.
    ///
    /// # Panics
    ///
    /// If it does not match `^[a-z][a-z0-9_]{0,63}$`. It is a literal, so that the first test to come by finds out.
    #[track_caller]
    #[must_use]
    pub fn reason(mut self, reason: &'static str) -> Self {
        assert!(
            is_reason(reason),
            "reason {reason:?} does not match ^[a-z][a-z0-9_]{{0,63}}$: use a word like `no_coverage`"
        );
        self.0.reason = Some(reason);
        self
    }

    /// A fact about the failure. A value that JSON cannot express is replaced by the sentence that says so.
    #[must_use]
    pub fn detail(mut self, key: impl Into<String>, value: impl Serialize) -> Self {
        let value = output::to_raw(&value)
            .map_err(|error| error.to_string())
            .and_then(|raw| serde_json::from_str(raw.get()).map_err(|error| error.to_string()))
            .unwrap_or_else(Value::String);
        self.0.details.insert(key.into(), value);
        self
    }

    /// Whether the same request may work later. Left out of the answer for anything but a channel failure, where
    /// nobody may act on it.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.0.retryable = Some(retryable);
        self
    }

    /// How long to wait before the same request is worth sending again; this makes the error retryable.
    #[must_use]
    pub fn retry_after(mut self, pause: Duration) -> Self {
        self.0.retry_after = Some(pause);
        self.retryable(true)
    }

    /// The part of the answer that there is. Left out of the answer for anything but a data limitation.
    ///
    /// An output that JSON cannot express turns the whole error into the channel failure `tool_internal`: leaving it
    /// out would tell the caller that there is no such part.
    #[must_use]
    pub fn partial(mut self, output: impl Serialize) -> Self {
        match output::to_raw(&output) {
            Ok(raw) => {
                self.0.partial = Some(raw);
                self
            }
            Err(error) => error,
        }
    }

    /// The status that the author chose.
    #[must_use]
    pub fn status(&self) -> Status {
        self.0.status
    }

    /// What the process exits with.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        let inner = &self.0;
        match (inner.status, inner.reason) {
            (Status::ChannelFailure, _) if inner.retryable == Some(true) => exit::TRY_LATER,
            _ if inner.code.is_some() => inner.code.unwrap_or(exit::INTERNAL),
            (Status::CallError, Some("not_permitted")) => exit::NOT_PERMITTED,
            (Status::CallError, _) => exit::USAGE,
            (Status::DataLimitation, _) => exit::NO_DATA,
            (Status::ChannelFailure, Some("tool_internal")) | (Status::Ok, _) => exit::INTERNAL,
            (Status::ChannelFailure, _) => exit::UNAVAILABLE,
        }
    }

    /// What goes to stdout.
    #[must_use]
    pub fn document(&self) -> ErrorDocument {
        let inner = &self.0;
        let channel = inner.status == Status::ChannelFailure;
        let milliseconds = |pause: Duration| u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        ErrorDocument {
            error: ErrorObject {
                status: Some(inner.status),
                reason: inner.reason.map(str::to_owned),
                message: Some(inner.message.clone()),
                details: (!inner.details.is_empty()).then(|| Value::Object(inner.details.clone())),
                retryable: inner.retryable.filter(|_| channel),
                retry_after_ms: inner.retry_after.filter(|_| channel).map(milliseconds),
            },
            output: inner.partial.clone().filter(|_| inner.status == Status::DataLimitation),
        }
    }
}

fn is_reason(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.reason {
            Some(reason) => write!(f, "{} ({reason}): {}", self.0.status, self.0.message),
            None => write!(f, "{}: {}", self.0.status, self.0.message),
        }
    }
}

impl std::error::Error for ToolError {}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
