//! Envelopes put together: for a refusal, and for a call that was attempted.

use crate::call::Call;
use crate::classify::Verdict;
use crate::envelope::{
    CallError, CapabilityName, Envelope, Exit, RecordState, SCHEMA, Sandbox, StderrText, Trace, Usage, Warning,
};
use crate::layer;
use crate::outcome::{End, Outcome};
use crate::refusal::Refusal;
use crate::signal;

/// Everything an envelope says of a call that was attempted.
#[derive(Debug)]
pub struct Answered<'a> {
    /// The call's id.
    pub call_id: String,
    /// What was to be run.
    pub call: &'a Call,
    /// What was seen of each attempt, in order; the last one was judged.
    pub attempts: &'a [Outcome],
    /// The judgement.
    pub verdict: Verdict,
    /// From acceptance to the verdict, milliseconds.
    pub wall_ms: u64,
    /// The trace this call belongs to.
    pub trace: Trace,
    /// What was kept of it.
    pub record: RecordState,
    /// Warnings beyond those of the verdict.
    pub warnings: Vec<Warning>,
}

impl Envelope {
    /// The answer to a request that no process was started for.
    pub fn refused(call_id: String, capability: Option<CapabilityName>, refusal: &Refusal, trace: Trace) -> Envelope {
        Envelope {
            schema: SCHEMA.to_owned(),
            call_id,
            capability,
            status: refusal.reason.status(),
            output: None,
            error: Some(CallError::from(refusal)),
            exit: Exit::default(),
            killed_by: None,
            usage: Usage::default(),
            stderr: StderrText::default(),
            files: Vec::new(),
            attempts: 0,
            warnings: Vec::new(),
            sandbox: Sandbox::default(),
            trace,
            record: RecordState::default(),
        }
    }

    /// The answer to a call that was attempted. `exit`, `stderr`, `files`, `sandbox` and the byte counts are the last
    /// attempt's.
    pub fn answered(parts: Answered<'_>) -> Envelope {
        let Answered { call_id, call, attempts, mut verdict, wall_ms, trace, record, warnings } = parts;
        let last = attempts.last();
        verdict.warnings.extend(warnings);
        Envelope {
            schema: SCHEMA.to_owned(),
            call_id,
            capability: call.capability.as_ref().map(|capability| CapabilityName {
                id: capability.id.clone(),
                version: capability.version.clone(),
                supplier: capability.supplier.clone(),
            }),
            status: verdict.status,
            output: verdict.output,
            error: verdict.error,
            exit: exit(last.and_then(|last| last.end)),
            killed_by: last.and_then(|last| last.killed_by),
            usage: usage(attempts, wall_ms),
            stderr: last.map(stderr).unwrap_or_default(),
            files: last.map(|last| last.files.clone()).unwrap_or_default(),
            attempts: u32::try_from(started(attempts).count()).unwrap_or(u32::MAX),
            warnings: verdict.warnings,
            sandbox: sandbox(call, last),
            trace,
            record,
        }
    }

    /// As JSON on one line, or indented. The tool's own text in `output` is the same bytes in both; where it has line
    /// breaks the envelope has them too (see [`Envelope::to_line`]).
    ///
    /// # Panics
    /// Never: every map in an envelope has strings or unit variants for keys.
    pub fn to_json(&self, pretty: bool) -> String {
        let text = if pretty { serde_json::to_string_pretty(self) } else { serde_json::to_string(self) };
        text.expect("an envelope has only strings for keys")
    }

    /// As JSON without any line break, for protocols of one document a line. A line break that stands in JSON text is
    /// white space between tokens, so a blank in its place changes no value.
    pub fn to_line(&self) -> String {
        self.to_json(false).replace(['\n', '\r'], " ")
    }
}

/// The attempts that started a process.
fn started(attempts: &[Outcome]) -> impl Iterator<Item = &Outcome> {
    attempts.iter().filter(|attempt| attempt.failure.is_none())
}

fn exit(end: Option<End>) -> Exit {
    match end {
        Some(End::Exited(code)) => Exit { code: Some(code), signal: None },
        Some(End::Signaled(number)) => Exit { code: None, signal: Some(signal::name(number)) },
        None => Exit::default(),
    }
}

/// A sum is only given when every part of it was measured.
fn usage(attempts: &[Outcome], wall_ms: u64) -> Usage {
    let last = attempts.last().filter(|last| last.failure.is_none());
    let cpu = started(attempts).try_fold(0_u64, |sum, attempt| Some(sum.saturating_add(attempt.usage.cpu_ms?)));
    Usage {
        wall_ms,
        cpu_ms: cpu.filter(|_| started(attempts).next().is_some()),
        memory_peak_bytes: started(attempts).filter_map(|attempt| attempt.usage.memory_peak_bytes).max(),
        pids_peak: started(attempts).filter_map(|attempt| attempt.usage.pids_peak).max(),
        stdout_bytes: last.map(|last| last.stdout.total),
        stderr_bytes: last.map(|last| last.stderr.total),
    }
}

fn stderr(last: &Outcome) -> StderrText {
    StderrText { text: last.stderr.kept.lossy().into_owned(), truncated: last.stderr.truncated }
}

fn sandbox(call: &Call, last: Option<&Outcome>) -> Sandbox {
    let ran = last.filter(|last| last.failure.is_none());
    let layers = last.map(|last| &last.layers).into_iter().flatten();
    Sandbox {
        profile: Some(call.profile.clone()),
        level: ran.map(|last| layer::level(&last.layers)),
        layers: layers.map(|(layer, report)| (*layer, report.state)).collect(),
        denied: None,
    }
}
