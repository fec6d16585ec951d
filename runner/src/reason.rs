//! Every reason toolcell itself gives, with what follows from it: one table.

use crate::envelope::{CallError, Origin};
use serde_json::{Map, Value};
use toolcell_tool::Status;

/// One row of [`TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The reason.
    pub reason: Reason,
    /// Its name in envelopes, records and spans.
    pub name: &'static str,
    /// The status it stands for.
    pub status: Status,
    /// Who has to act, unless a tool gave the reason (then the tool).
    pub origin: Origin,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// What happened, in one line.
    pub doc: &'static str,
}

macro_rules! reasons {
    ($($variant:ident $name:literal $status:ident $origin:ident $retryable:literal $doc:literal;)*) => {
        /// A built-in reason.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $(#[doc = $doc] $variant,)*
        }

        /// Every reason, in the order of its declaration.
        pub const TABLE: &[Row] = &[$(Row {
            reason: Reason::$variant,
            name: $name,
            status: Status::$status,
            origin: Origin::$origin,
            retryable: $retryable,
            doc: $doc,
        }),*];
    };
}

reasons! {
    Usage "usage" CallError Caller false "The command line or the request is not well formed.";
    InvalidInputJson "invalid_input_json" CallError Caller false "The input is not one strict JSON value.";
    InputSchema "input_schema" CallError Caller false "The input breaks the capability's input_schema.";
    RejectedInput "rejected_input" CallError Caller false "A template, a file rule or the tool refuses the input.";
    UnknownCapability "unknown_capability" CallError Caller false "No registry holds such a capability.";
    NotPermitted "not_permitted" CallError Caller false "A grant, a policy or the tool does not permit it.";
    QuotaExceeded "quota_exceeded" CallError Caller true "The caller's quota is used up for now.";
    BudgetExceeded "budget_exceeded" CallError Caller false "The caller's budget does not cover the call.";
    Cancelled "cancelled" CallError Caller false "The caller cancelled the call.";
    NoData "no_data" DataLimitation Tool false "The tool worked; the data is not there, or only partly.";
    UpstreamUnavailable "upstream_unavailable" ChannelFailure Tool false "What stands behind the tool does not answer.";
    UpstreamUnknownHost "upstream_unknown_host" ChannelFailure Tool false "The tool could not find its upstream's host.";
    UpstreamProtocol "upstream_protocol" ChannelFailure Tool false "The exchange with the tool's upstream broke.";
    TryLater "try_later" ChannelFailure Tool true "The tool asks to be called again later.";
    ToolInternal "tool_internal" ChannelFailure Tool false "The tool reports a fault of its own.";
    UndeclaredExit "undeclared_exit" ChannelFailure Tool false "The tool ended with an exit code that nothing names.";
    Crashed "crashed" ChannelFailure Tool false "A signal that toolcell did not send killed the tool.";
    SandboxViolation "sandbox_violation" ChannelFailure Tool false "The system call filter killed the tool (SIGSYS).";
    FileSizeLimit "file_size_limit" ChannelFailure Tool false "A file grew beyond limits.file_size (SIGXFSZ).";
    Timeout "timeout" ChannelFailure Tool false "The deadline passed before the tool had ended.";
    OutOfMemory "out_of_memory" ChannelFailure Tool false "The kernel's OOM killer struck in the call.";
    OutputLimit "output_limit" ChannelFailure Tool false "Standard output grew beyond limits.stdout.";
    SecretInOutput "secret_in_output" ChannelFailure Tool false "A secret's value stood in standard output.";
    EmptyOutput "empty_output" ChannelFailure Tool false "Exit 0, and nothing on standard output.";
    InvalidOutput "invalid_output" ChannelFailure Tool false "Exit 0, and standard output is not what was declared.";
    OutputSchema "output_schema" ChannelFailure Tool false "Exit 0, and the output breaks output_schema.";
    StartFailed "start_failed" ChannelFailure Host false "The program could not be started.";
    SandboxUnavailable "sandbox_unavailable" ChannelFailure Host false "The sandbox the profile requires is not to be had here.";
    SecretMissing "secret_missing" ChannelFailure Host false "A secret the tool needs has no value.";
    InvalidContract "invalid_contract" ChannelFailure Host false "capability.json, tool.toml or the profile is broken.";
    Avoided "avoided" ChannelFailure Runner true "This same request failed a moment ago.";
    Overloaded "overloaded" ChannelFailure Runner true "The queue is full.";
    Internal "internal" ChannelFailure Runner false "A fault of toolcell itself.";
}

impl Reason {
    /// The reason of that name.
    pub fn by_name(name: &str) -> Option<Reason> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.reason)
    }

    /// Its row of [`TABLE`].
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The name used in envelopes, records and spans.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The status it stands for.
    pub fn status(self) -> Status {
        self.row().status
    }

    /// Who has to act, unless a tool gave the reason (then the tool).
    pub fn origin(self) -> Origin {
        self.row().origin
    }

    /// Whether the same request may succeed later.
    pub fn retryable(self) -> bool {
        self.row().retryable
    }

    /// What happened, in one line.
    pub fn doc(self) -> &'static str {
        self.row().doc
    }

    /// An error with this reason and what the table says of it.
    pub fn error(self, message: impl Into<String>) -> CallError {
        CallError {
            reason: self.name().to_owned(),
            origin: self.origin(),
            message: message.into(),
            hint: None,
            retryable: self.retryable(),
            retry_after_ms: None,
            details: Value::Object(Map::new()),
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_reason_has_its_own_row_and_its_own_name() {
        let names: BTreeSet<_> = TABLE.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), TABLE.len());
        for (place, row) in TABLE.iter().enumerate() {
            assert_eq!(row.reason as usize, place);
            assert_eq!(Reason::by_name(row.name), Some(row.reason));
            assert_ne!(row.status, Status::Ok);
        }
    }

    #[test]
    fn the_exit_codes_of_tools_lead_to_reasons_of_the_same_status() {
        for row in toolcell_tool::exit::TABLE.iter().filter(|row| row.status != Status::Ok) {
            let reason = Reason::by_name(row.reason).unwrap_or_else(|| panic!("no reason `{}`", row.reason));
            assert_eq!(reason.status(), row.status, "exit code {}", row.code);
        }
    }
}
