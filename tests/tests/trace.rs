//! Trace context: what the caller has, what the tool sees, what the envelope says.
use serde_json::{Value, json};
use toolcell_tests::{Answer, Scene};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "b7ad6b7169203331";
const SHOW: &str = "#!/bin/sh\ncat >/dev/null\nprintf '{\"tp\":\"%s\",\"otel\":\"%s\",\"ts\":\"%s\",\"bg\":\"%s\"}' \
    \"$TRACEPARENT\" \"$OTEL_TRACEPARENT\" \"${TRACESTATE-none}\" \"${BAGGAGE-none}\"\n";

fn parent() -> String {
    format!("00-{TRACE}-{SPAN}-01")
}

/// A call with these variables around toolcell and these flags.
fn call(vars: &[(&str, &str)], flags: &[&str]) -> Answer {
    let scene = Scene::new();
    scene.script("show", SHOW, "profile = \"standard\"\n");
    let mut command = scene.command();
    command.envs(vars.iter().copied()).args(["run", "show"]).args(flags);
    toolcell_tests::finish(&mut command, b"{}")
}

/// The parts of the traceparent the tool saw: trace id, span id, flags.
fn seen(answer: &Answer) -> (String, String, String) {
    let output = answer.output();
    assert_eq!(output["tp"], output["otel"], "the alias is the same");
    let parts: Vec<String> = output["tp"].as_str().expect("a text").split('-').map(str::to_owned).collect();
    let hex = |text: &str, length: usize| {
        text.len() == length
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && text.bytes().any(|byte| byte != b'0')
    };
    assert!(parts.len() == 4 && parts[0] == "00" && hex(&parts[1], 32) && hex(&parts[2], 16), "{parts:?}");
    (parts[1].clone(), parts[2].clone(), parts[3].clone())
}

fn ids(answer: &Answer) -> (String, String) {
    let text = |name: &str| answer.at(name).as_str().unwrap_or_default().to_owned();
    (text("/trace/trace_id"), text("/trace/span_id"))
}

#[test]
fn the_tool_is_a_child_in_the_callers_trace() {
    let parent = parent();
    for (vars, flags) in
        [(&[("TRACEPARENT", parent.as_str())][..], &[][..]), (&[], &["--traceparent", parent.as_str()][..])]
    {
        let answer = call(vars, flags);
        let (trace, span, sampled) = seen(&answer);
        assert_eq!((trace.as_str(), sampled.as_str()), (TRACE, "01"));
        let (envelope_trace, envelope_span) = ids(&answer);
        assert_eq!(envelope_trace, TRACE);
        // Three spans: the caller's, the call's in the envelope, the attempt's that the tool sees.
        assert!(span != SPAN && envelope_span != SPAN && span != envelope_span, "{span} {envelope_span}");
        assert_eq!(answer.warnings(), Vec::<String>::new());
    }
}

#[test]
fn the_flag_wins_over_the_environment() {
    let other = format!("00-{}-{SPAN}-01", "f".repeat(32));
    let answer = call(&[("TRACEPARENT", &other), ("TRACESTATE", "of=other")], &["--traceparent", &parent()]);
    assert_eq!(seen(&answer).0, TRACE);
    assert_eq!(answer.output()["ts"], "none", "a state belongs to its own parent");
}

#[test]
fn a_trace_state_is_passed_on_and_baggage_is_not() {
    let answer = call(&[("TRACEPARENT", &parent()), ("TRACESTATE", "vendor=abc,other=1"), ("BAGGAGE", "user=42")], &[]);
    assert_eq!(
        (answer.output()["ts"].clone(), answer.output()["bg"].clone()),
        (json!("vendor=abc,other=1"), json!("none"))
    );
    let orphan = call(&[("TRACESTATE", "vendor=abc")], &[]);
    assert_eq!(orphan.output()["ts"], "none", "a state without a parent means nothing");
}

#[test]
fn a_decision_not_to_sample_is_kept() {
    let answer = call(&[("TRACEPARENT", &format!("00-{TRACE}-{SPAN}-00"))], &[]);
    assert_eq!(seen(&answer), (TRACE.to_owned(), seen(&answer).1, "00".to_owned()));
}

#[test]
fn a_malformed_parent_is_replaced_and_said() {
    for bad in [
        "garbage".to_owned(),
        format!("00-{TRACE}-{SPAN}"),
        format!("00-{TRACE}-{SPAN}-01-more"),
        format!("ff-{TRACE}-{SPAN}-01"),
        format!("00-{}-{SPAN}-01", "0".repeat(32)),
        format!("00-{TRACE}-{}-01", "0".repeat(16)),
        format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
        "x".repeat(100_000),
    ] {
        for answer in [call(&[("TRACEPARENT", &bad)], &[]), call(&[], &[&format!("--traceparent={bad}")])] {
            let (trace, ..) = seen(&answer);
            assert_ne!(trace, TRACE);
            assert_eq!(ids(&answer).0, trace);
            assert_eq!(answer.warnings(), ["trace_context_dropped"], "{}", &bad[..bad.len().min(80)]);
            assert!(answer.stdout.len() < 10_000, "the bad value is not repeated whole");
        }
    }
}

#[test]
fn without_a_parent_every_call_has_a_trace_of_its_own() {
    let scene = Scene::new();
    scene.script("show", SHOW, "profile = \"standard\"\n");
    let calls: Vec<Answer> = (0..3).map(|_| scene.run("show", &json!({}), &[])).collect();
    let mut traces: Vec<String> = calls.iter().map(|answer| seen(answer).0).collect();
    for (answer, trace) in calls.iter().zip(&traces) {
        assert_eq!((&ids(answer).0, seen(answer).2.as_str()), (trace, "01"));
    }
    traces.sort();
    traces.dedup();
    assert_eq!(traces.len(), 3);
}

#[test]
fn refused_calls_have_a_place_in_the_trace_too() {
    let parent = parent();
    let scene = Scene::new();
    let answer = scene.run("no_such", &json!({}), &["--traceparent", &parent]);
    answer.expect("call_error", "unknown_capability");
    assert_eq!(ids(&answer).0, TRACE);
    assert_eq!(ids(&answer).1.len(), 16);
    let usage = scene.toolcell(&["run", "x", "--no-such-flag"], b"");
    assert_eq!((ids(&usage).0.len(), ids(&usage).1.len()), (32, 16));
    scene.script("show", SHOW, "profile = \"standard\"\n");
    let early = scene.run("show", &json!({}), &["--traceparent", &parent, "--input", "none.json"]);
    early.expect("call_error", "usage");
    assert_eq!(ids(&early).0, TRACE, "a refusal before resolution keeps the caller's trace");
    let named = scene.run("show", &json!({}), &["--call-id", "mine", "--input", "none.json"]);
    assert_eq!(named.at("/call_id"), "mine", "a refusal before resolution keeps the caller's id");
    assert_eq!(named.at("/record/stored"), Value::Bool(false));
}
