//! Facts beside the verdict.

use crate::support::*;
use serde_json::Value;
use toolcell::call::Note;
use toolcell::classify::classify;
use toolcell::envelope::WarningCode;
use toolcell::layer::{Layer, LayerReport};
use toolcell::outcome::KillCause::Deadline;
use toolcell::outcome::{End, Outcome};

fn fine(change: impl FnOnce(&mut Outcome)) -> Outcome {
    and(exited(0, "1"), change)
}

#[test]
fn each_fact_has_its_warning() {
    let throttled = |stopped, wall| {
        move |outcome: &mut Outcome| {
            outcome.events.throttled_ms = stopped;
            outcome.usage.wall_ms = wall;
        }
    };
    let noted = with(|call| {
        call.notes.push(Note { code: WarningCode::LimitClamped, message: "memory was cut".into() });
        call.notes.push(Note { code: WarningCode::ProfilePathMissing, message: "/x".into() });
    });
    let noted_outcome = fine(|o| o.unreaped = true);
    check(vec![
        ("leaked", call(), fine(|o| o.leaked_processes = 2), "ok out 1 ! leaked_processes"),
        ("stdin", call(), fine(|o| o.stdin_closed_early = true), "ok out 1 ! stdin_closed_early"),
        ("over 10 %", call(), fine(throttled(Some(101), Some(1000))), "ok out 1 ! throttled"),
        ("just 10 %", call(), fine(throttled(Some(100), Some(1000))), "ok out 1"),
        ("not measured", call(), fine(throttled(Some(900), None)), "ok out 1"),
        ("tmp", call(), fine(|o| o.events.tmp_full = true), "ok out 1 ! tmp_full"),
        ("stderr", call(), fine(|o| o.stderr.truncated = true), "ok out 1 ! stderr_truncated"),
        ("forks", call(), fine(|o| o.events.pids_limit_hits = Some(3)), "ok out 1 ! pids_limit_hit"),
        ("no forks", call(), fine(|o| o.events.pids_limit_hits = Some(0)), "ok out 1"),
        ("unreaped", call(), fine(|o| o.unreaped = true), "ok out 1 ! unreaped"),
        ("files", call(), fine(|o| o.files_truncated = Some("x".into())), "ok out 1 ! out_truncated"),
        ("notes come first", noted, noted_outcome, "ok out 1 ! limit_clamped profile_path_missing unreaped"),
    ]);
}

#[test]
fn layers_that_are_less_than_whole() {
    let no_group = |outcome: &mut Outcome| {
        layer(Layer::Cgroup, LayerReport::missing("no delegation"))(outcome);
        layer(Layer::Rlimits, LayerReport::enforced())(outcome);
    };
    let two = |outcome: &mut Outcome| {
        layer(Layer::Proc, LayerReport::degraded("masked"))(outcome);
        layer(Layer::NetNs, LayerReport::off())(outcome);
        layer(Layer::Landlock, LayerReport::missing("ABI 0"))(outcome);
    };
    check(vec![
        ("one each", call(), fine(two), "ok out 1 ! layer_degraded layer_degraded"),
        ("rlimits stand in", call(), fine(no_group), "ok out 1 ! layer_degraded limit_degraded"),
        ("all whole", call(), fine(layer(Layer::Cgroup, LayerReport::enforced())), "ok out 1"),
    ]);
    let verdict = classify(&call(), &fine(no_group));
    assert_eq!(verdict.warnings[0].message, "sandbox layer `cgroup` is missing: no delegation");
}

#[test]
fn output_before_a_timeout_is_shown_bounded_and_never_parsed() {
    let verdict = classify(&call(), &and(exited(0, b"{\"step\":1}\n\xff"), |o| o.killed_by = Some(Deadline)));
    assert!(verdict.output.is_none());
    assert_eq!(verdict.warnings[0].details["text"], "{\"step\":1}\n\u{fffd}");
    let flood = and(exited(0, "y".repeat(100_000)), |o| o.end = Some(End::Signaled(11)));
    let details = &classify(&call(), &flood).warnings[0].details;
    assert!(details["text"].as_str().is_some_and(|text| text.len() < 5000));
    assert_eq!(details["truncated"], Value::Bool(true));
}

#[test]
fn a_secret_is_never_shown() {
    let outcome = fine(|o| {
        o.secret_in_output = true;
        o.stdout = bytes("s3cret");
    });
    assert!(!format!("{:?}", classify(&call(), &outcome)).contains("s3cret"));
}

#[test]
fn warnings_are_words_that_can_be_read() {
    let message = |call: &toolcell::call::Call, outcome: &Outcome| classify(call, outcome).warnings[0].message.clone();
    let rows = [
        (fine(|o| o.leaked_processes = 1), "1 of the tool's processes outlived it by 200 ms and was killed"),
        (fine(|o| o.leaked_processes = 2), "2 of the tool's processes outlived it by 200 ms and were killed"),
        (exited(1, "words"), "standard output (5 B) is no result: the tool did not exit 0"),
        (
            exited(66, "words"),
            "standard output (5 B) is no result: it is not one JSON value: not JSON at byte 0: \"words\"",
        ),
    ];
    for (outcome, text) in rows {
        assert_eq!(message(&call(), &outcome), text);
    }
    let forks = message(&call(), &fine(|o| o.events.pids_limit_hits = Some(1)));
    assert!(forks.ends_with("refused 1 fork"), "{forks}");
}
