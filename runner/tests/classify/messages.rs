//! Messages say the fact, hints the way out, details the numbers.

use crate::support::*;
use serde_json::json;
use toolcell::classify::classify;
use toolcell::envelope::CallError;
use toolcell::outcome::End::{Exited, Signaled};
use toolcell::outcome::KillCause::{Deadline, Memory, OutputLimit};
use toolcell::outcome::{Outcome, StartFailureKind};
use toolcell_tool::Status;

fn error(call: &toolcell::call::Call, outcome: &Outcome) -> CallError {
    classify(call, outcome).error.expect("a failure")
}

#[test]
fn a_timeout_says_the_limit_and_whether_the_tool_had_to_be_killed() {
    let ended = error(&call(), &killed(Deadline, Exited(0)));
    assert_eq!(ended.message, "the tool was still running at the deadline of 2 s; it ended within the grace of 500 ms");
    let outcome = and(killed(Deadline, Signaled(9)), |outcome| outcome.escalated = true);
    let killed = error(&call(), &outcome);
    assert!(killed.message.ends_with("killed with SIGKILL after a grace of 500 ms"), "{}", killed.message);
    assert_eq!(killed.details["escalated"], true);
    assert_eq!(killed.details["limit_ms"], 2000);
    assert!(killed.hint.unwrap().contains("--timeout"));
}

#[test]
fn out_of_memory_says_the_limit_and_the_peak() {
    let outcome = oom(and(killed(Memory, Signaled(9)), |o| o.usage.memory_peak_bytes = Some(63 * MIB + 512 * KIB)));
    let error = error(&call(), &outcome);
    assert_eq!(error.message, "the kernel's OOM killer struck in the call (limit 64 MiB, peak 63.5 MiB)");
    let peak = 63 * MIB + 512 * KIB;
    let details = json!({"limit_bytes": 64 * MIB, "peak_bytes": peak, "oom_kills": 1, "killed_by": "memory"});
    assert_eq!(error.details, details);
}

#[test]
fn too_much_output_says_the_limit() {
    let error = error(&call(), &killed(OutputLimit, Signaled(9)));
    assert_eq!(error.message, "standard output grew beyond its limit of 8 MiB");
    assert_eq!(error.details["limit_bytes"], 8 * MIB);
}

#[test]
fn a_crash_names_the_signal() {
    let error = error(&call(), &signaled(11));
    assert_eq!(error.message, "the tool was killed by SIGSEGV, which toolcell did not send");
    assert_eq!(error.details, json!({"signal": "SIGSEGV", "signal_number": 11}));
}

#[test]
fn an_unnamed_exit_code_says_how_to_name_it() {
    let named = error(&call(), &exited(3, ""));
    assert_eq!(named.message, "the tool ended with exit code 3, which nothing declares");
    assert!(named.hint.unwrap().contains("`[exit_codes]` `3 ="));
    let exec = error(&with(|call| call.capability = None), &exited(3, ""));
    assert!(!exec.hint.unwrap().contains("tool.toml"));
}

#[test]
fn a_start_failure_keeps_its_step_error_and_object() {
    let error = error(&call(), &failed(StartFailureKind::Program, None));
    assert_eq!(error.message, "exec /tool/run: no such file");
    assert_eq!(error.details, json!({"step": "exec", "errno": "ENOENT", "object": "/tool/run"}));
    assert!(error.hint.unwrap().contains("toolcell plan"));
}

#[test]
fn invalid_output_says_where_and_a_broken_schema_says_what() {
    let invalid = error(&call(), &exited(0, "{} x"));
    assert!(invalid.message.contains("at byte"), "{}", invalid.message);
    assert!(invalid.details["offset"].is_u64());
    let broken = error(&typed(), &exited(0, r#"{"n":"x"}"#));
    assert!(broken.message.contains("/n"), "{}", broken.message);
    assert_eq!(broken.details["violations"][0]["instance"], "/n");
    assert_eq!(broken.details["violations_total"], 1);
}

#[test]
fn the_tool_speaks_for_itself() {
    let said = r#"{"error":{"message":"no such fund","details":{"isin":18446744073709551616}}}"#;
    let formal = error(&call(), &exited(66, said));
    assert_eq!(formal.message, "no such fund");
    assert_eq!(formal.details.to_string(), r#"{"isin":18446744073709551616}"#);
    // F10: a declared call error is not judged by output_schema, and its plain message is passed on.
    let mut declared = declaring(3, Status::CallError, None, false);
    declared.contract.output_schema = typed().contract.output_schema;
    let plain = error(&declared, &exited(3, r#"{"code":"auth","message":"token expired"}"#));
    assert_eq!((plain.message.as_str(), plain.reason.as_str()), ("token expired", "rejected_input"));
    assert_eq!(plain.details, json!({"exit_code": 3}));
}

#[test]
fn every_failure_of_a_started_tool_and_of_the_host_has_a_way_out_or_the_tools_own_words() {
    let ends = (0..=64).map(signaled).chain([1, 2, 124, 137].map(|code| exited(code, "")));
    let starts = [StartFailureKind::Program, StartFailureKind::Sandbox, StartFailureKind::Secret];
    for outcome in ends.chain(starts.map(|kind| failed(kind, None))) {
        let error = error(&call(), &outcome);
        assert!(error.hint.is_some(), "{error:?}");
    }
}
