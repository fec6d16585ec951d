//! Any Call and any Outcome.

use crate::support::*;
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use toolcell::call::{Call, ExitMeaning, StdoutKind};
use toolcell::layer::{Layer, LayerReport};
use toolcell::outcome::{End, Events, KillCause, Outcome, StartFailure, StartFailureKind, Usage};
use toolcell_tool::Status;

fn end() -> impl Strategy<Value = End> {
    let codes = prop_oneof![Just(0), 60..80_u8, any::<u8>()];
    prop_oneof![codes.prop_map(End::Exited), any::<i32>().prop_map(End::Signaled), (0..65).prop_map(End::Signaled)]
}

fn kill() -> impl Strategy<Value = KillCause> {
    prop_oneof![
        Just(KillCause::Deadline),
        Just(KillCause::Memory),
        Just(KillCause::OutputLimit),
        Just(KillCause::Cancelled)
    ]
}

fn status() -> impl Strategy<Value = Status> {
    (0..Status::ALL.len()).prop_map(|place| Status::ALL[place])
}

fn failure() -> impl Strategy<Value = StartFailure> {
    use StartFailureKind::{Ended, Internal, Program, Sandbox, Secret};
    let kind = prop_oneof![Just(Program), Just(Sandbox), Just(Secret), Just(Internal), Just(Ended)];
    (kind, any::<String>(), of(any::<String>())).prop_map(|(kind, text, hint)| StartFailure {
        kind,
        step: text.clone(),
        errno: hint.clone(),
        object: text.clone(),
        message: text,
        hint,
    })
}

/// Bytes, words that matter to the verdict, and error objects.
fn stdout() -> impl Strategy<Value = Vec<u8>> {
    let object = (of(status()), of("[a-zA-Z_]{0,70}"), of(any::<bool>()), of(any::<u64>()), of("[0-9]|\\{\\}"))
        .prop_map(|(status, reason, retryable, after, output)| {
            let error = serde_json::json!({
                "status": status, "reason": reason, "retryable": retryable, "retry_after_ms": after,
            });
            let output = output.map(|output| format!(",\"output\":{output}")).unwrap_or_default();
            format!("{{\"error\":{error}{output}}}").into_bytes()
        });
    let words = prop_oneof![Just(""), Just("{\"n\":1}"), Just("[]"), Just("\u{feff}1"), Just("{\"error\":\"x\"}")];
    prop_oneof![vec(any::<u8>(), 0..64), words.prop_map(|text| text.as_bytes().to_vec()), object]
}

fn report() -> impl Strategy<Value = LayerReport> {
    prop_oneof![
        Just(LayerReport::enforced()),
        Just(LayerReport::off()),
        Just(LayerReport::missing("m")),
        Just(LayerReport::degraded("d"))
    ]
}

prop_compose! {
    pub fn outcome()(
        failure in of(failure()),
        started in prop::bool::weighted(0.9),
        end in of(end()),
        killed_by in prop_oneof![Just(None), of(kill())],
        flags in any::<[bool; 6]>(),
        secret in prop::bool::weighted(0.1),
        stdout in stdout(),
        counts in any::<[Option<u64>; 5]>(),
        leaked in any::<u32>(),
        layers in btree_map((0..16_usize).prop_map(|place| Layer::ALL[place]), report(), 0..4),
    ) -> Outcome {
        let [escalated, closed, unreaped, tmp_full, cut, stderr_cut] = flags;
        let [oom_kills, pids_limit_hits, throttled_ms, wall_ms, memory_peak_bytes] = counts;
        let mut outcome = Outcome {
            failure: failure.filter(|_| !started),
            end, killed_by, escalated, unreaped, layers,
            stdout: bytes(stdout),
            stdin_closed_early: closed,
            secret_in_output: secret,
            leaked_processes: leaked,
            usage: Usage { wall_ms, memory_peak_bytes, ..Usage::default() },
            events: Events { oom_kills: oom_kills.filter(|kills| kills % 4 == 0), pids_limit_hits, throttled_ms, tmp_full },
            ..Outcome::default()
        };
        outcome.stdout.truncated = cut && escalated;
        outcome.stderr.truncated = stderr_cut;
        outcome
    }
}

prop_compose! {
    pub fn some_call()(
        codes in btree_map(prop_oneof![Just(1_u8), any::<u8>()], (status(), of("[a-z_]{1,9}"), any::<bool>()), 0..40),
        kind in prop_oneof![Just(StdoutKind::Json), Just(StdoutKind::Jsonl), Just(StdoutKind::Text)],
        schema in any::<bool>(),
    ) -> Call {
        let mut call = if schema { typed() } else { call() };
        call.stdio.stdout = kind;
        let meaning = |(status, reason, retryable)| ExitMeaning { status, reason, retryable };
        call.contract.exit_codes = codes.into_iter().map(|(code, what)| (code, meaning(what))).collect();
        call
    }
}
