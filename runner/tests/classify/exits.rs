//! Exit codes other than 0: declared, in the table, unnamed; and the error object beside them.

use crate::support::*;
use toolcell::call::StdoutKind::{Jsonl, Text};
use toolcell_tool::Status::{CallError, ChannelFailure, DataLimitation};

#[test]
fn the_table_of_the_tool_crate() {
    check(vec![
        ("64", call(), exited(64, ""), "call_error rejected_input tool"),
        ("65", call(), exited(65, ""), "call_error rejected_input tool"),
        ("77", call(), exited(77, ""), "call_error not_permitted tool"),
        ("66", call(), exited(66, ""), "data_limitation no_data tool"),
        ("67", call(), exited(67, ""), "data_limitation no_data tool"),
        ("68", call(), exited(68, ""), "channel_failure upstream_unknown_host tool"),
        ("69", call(), exited(69, ""), "channel_failure upstream_unavailable tool"),
        ("74", call(), exited(74, ""), "channel_failure upstream_protocol tool"),
        ("76", call(), exited(76, ""), "channel_failure upstream_protocol tool"),
        ("75", call(), exited(75, ""), "channel_failure try_later tool retry"),
        ("70", call(), exited(70, ""), "channel_failure tool_internal tool"),
        ("71", call(), exited(71, ""), "channel_failure tool_internal tool"),
        ("72", call(), exited(72, ""), "channel_failure tool_internal tool"),
        ("73", call(), exited(73, ""), "channel_failure tool_internal tool"),
        ("78", call(), exited(78, ""), "channel_failure tool_internal tool"),
    ]);
    for code in [1, 2, 9, 63, 79, 101, 124, 125, 126, 127, 128, 137, 255] {
        check(vec![("unnamed", call(), exited(code, ""), "channel_failure undeclared_exit tool")]);
    }
}

