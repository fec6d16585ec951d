//! Envelopes as they are printed.

#[path = "classify/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the verdict")]
mod support;

use serde_json::{Value, json};
use support::{and, call, exited, failed, signaled};
use toolcell::Answered;
use toolcell::call::Call;
use toolcell::classify::classify;
use toolcell::envelope::{Envelope, RecordState, Trace, Warning, WarningCode};
use toolcell::layer::{Layer, LayerReport};
use toolcell::outcome::{Outcome, StartFailureKind};
use toolcell::reason::Reason;
use toolcell::refusal::Refusal;

fn answered(call: &Call, attempts: &[Outcome]) -> Envelope {
    Envelope::answered(Answered {
        call_id: "id".into(),
        call,
        attempts,
        verdict: classify(call, attempts.last().unwrap_or(&Outcome::default())),
        wall_ms: 12,
        trace: Trace { trace_id: "0".repeat(32), span_id: "0".repeat(16) },
        record: RecordState::default(),
        warnings: vec![Warning { code: WarningCode::RecordNotStored, message: "full".into(), details: json!({}) }],
    })
}

fn used(cpu: Option<u64>, memory: Option<u64>, stdout: &str) -> Outcome {
    and(exited(0, stdout), |outcome| {
        outcome.usage.cpu_ms = cpu;
        outcome.usage.memory_peak_bytes = memory;
    })
}

#[test]
fn cpu_is_summed_and_peaks_are_the_highest() {
    let attempts = [used(Some(5), Some(70), "1"), used(Some(6), Some(9), "22")];
    let envelope = answered(&call(), &attempts);
    assert_eq!(envelope.usage.cpu_ms, Some(11));
    assert_eq!(envelope.usage.memory_peak_bytes, Some(70));
    assert_eq!(envelope.usage.stdout_bytes, Some(2));
    assert_eq!(envelope.attempts, 2);
    assert_eq!(answered(&call(), &[used(None, None, "1"), used(Some(6), None, "1")]).usage.cpu_ms, None);
}

#[test]
fn what_never_started_has_used_nothing_that_could_be_measured() {
    let envelope = answered(&call(), &[failed(StartFailureKind::Sandbox, None)]);
    assert_eq!((envelope.attempts, envelope.sandbox.level), (0, None));
    assert_eq!((envelope.usage.cpu_ms, envelope.usage.stdout_bytes), (None, None));
    assert_eq!(answered(&call(), &[]).attempts, 0);
}

#[test]
fn a_signal_has_its_name_and_the_layers_their_state() {
    let outcome = and(signaled(11), support::layer(Layer::Proc, LayerReport::missing("masked")));
    let envelope: Value = serde_json::from_str(&answered(&call(), &[outcome]).to_json(false)).unwrap();
    assert_eq!(envelope["exit"], json!({"code": null, "signal": "SIGSEGV"}));
    assert_eq!(envelope["sandbox"]["layers"], json!({"proc": "missing"}));
    assert_eq!(envelope["warnings"][1]["code"], "record_not_stored");
    assert_eq!(envelope["record"], json!({"stored": false, "replay": null}));
}

#[test]
fn the_tools_own_text_survives_in_every_form() {
    let text = "{\"z\": 9007199254740993,\n \"a\":-0, \"s\":\"a\\nb\", \"d\":1.10}";
    let envelope = answered(&call(), &[exited(0, text)]);
    assert!(envelope.to_json(false).contains(text));
    assert!(envelope.to_json(true).contains(text));
    assert!(envelope.to_json(true).lines().count() > 20);
    let line = envelope.to_line();
    assert!(!line.contains('\n') && line.contains(&text.replace('\n', " ")));
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), serde_json::to_value(&envelope).unwrap());
}

#[test]
fn a_refusal_is_an_envelope_too() {
    let refusal = Refusal::new(Reason::UnknownCapability, "no capability `x`").hint("toolcell list");
    let envelope = Envelope::refused("id".into(), None, &refusal, Trace::default());
    let value: Value = serde_json::from_str(&envelope.to_json(false)).unwrap();
    assert_eq!(value["status"], "call_error");
    assert_eq!(value["error"]["reason"], "unknown_capability");
    assert_eq!(value["capability"], Value::Null);
    assert_eq!(value["attempts"], 0);
}
