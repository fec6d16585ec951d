//! What holds for any outcome at all.

use crate::arbitrary::{outcome, some_call};
use crate::support::*;
use proptest::prelude::*;
use toolcell::call::Call;
use toolcell::classify::classify;
use toolcell::envelope::WarningCode;
use toolcell::exit_code::exit_code;
use toolcell::outcome::{End, KillCause, Outcome, StartFailureKind};
use toolcell_tool::Status;

/// Whether tool.toml, the tool crate's table or (where both are silent) an error object stands for this status.
fn spoken_for(status: Status, call: &Call, outcome: &Outcome) -> bool {
    let Some(End::Exited(code @ 1..)) = outcome.end else { return false };
    if outcome.failure.is_some() || outcome.killed_by.is_some() || outcome.secret_in_output {
        return false;
    }
    let declared = call.contract.exit_codes.get(&code).map(|meaning| meaning.status);
    match declared.or_else(|| toolcell_tool::exit::lookup(code.into()).map(|row| row.status)) {
        Some(named) => named == status,
        None => outcome.stdout.kept.lossy().contains(&format!("\"status\":\"{}\"", status.as_str())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_verdict_is_total_and_keeps_its_promises(call in some_call(), outcome in outcome()) {
        let verdict = classify(&call, &outcome);
        let ok = verdict.status == Status::Ok;
        prop_assert_eq!(verdict.error.is_none(), ok);
        if ok {
            let Some(End::Exited(code)) = outcome.end else { return Err(TestCaseError::fail("ok without an exit")) };
            let declared = call.contract.exit_codes.get(&code).map(|meaning| meaning.status);
            prop_assert!(code == 0 || declared == Some(Status::Ok));
            prop_assert!(outcome.failure.is_none() && outcome.killed_by.is_none());
            prop_assert!(!outcome.secret_in_output && !outcome.stdout.truncated);
            prop_assert!(verdict.output.is_some());
            prop_assert!(outcome.events.oom_kills.unwrap_or(0) == 0);
        }
        if verdict.output.is_some() {
            prop_assert!(ok || verdict.status == Status::DataLimitation);
        }
        if verdict.status == Status::CallError {
            let cancelled = outcome.killed_by == Some(KillCause::Cancelled);
            prop_assert!(cancelled || spoken_for(Status::CallError, &call, &outcome));
        }
        if verdict.status == Status::DataLimitation {
            prop_assert!(spoken_for(Status::DataLimitation, &call, &outcome));
        }
        if let Some(error) = &verdict.error {
            prop_assert!(!error.retryable || verdict.status == Status::ChannelFailure);
            prop_assert!(error.retryable || error.retry_after_ms.is_none());
            prop_assert!(!error.reason.is_empty() && error.details.is_object());
        }
        let code = exit_code(verdict.status, verdict.error.as_ref());
        prop_assert!([0, 64, 66, 69, 70, 75].contains(&code));
        prop_assert_eq!(code == 0, ok);
    }

    #[test]
    fn standard_error_and_repetition_change_nothing(call in some_call(), outcome in outcome(), words in any::<String>()) {
        let first = classify(&call, &outcome);
        let mut loud = outcome.clone();
        loud.stderr.kept = format!("Killed\nout of memory\ntimeout\n{words}").into();
        let second = classify(&call, &loud);
        prop_assert_eq!(line(&first), line(&classify(&call, &outcome)));
        prop_assert_eq!(line(&first), line(&second));
    }

    #[test]
    fn what_was_seen_outranks_what_the_tool_says(call in some_call(), outcome in outcome()) {
        let verdict = classify(&call, &outcome);
        let reason = verdict.error.as_ref().map(|error| error.reason.as_str());
        if let Some(expected) = seen(&outcome) {
            prop_assert_eq!(reason, Some(expected));
            prop_assert!(verdict.output.is_none());
            // Other words of the tool cannot change it.
            let mut silent = outcome.clone();
            silent.stdout.kept = Vec::new().into();
            prop_assert_eq!(classify(&call, &silent).error.map(|error| error.reason), Some(expected.to_owned()));
        } else {
            let reserved = ["cancelled", "timeout", "out_of_memory", "output_limit", "secret_in_output", "crashed"];
            let declared = outcome.end.and_then(code).and_then(|code| call.contract.exit_codes.get(&code));
            let own = declared.and_then(|meaning| meaning.reason.as_deref());
            let said = reason.is_some_and(|reason| outcome.stdout.kept.lossy().contains(reason));
            prop_assert!(!reason.is_some_and(|reason| reserved.contains(&reason)) || said || own == reason);
        }
    }

    #[test]
    fn no_warning_comes_twice(call in some_call(), outcome in outcome()) {
        // One for each layer, one for each of two contradictions.
        let several = [WarningCode::LayerDegraded, WarningCode::ClassConflict];
        let warnings = classify(&call, &outcome).warnings;
        for (place, warning) in warnings.iter().enumerate() {
            prop_assert!(!warning.message.is_empty() && warning.details.is_object(), "{:?}", warning);
            let again = |other: &&_| warning == *other || (warning.code == other.code && !several.contains(&warning.code));
            prop_assert!(!warnings[..place].iter().any(|other| again(&other)), "{:?}", warning);
        }
    }
}

fn code(end: End) -> Option<u8> {
    match end {
        End::Exited(code) => Some(code),
        End::Signaled(_) => None,
    }
}

/// The reason by what toolcell itself did or saw, in the order of docs/exit-codes.md; none where the exit decides.
fn seen(outcome: &Outcome) -> Option<&'static str> {
    let starved = outcome.killed_by == Some(KillCause::Memory) || outcome.events.oom_kills.unwrap_or(0) > 0;
    if let Some(failure) = &outcome.failure {
        return Some(match (failure.kind, outcome.killed_by) {
            (StartFailureKind::Ended, Some(KillCause::Cancelled)) => "cancelled",
            (StartFailureKind::Ended, Some(KillCause::Deadline)) => "timeout",
            _ if starved => "out_of_memory",
            (StartFailureKind::Program, _) => "start_failed",
            (StartFailureKind::Sandbox, _) => "sandbox_unavailable",
            (StartFailureKind::Secret, _) => "secret_missing",
            (StartFailureKind::Internal | StartFailureKind::Ended, _) => "internal",
        });
    }
    match (outcome.killed_by, outcome.end) {
        _ if outcome.secret_in_output => Some("secret_in_output"),
        (Some(KillCause::Cancelled), _) => Some("cancelled"),
        _ if starved => Some("out_of_memory"),
        (Some(KillCause::Deadline), _) => Some("timeout"),
        (Some(KillCause::OutputLimit), _) => Some("output_limit"),
        _ if outcome.stdout.truncated => Some("output_limit"),
        (_, None) => Some("internal"),
        (_, Some(End::Signaled(libc::SIGSYS))) => Some("sandbox_violation"),
        (_, Some(End::Signaled(libc::SIGXFSZ))) => Some("file_size_limit"),
        (_, Some(End::Signaled(_))) => Some("crashed"),
        (_, Some(End::Exited(_))) => None,
    }
}
