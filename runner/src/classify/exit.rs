//! What an exit code other than 0 means.

use super::said::{self, Body, Said};
use super::{Verdict, facts, stdout};
use crate::call::Call;
use crate::envelope::{CallError, Origin, Warning, WarningCode};
use crate::outcome::Outcome;
use crate::reason::Reason;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolcell_tool::Status;
use toolcell_tool::exit::{self, Retryable};

/// What names an exit code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// `[exit_codes]` of tool.toml.
    Declared,
    /// The table of toolcell-tool.
    Table,
    /// Nothing but, perhaps, the error object.
    Nothing,
}

struct Meaning {
    source: Source,
    status: Status,
    reason: String,
    retryable: bool,
    /// Whether the error object may say otherwise of `retryable`.
    open: bool,
}

/// The verdict on an exit code other than 0 that the tool chose itself.
pub(super) fn judge(call: &Call, outcome: &Outcome, code: u8) -> Verdict {
    let bytes = outcome.stdout.kept.as_bytes();
    let named = declared(call, code).or_else(|| listed(code));
    if named.as_ref().is_some_and(|meaning| meaning.status == Status::Ok) {
        return stdout::answer(call, bytes);
    }
    let body = said::read(bytes);
    let nothing = Said::default();
    let said = body.said.as_ref().unwrap_or(&nothing);
    let meaning = named.unwrap_or_else(|| unnamed(said));
    let (reason, mut warnings) = refined(&meaning, said, code);
    let retryable = meaning.status == Status::ChannelFailure
        && said.retryable.filter(|_| meaning.open).unwrap_or(meaning.retryable);
    let message = said.message.clone().or_else(|| body.message.clone());
    let error = CallError {
        hint: hint(call, outcome, &meaning, code, message.is_some()),
        message: message.unwrap_or_else(|| fact(&meaning, &reason, code)),
        reason,
        origin: Origin::Tool,
        retryable,
        retry_after_ms: said.retry_after_ms.filter(|_| retryable),
        details: details(said, code),
    };
    let (output, more) = partial(call, outcome, meaning.status, body);
    warnings.extend(more);
    Verdict { status: meaning.status, error: Some(error), output, warnings }
}

fn declared(call: &Call, code: u8) -> Option<Meaning> {
    let declared = call.contract.exit_codes.get(&code)?;
    Some(Meaning {
        source: Source::Declared,
        status: declared.status,
        reason: declared.reason.clone().unwrap_or_else(|| default_reason(declared.status).to_owned()),
        retryable: declared.retryable,
        open: true,
    })
}

fn listed(code: u8) -> Option<Meaning> {
    let row = exit::lookup(code.into())?;
    Some(Meaning {
        source: Source::Table,
        status: row.status,
        reason: row.reason.to_owned(),
        retryable: row.retryable == Retryable::Yes,
        open: row.retryable == Retryable::AsErrorObject,
    })
}

fn unnamed(said: &Said) -> Meaning {
    let (status, reason, open) = match said.status {
        Some(status) if status != Status::Ok => (status, default_reason(status), true),
        _ => (Status::ChannelFailure, Reason::UndeclaredExit.name(), false),
    };
    Meaning { source: Source::Nothing, status, reason: reason.to_owned(), retryable: false, open }
}

/// The reason of a status that comes without one, from tool.toml or an error object.
fn default_reason(status: Status) -> &'static str {
    match status {
        Status::Ok => "",
        Status::CallError => Reason::RejectedInput.name(),
        Status::DataLimitation => Reason::NoData.name(),
        Status::ChannelFailure => Reason::UpstreamUnavailable.name(),
    }
}

