//! Standard output as the answer.

use super::facts::warning;
use super::{Fault, Verdict};
use crate::call::{Call, StdoutKind};
use crate::envelope::{Warning, WarningCode};
use crate::json::{self, JsonError};
use crate::reason::Reason;
use crate::validate::{Validator, Violation};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use toolcell_tool::Status;

const BOM: &[u8] = b"\xef\xbb\xbf";
/// Violations that are listed; all are counted.
const LISTED: usize = 20;

/// The verdict on exit 0.
pub(super) fn answer(call: &Call, stdout: &[u8]) -> Verdict {
    match take(call, stdout) {
        Ok((output, warnings)) => Verdict { status: Status::Ok, error: None, output: Some(output), warnings },
        Err(fault) => fault.into(),
    }
}

/// The tool's JSON, untouched, when it is what was declared and keeps output_schema.
pub(super) fn take(call: &Call, stdout: &[u8]) -> Result<(Box<RawValue>, Vec<Warning>), Fault> {
    let output = read(call.stdio.stdout, stdout)?;
    keeps_schema(call, &output)?;
    let bom = stdout.starts_with(BOM).then(|| {
        warning(WarningCode::BomDropped, "standard output began with a byte-order mark, which was dropped", json!({}))
    });
    Ok((output, bom.into_iter().collect()))
}

/// Whether there is nothing but white space.
pub(super) fn is_blank(stdout: &[u8]) -> bool {
    stdout.strip_prefix(BOM).unwrap_or(stdout).iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

fn read(kind: StdoutKind, stdout: &[u8]) -> Result<Box<RawValue>, Fault> {
    match kind {
        StdoutKind::Json if is_blank(stdout) => {
            Err(Fault::new(Reason::EmptyOutput, "the tool exited 0 and printed nothing")
                .hint("print one JSON value on standard output, or exit with a code that says why there is none"))
        }
        StdoutKind::Json => json::raw(stdout).map_err(|error| invalid("one JSON value", &error)),
        StdoutKind::Jsonl => json::lines(stdout).map_err(|error| invalid("one JSON value a line", &error)),
        StdoutKind::Text => match std::str::from_utf8(stdout.strip_prefix(BOM).unwrap_or(stdout)) {
            Ok(text) => to_raw_value(&json!({"text": text})).map_err(|error| internal(&error)),
            Err(error) => {
                let dropped = if stdout.starts_with(BOM) { BOM.len() } else { 0 };
                Err(not_utf8(dropped + error.valid_up_to()))
            }
        },
    }
}

fn internal(error: &serde_json::Error) -> Fault {
    Fault::new(Reason::Internal, format!("the output could not be put together: {error}"))
}

fn invalid(declared: &str, error: &JsonError) -> Fault {
    let message = format!("standard output is not {declared}: {}", error.placed());
    let hint = error.hint.as_ref().map_or_else(
        || "print nothing but the answer on standard output; words for people belong on standard error".to_owned(),
        |hint| hint.to_string(),
    );
    Fault::new(Reason::InvalidOutput, message).hint(hint).details(json!({"offset": error.offset}))
}

fn not_utf8(offset: usize) -> Fault {
    Fault::new(Reason::InvalidOutput, format!("standard output is not UTF-8 text (at byte {offset})"))
        .hint("print UTF-8; bytes of another kind belong into a file in TOOLCELL_OUT")
        .details(json!({"offset": offset}))
}

/// Whether the output keeps the contract's output_schema, where there is one.
pub(super) fn keeps_schema(call: &Call, output: &RawValue) -> Result<(), Fault> {
    let Some(schema) = &call.contract.output_schema else { return Ok(()) };
    let validator = Validator::compile(schema).map_err(|error| {
        Fault::new(Reason::InvalidContract, format!("output_schema cannot be used: {error}"))
            .hint("mend the output_schema in capability.json")
    })?;
    let value = json::value(output.get().as_bytes()).map_err(|error| {
        Fault::new(Reason::InvalidOutput, format!("standard output cannot be checked: {}", error.message))
            .hint("leave large data as a file in TOOLCELL_OUT, and print what sums it up")
            .details(json!({"offset": error.offset}))
    })?;
    match validator.violations(&value).as_slice() {
        [] => Ok(()),
        violations => Err(breaks_schema(violations)),
    }
}

fn breaks_schema(violations: &[Violation]) -> Fault {
    let first = violations.first().map_or_else(String::new, |first| {
        let place = if first.instance.is_empty() { "the whole value" } else { first.instance.as_str() };
        format!(": {place}: {}", first.message)
    });
    let more = match violations.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let listed: Vec<Value> = violations
        .iter()
        .take(LISTED)
        .map(|one| json!({"instance": one.instance, "schema": one.schema, "found": one.found, "message": one.message}))
        .collect();
    Fault::new(Reason::OutputSchema, format!("the output breaks output_schema{first}{more}"))
        .hint("the tool and its contract have drifted apart: mend the tool, or give the contract a new version")
        .details(json!({"violations": listed, "violations_total": violations.len()}))
}
