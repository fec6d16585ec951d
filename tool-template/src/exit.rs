//! The exit codes of a tool, and of `toolcell` itself: sysexits numbers, each with one meaning.
//!
//! Three to remember: 64 the caller, 66 the data, 69 the channel. The numbers that runtimes exit with by themselves
//! (1, 2, 101, 124 to 255) mean nothing here on purpose: a crash must not look like an answer.

use crate::Status;

/// The answer is on stdout.
pub const OK: i32 = 0;
/// The request is wrong.
pub const USAGE: i32 = 64;
/// The content of the request is wrong.
pub const BAD_INPUT: i32 = 65;
/// The data is not there, or only a part of it.
pub const NO_DATA: i32 = 66;
/// The thing asked about is not known.
pub const UNKNOWN_ENTITY: i32 = 67;
/// The supplier's host name does not resolve.
pub const UNKNOWN_HOST: i32 = 68;
/// The supplier, or something else the tool needs, is not reachable.
pub const UNAVAILABLE: i32 = 69;
/// A bug in the tool.
pub const INTERNAL: i32 = 70;
/// A system call failed inside the tool.
pub const OS_ERROR: i32 = 71;
/// A file that belongs to the tool's installation is missing.
pub const OS_FILE: i32 = 72;
/// A file could not be created.
pub const CANNOT_CREATE: i32 = 73;
/// Reading or writing broke off.
pub const IO: i32 = 74;
/// The same request may work later.
pub const TRY_LATER: i32 = 75;
/// The supplier answered something that its protocol does not allow.
pub const PROTOCOL: i32 = 76;
/// The caller may not do this.
pub const NOT_PERMITTED: i32 = 77;
/// The tool is set up wrongly.
pub const CONFIG: i32 = 78;

/// Whether the same request may work when it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retryable {
    /// Not unless something changes.
    No,
    /// Yes.
    Yes,
    /// As `retryable` in the tool's error object says; without one, no.
    AsErrorObject,
}

/// What one exit code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The exit code.
    pub code: i32,
    /// The status it stands for; an error object cannot change it.
    pub status: Status,
    /// The reason when the error object names none; empty for [`OK`].
    pub reason: &'static str,
    /// Whether a retry makes sense.
    pub retryable: Retryable,
}

const fn row(code: i32, status: Status, reason: &'static str, retryable: Retryable) -> Row {
    Row { code, status, reason, retryable }
}

/// Every code that has a meaning, ascending.
pub const TABLE: &[Row] = {
    use Retryable::{AsErrorObject, No, Yes};
    use Status::{CallError, ChannelFailure, DataLimitation, Ok};
    &[
        row(OK, Ok, "", No),
        row(USAGE, CallError, "rejected_input", No),
        row(BAD_INPUT, CallError, "rejected_input", No),
        row(NO_DATA, DataLimitation, "no_data", No),
        row(UNKNOWN_ENTITY, DataLimitation, "no_data", No),
        row(UNKNOWN_HOST, ChannelFailure, "upstream_unknown_host", AsErrorObject),
        row(UNAVAILABLE, ChannelFailure, "upstream_unavailable", AsErrorObject),
        row(INTERNAL, ChannelFailure, "tool_internal", No),
        row(OS_ERROR, ChannelFailure, "tool_internal", No),
        row(OS_FILE, ChannelFailure, "tool_internal", No),
        row(CANNOT_CREATE, ChannelFailure, "tool_internal", No),
        row(IO, ChannelFailure, "upstream_protocol", AsErrorObject),
        row(TRY_LATER, ChannelFailure, "try_later", Yes),
        row(PROTOCOL, ChannelFailure, "upstream_protocol", AsErrorObject),
        row(NOT_PERMITTED, CallError, "not_permitted", No),
        row(CONFIG, ChannelFailure, "tool_internal", No),
    ]
};

/// The row of `code`; `None` where the code is undeclared, which makes it a channel failure.
#[must_use]
pub fn lookup(code: i32) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_zero_and_64_to_78_ascending() {
        let codes: Vec<i32> = TABLE.iter().map(|row| row.code).collect();
        let expected: Vec<i32> = std::iter::once(0).chain(64..=78).collect();
        assert_eq!(codes, expected);
    }

    #[test]
    fn only_zero_is_ok_and_only_ok_has_no_reason() {
        for row in TABLE {
            assert_eq!(row.code == 0, row.status == Status::Ok, "{row:?}");
            assert_eq!(row.code == 0, row.reason.is_empty(), "{row:?}");
        }
    }

    #[test]
    fn codes_that_runtimes_use_by_themselves_stay_undeclared() {
        for code in [-1, 1, 2, 63, 79, 101, 124, 126, 127, 128, 137, 255] {
            assert_eq!(lookup(code), None);
        }
        assert_eq!(lookup(66).map(|row| row.status), Some(Status::DataLimitation));
    }
}