#[test]
fn declared_in_tool_toml() {
    let upstream = || declaring(28, ChannelFailure, Some("upstream_timeout"), true);
    check(vec![
        ("with a reason", upstream(), exited(28, ""), "channel_failure upstream_timeout tool retry"),
        ("without: data", declaring(1, DataLimitation, None, false), exited(1, ""), "data_limitation no_data tool"),
        ("without: request", declaring(3, CallError, None, false), exited(3, ""), "call_error rejected_input tool"),
        (
            "without: channel",
            declaring(7, ChannelFailure, None, false),
            exited(7, ""),
            "channel_failure upstream_unavailable tool",
        ),
        (
            "it outranks the table",
            declaring(69, DataLimitation, Some("closed"), false),
            exited(69, ""),
            "data_limitation closed tool",
        ),
        (
            "retryable is for channels",
            declaring(1, CallError, None, true),
            exited(1, ""),
            "call_error rejected_input tool",
        ),
        (
            "the error object may say no",
            upstream(),
            exited(28, r#"{"error":{"retryable":false}}"#),
            "channel_failure upstream_timeout tool",
        ),
        (
            "the error object may not change it",
            upstream(),
            exited(28, r#"{"error":{"status":"call_error","retry_after_ms":9}}"#),
            "channel_failure upstream_timeout tool retry=9 ! class_conflict",
        ),
    ]);
}

#[test]
fn the_error_object_refines() {
    let again = r#"{"error":{"reason":"rate_limited","retryable":true,"retry_after_ms":50}}"#;
    check(vec![
        ("reason", call(), exited(66, r#"{"error":{"reason":"no_coverage"}}"#), "data_limitation no_coverage tool"),
        ("retry, left open", call(), exited(69, again), "channel_failure rate_limited tool retry=50"),
        ("retry, not open", call(), exited(70, again), "channel_failure rate_limited tool"),
        ("retry, always", call(), exited(75, again), "channel_failure rate_limited tool retry=50"),
        (
            "75 stays retryable",
            call(),
            exited(75, r#"{"error":{"retryable":false}}"#),
            "channel_failure try_later tool retry",
        ),
        ("retry is for channels", call(), exited(64, again), "call_error rate_limited tool"),
        (
            "an ill-formed reason",
            call(),
            exited(64, r#"{"error":{"reason":"Bad One"}}"#),
            "call_error rejected_input tool",
        ),
        ("with text as output", printing(Text), exited(64, r#"{"error":{"reason":"a"}}"#), "call_error a tool"),
        (
            "a built-in reason of another status",
            call(),
            exited(66, r#"{"error":{"reason":"timeout"}}"#),
            "data_limitation no_data tool ! class_conflict",
        ),
        (
            "one of the same status",
            call(),
            exited(69, r#"{"error":{"reason":"timeout"}}"#),
            "channel_failure timeout tool",
        ),
    ]);
}

#[test]
fn the_error_object_sets_the_status_only_where_nothing_else_does() {
    let says = |status: &str| format!(r#"{{"error":{{"status":"{status}","retryable":true}}}}"#);
    check(vec![
        ("unnamed: request", call(), exited(1, says("call_error")), "call_error rejected_input tool"),
        ("unnamed: data", call(), exited(1, says("data_limitation")), "data_limitation no_data tool"),
        (
            "unnamed: channel",
            call(),
            exited(1, says("channel_failure")),
            "channel_failure upstream_unavailable tool retry",
        ),
        ("unnamed: ok", call(), exited(1, says("ok")), "channel_failure undeclared_exit tool ! class_conflict"),
        ("unnamed: no status", call(), exited(1, says("fine")), "channel_failure undeclared_exit tool"),
        (
            "in the table",
            call(),
            exited(64, says("data_limitation")),
            "call_error rejected_input tool ! class_conflict",
        ),
        ("in the table: ok", call(), exited(70, says("ok")), "channel_failure tool_internal tool ! class_conflict"),
        ("the same", call(), exited(66, says("data_limitation")), "data_limitation no_data tool"),
        (
            "not after a signal",
            call(),
            exited_with_signal(&says("call_error")),
            "channel_failure crashed tool ! stdout_partial",
        ),
    ]);
}

fn exited_with_signal(stdout: &str) -> toolcell::outcome::Outcome {
    and(exited(0, stdout), |outcome| outcome.end = Some(toolcell::outcome::End::Signaled(6)))
}

#[test]
fn the_partial_answer_of_a_data_limitation() {
    let beside = r#"{"error":{"reason":"partial"},"output":{"n":1.0, "z":-0}}"#;
    let grep = || with(|call| call.stdio.stdout = Text);
    check(vec![
        ("beside the error", typed(), exited(66, beside), r#"data_limitation partial tool out {"n":1.0, "z":-0}"#),
        ("plain", typed(), exited(67, "{\"n\":1}"), "data_limitation no_data tool out {\"n\":1}"),
        ("plain, with a mark", call(), exited(66, "\u{feff}7"), "data_limitation no_data tool out 7 ! bom_dropped"),
        ("plain, breaks the schema", typed(), exited(66, "{}"), "data_limitation no_data tool ! stdout_partial"),
        (
            "beside, breaks the schema",
            typed(),
            exited(66, r#"{"error":{},"output":{"n":"x"}}"#),
            "data_limitation no_data tool ! stdout_partial",
        ),
        ("not JSON", call(), exited(66, "nothing found"), "data_limitation no_data tool ! stdout_partial"),
        (
            "an error that is text",
            call(),
            exited(66, r#"{"error":"none"}"#),
            "data_limitation no_data tool ! stdout_partial",
        ),
        ("as text", grep(), exited(66, "half"), r#"data_limitation no_data tool out {"text":"half"}"#),
        ("as lines", printing(Jsonl), exited(66, "1\n2\n"), "data_limitation no_data tool out [1,2]"),
        ("declared", declaring(1, DataLimitation, None, false), exited(1, "[]"), "data_limitation no_data tool out []"),
        (
            "said",
            call(),
            exited(1, r#"{"error":{"status":"data_limitation"},"output":[1]}"#),
            "data_limitation no_data tool out [1]",
        ),
        (
            "beside another failure",
            call(),
            exited(69, r#"{"error":{},"output":[1]}"#),
            "channel_failure upstream_unavailable tool ! stdout_partial",
        ),
        (
            "B18: a fine answer at an unnamed code",
            call(),
            exited(7, r#"{"rows":[1,2,3]}"#),
            "channel_failure undeclared_exit tool ! stdout_partial",
        ),
    ]);
}
