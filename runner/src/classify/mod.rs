//! The verdict: a pure, total function of the Call and the Outcome.
//!
//! Strongest evidence first:
//! 1. what toolcell itself did or saw (`seen`): no start, a secret in the output, a cancellation, the OOM killer, the
//!    deadline, too much output, a signal;
//! 2. `exit_codes` of tool.toml;
//! 3. the exit codes of the toolcell-tool crate (both in `exit`; for exit 0 the output itself is judged, in `stdout`);
//! 4. an error object on standard output (`said`), which refines, and sets the status only where 2 and 3 are silent.
//!
//! Text on standard error is never read, and no meaning is guessed from the numbers 9, 124 or 137.

mod exit;
mod facts;
mod fault;
mod said;
mod seen;
mod stdout;

use crate::call::Call;
use crate::envelope::{CallError, Warning};
use crate::outcome::Outcome;
use fault::Fault;
use serde_json::value::RawValue;
use toolcell_tool::Status;

/// What became of an attempt.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Which of the four things happened.
    pub status: Status,
    /// Why not; none exactly when `status` is `ok`.
    pub error: Option<CallError>,
    /// The tool's own JSON: the answer (`ok`) or a partial one (`data_limitation`).
    pub output: Option<Box<RawValue>>,
    /// Facts beside the verdict.
    pub warnings: Vec<Warning>,
}

/// Judges one attempt.
pub fn classify(call: &Call, outcome: &Outcome) -> Verdict {
    let mut verdict = judge(call, outcome);
    let mut warnings = facts::warnings(call, outcome);
    warnings.append(&mut verdict.warnings);
    Verdict { warnings, ..verdict }
}

fn judge(call: &Call, outcome: &Outcome) -> Verdict {
    match seen::exit_code(call, outcome) {
        Ok(0) => stdout::answer(call, outcome.stdout.kept.as_bytes()),
        Ok(code) => exit::judge(call, outcome, code),
        Err(fault) => {
            let shown = !outcome.secret_in_output;
            let partial = shown
                .then(|| facts::stdout_partial("the tool was ended before it had finished", &outcome.stdout))
                .flatten();
            Verdict { warnings: partial.into_iter().collect(), ..fault.into() }
        }
    }
}

impl From<Fault> for Verdict {
    fn from(fault: Fault) -> Self {
        Self { status: fault.reason.status(), error: Some(*fault.error), output: None, warnings: Vec::new() }
    }
}
