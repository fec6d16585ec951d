//! [`OrFail`]: `?` with a status.

use std::fmt::Display;

use crate::{Status, ToolError};

/// Turns a `Result` or an `Option` into one that fails with a [`ToolError`] of the named status.
///
/// On a `Result` the message is `what`, a colon and the error; on an `Option` it is `what` alone.
pub trait OrFail<T>: Sized {
    /// Fails with `status`; the three other methods are this one. `Status::Ok` is a contradiction and exits 70.
    ///
    /// # Errors
    ///
    /// A [`ToolError`] where there is no value.
    fn or_fail(self, status: Status, what: &str) -> Result<T, ToolError>;

    /// No value means that the request has to change.
    ///
    /// # Errors
    ///
    /// A call error where there is no value.
    fn or_call_error(self, what: &str) -> Result<T, ToolError> {
        self.or_fail(Status::CallError, what)
    }

    /// No value means that the data is not there.
    ///
    /// # Errors
    ///
    /// A data limitation where there is no value.
    fn or_data_limitation(self, what: &str) -> Result<T, ToolError> {
        self.or_fail(Status::DataLimitation, what)
    }

    /// No value means that the way to the data is broken.
    ///
    /// # Errors
    ///
    /// A channel failure where there is no value.
    fn or_channel_failure(self, what: &str) -> Result<T, ToolError> {
        self.or_fail(Status::ChannelFailure, what)
    }
}

impl<T, E: Display> OrFail<T> for Result<T, E> {
    fn or_fail(self, status: Status, what: &str) -> Result<T, ToolError> {
        self.map_err(|error| ToolError::with_status(status, format!("{what}: {error}")))
    }
}

impl<T> OrFail<T> for Option<T> {
    fn or_fail(self, status: Status, what: &str) -> Result<T, ToolError> {
        self.ok_or_else(|| ToolError::with_status(status, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_method_decides_the_status() {
        let bad = || "x".parse::<u8>();
        assert_eq!(bad().or_call_error("day").unwrap_err().status(), Status::CallError);
        assert_eq!(bad().or_data_limitation("day").unwrap_err().status(), Status::DataLimitation);
        assert_eq!(bad().or_channel_failure("day").unwrap_err().status(), Status::ChannelFailure);
        assert_eq!("7".parse::<u8>().or_call_error("day").unwrap(), 7);
    }

    #[test]
    fn the_message_keeps_the_cause() {
        let error = "x".parse::<u8>().or_call_error("while reading the day").unwrap_err();
        assert_eq!(error.to_string(), "call_error: while reading the day: invalid digit found in string");
        let error = None::<u8>.or_data_limitation("no such row").unwrap_err();
        assert_eq!(error.to_string(), "data_limitation: no such row");
    }
}