/// The reason as the error object refines it, and where the two contradict each other. A built-in reason keeps its
/// status: under another one it is not taken over.
fn refined(meaning: &Meaning, said: &Said, code: u8) -> (String, Vec<Warning>) {
    let mut warnings = Vec::new();
    let stands = meaning.status.as_str();
    if let Some(status) = said.status.filter(|status| *status != meaning.status) {
        let message = format!("the error object says `{}`; exit code {code} stands for `{stands}`", status.as_str());
        let details = json!({"exit_code": code, "said": status, "status": meaning.status});
        warnings.push(facts::warning(WarningCode::ClassConflict, message, details));
    }
    let Some(reason) = &said.reason else { return (meaning.reason.clone(), warnings) };
    match Reason::by_name(reason).map(Reason::status) {
        Some(status) if status != meaning.status => {
            let other = status.as_str();
            let message = format!("the error object's reason `{reason}` stands for `{other}`, not for `{stands}`");
            let details = json!({"exit_code": code, "said_reason": reason, "status": meaning.status});
            warnings.push(facts::warning(WarningCode::ClassConflict, message, details));
            (meaning.reason.clone(), warnings)
        }
        _ => (reason.clone(), warnings),
    }
}

/// The message where the tool gave none.
fn fact(meaning: &Meaning, reason: &str, code: u8) -> String {
    match meaning.source {
        Source::Declared => format!("the tool ended with exit code {code}, which tool.toml declares as `{reason}`"),
        Source::Table => {
            let what = match Reason::by_name(&meaning.reason) {
                Some(Reason::RejectedInput) => "the tool refuses the input",
                Some(Reason::NotPermitted) => "the tool says that this is not permitted",
                Some(Reason::NoData) => "the tool has no data for this request",
                Some(Reason::UpstreamUnavailable) => "what stands behind the tool does not answer",
                Some(Reason::UpstreamUnknownHost) => "the tool could not find its upstream's host",
                Some(Reason::UpstreamProtocol) => "the exchange with the tool's upstream broke",
                Some(Reason::TryLater) => "the tool asks to be called again later",
                _ => "the tool reports a fault of its own",
            };
            format!("{what} (exit code {code})")
        }
        Source::Nothing if reason == Reason::UndeclaredExit.name() => {
            format!("the tool ended with exit code {code}, which nothing declares")
        }
        Source::Nothing => format!("the tool ended with exit code {code} and reports `{reason}`"),
    }
}

fn hint(call: &Call, outcome: &Outcome, meaning: &Meaning, code: u8, told: bool) -> Option<String> {
    if meaning.source == Source::Nothing && meaning.reason == Reason::UndeclaredExit.name() {
        if code == 126 && call.profile == "strict" {
            return Some("`strict` starts only the tool's own program; use profile = \"standard\"".to_owned());
        }
        let words = if outcome.stderr.total > 0 { "the tool's own words are in `stderr`; " } else { "" };
        return Some(match call.capability {
            Some(_) => format!(
                "{words}declare it in tool.toml: `[exit_codes]` `{code} = \"channel_failure\"` (or what it means)"
            ),
            None => format!("{words}docs/exit-codes.md lists the codes that have a meaning"),
        });
    }
    (!told && outcome.stderr.total > 0).then(|| "the tool's own words are in `stderr`".to_owned())
}

/// The tool's own details; the exit code where it gave none.
fn details(said: &Said, code: u8) -> Value {
    match &said.details {
        Some(Value::Object(own)) if !own.is_empty() => Value::Object(own.clone()),
        Some(Value::Object(_)) | None => json!({"exit_code": code}),
        Some(other) => json!({"exit_code": code, "said": other}),
    }
}

/// The partial answer of a data limitation, when it keeps output_schema; a warning for whatever goes unused.
fn partial(call: &Call, outcome: &Outcome, status: Status, body: Body) -> (Option<Box<RawValue>>, Vec<Warning>) {
    let bytes = outcome.stdout.kept.as_bytes();
    let unused = |why: &str| (None, facts::stdout_partial(why, &outcome.stdout).into_iter().collect());
    let limited = status == Status::DataLimitation;
    let taken = match (body.said, body.output) {
        (Some(_), None) => return (None, Vec::new()),
        (_, Some(output)) if limited => stdout::keeps_schema(call, &output).map(|()| (output, Vec::new())),
        (None, None) if stdout::is_blank(bytes) => return (None, Vec::new()),
        (None, None) if limited && !body.names_error => stdout::take(call, bytes),
        _ => return unused("the tool did not exit 0"),
    };
    match taken {
        Ok((output, warnings)) => (Some(output), warnings),
        Err(fault) => unused(&fault.error.message.replacen("standard output is", "it is", 1)),
    }
}
