//! The exit codes of toolcell itself: one table, the same meanings as for tools, so that toolcell nests.

use crate::envelope::{CallError, Origin};
use crate::reason::Reason;
use toolcell_tool::Status;

/// How `toolcell run` and `toolcell exec` end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The call ended `ok`.
    Ok = 0,
    /// `call_error`: change the request.
    CallError = 64,
    /// `data_limitation`: the tool worked, the data is not there or only partly.
    DataLimitation = 66,
    /// `channel_failure`: the way to the data is broken.
    ChannelFailure = 69,
    /// A fault of toolcell itself (reason `internal`).
    Internal = 70,
    /// Any failure that is retryable: the same request may succeed later.
    Retryable = 75,
}

/// Every exit code with its meaning.
pub const TABLE: [(ExitCode, &str); 6] = [
    (ExitCode::Ok, "`ok`"),
    (ExitCode::CallError, "`call_error`: change the request"),
    (ExitCode::DataLimitation, "`data_limitation`: the tool worked, the data is not there or only partly"),
    (ExitCode::ChannelFailure, "`channel_failure`: the way to the data is broken"),
    (ExitCode::Internal, "a fault of toolcell itself (reason `internal`, origin `runner`)"),
    (ExitCode::Retryable, "any failure that is retryable: the same request may succeed later"),
];

impl ExitCode {
    /// The exit code for a status and its error.
    ///
    /// A tool that calls its own trouble `internal` is not a fault of toolcell: the origin decides.
    pub fn of(status: Status, error: Option<&CallError>) -> Self {
        let internal = |error: &CallError| error.origin == Origin::Runner && error.reason == Reason::Internal.name();
        match (status, error) {
            (Status::Ok, _) => Self::Ok,
            (_, Some(error)) if internal(error) => Self::Internal,
            (_, Some(error)) if error.retryable => Self::Retryable,
            (Status::CallError, _) => Self::CallError,
            (Status::DataLimitation, _) => Self::DataLimitation,
            (Status::ChannelFailure, _) => Self::ChannelFailure,
        }
    }
}

/// The number `toolcell` ends with for a status and its error.
pub fn exit_code(status: Status, error: Option<&CallError>) -> u8 {
    ExitCode::of(status, error) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcell_tool::exit;

    #[test]
    fn a_number_means_to_toolcell_what_it_means_to_a_tool() {
        for (code, _) in TABLE {
            let status = match code {
                ExitCode::Ok => Status::Ok,
                ExitCode::CallError => Status::CallError,
                ExitCode::DataLimitation => Status::DataLimitation,
                ExitCode::ChannelFailure | ExitCode::Internal | ExitCode::Retryable => Status::ChannelFailure,
            };
            let row = exit::lookup((code as u8).into()).expect("the table for tools has the code too");
            assert_eq!(row.status, status, "{code:?}");
        }
        assert_eq!(exit::lookup(75).map(|row| row.retryable), Some(exit::Retryable::Yes));
    }

    #[test]
    fn every_built_in_reason_has_the_exit_code_its_row_asks_for() {
        for row in crate::reason::TABLE {
            let expected = match (row.reason, row.retryable, row.status) {
                (Reason::Internal, ..) => 70,
                (_, true, _) => 75,
                (_, _, Status::CallError) => 64,
                (_, _, Status::DataLimitation) => 66,
                _ => 69,
            };
            assert_eq!(exit_code(row.status, Some(&row.reason.error("x"))), expected, "{}", row.name);
        }
        assert_eq!(exit_code(Status::Ok, None), 0);
        assert_eq!(exit_code(Status::DataLimitation, None), 66);
    }

    #[test]
    fn a_tool_that_says_internal_is_no_fault_of_toolcell() {
        let mut error = Reason::Internal.error("x");
        error.origin = Origin::Tool;
        assert_eq!(exit_code(Status::ChannelFailure, Some(&error)), 69);
    }
}
