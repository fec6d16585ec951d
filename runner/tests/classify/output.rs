//! Exit 0: standard output is judged.

use crate::support::*;
use serde_json::json;
use toolcell::call::StdoutKind::{Jsonl, Text};
use toolcell_tool::Status;

#[test]
fn one_json_value() {
    let numbers = r#"{"id": 9007199254740993,  "v":18446744073709551616, "z":-0,"d":0.10000000000000000555}"#;
    let untouched = format!("ok out {numbers}");
    check(vec![
        ("an object", call(), exited(0, "{\"a\":1}\n"), "ok out {\"a\":1}"),
        ("a scalar", call(), exited(0, "7"), "ok out 7"),
        ("null", call(), exited(0, "null"), "ok out null"),
        ("digits, order and blanks survive", call(), exited(0, numbers), &untouched),
        ("a byte-order mark", call(), exited(0, "\u{feff}{\"a\":1}\r\n"), "ok out {\"a\":1} ! bom_dropped"),
        ("nothing", call(), exited(0, ""), "channel_failure empty_output tool"),
        ("white space", call(), exited(0, " \r\n\t"), "channel_failure empty_output tool"),
        ("a byte-order mark alone", call(), exited(0, "\u{feff}\n"), "channel_failure empty_output tool"),
        ("words first", call(), exited(0, "new version\n{}"), "channel_failure invalid_output tool"),
        ("words after", call(), exited(0, "{\"ok\":true}\nDone"), "channel_failure invalid_output tool"),
        ("two values", call(), exited(0, "{}{}"), "channel_failure invalid_output tool"),
        ("NaN", call(), exited(0, "{\"mean\":NaN}"), "channel_failure invalid_output tool"),
        ("bad UTF-8", call(), exited(0, b"\"\xff\""), "channel_failure invalid_output tool"),
        ("too deep", call(), exited(0, "[".repeat(100_000)), "channel_failure invalid_output tool"),
        ("an error object is no error at exit 0", call(), exited(0, r#"{"error":{}}"#), "ok out {\"error\":{}}"),
    ]);
}

#[test]
fn output_schema() {
    check(vec![
        ("kept", typed(), exited(0, "{\"n\":1}"), "ok out {\"n\":1}"),
        ("broken", typed(), exited(0, "{\"n\":\"1\"}"), "channel_failure output_schema tool"),
        ("B18", typed(), exited(0, r#"{"error":"no such index"}"#), "channel_failure output_schema tool"),
        (
            "a schema that cannot be used",
            with(|call| call.contract.output_schema = Some(json!({"type": 7}))),
            exited(0, "{}"),
            "channel_failure invalid_contract host",
        ),
    ]);
}

#[test]
fn lines_and_text() {
    let lines_schema = || {
        with(|call| {
            call.stdio.stdout = Jsonl;
            call.contract.output_schema = Some(json!({"type": "array", "items": {"type": "integer"}}));
        })
    };
    check(vec![
        ("lines", printing(Jsonl), exited(0, "1\n{\"a\":2}\n"), "ok out [1,{\"a\":2}]"),
        ("no lines", printing(Jsonl), exited(0, ""), "ok out []"),
        ("a line that is not JSON", printing(Jsonl), exited(0, "1\nx\n"), "channel_failure invalid_output tool"),
        ("lines that keep the schema", lines_schema(), exited(0, "1\n2\n"), "ok out [1,2]"),
        ("lines that break it", lines_schema(), exited(0, "1\n\"2\"\n"), "channel_failure output_schema tool"),
        ("text", printing(Text), exited(0, "a \"b\"\n"), r#"ok out {"text":"a \"b\"\n"}"#),
        ("no text", printing(Text), exited(0, ""), r#"ok out {"text":""}"#),
        ("text that is not UTF-8", printing(Text), exited(0, b"a\xff"), "channel_failure invalid_output tool"),
        ("text with a mark", printing(Text), exited(0, "\u{feff}a"), r#"ok out {"text":"a"} ! bom_dropped"#),
    ]);
}

#[test]
fn an_exit_code_declared_ok_is_judged_like_zero() {
    let call = || declaring(1, Status::Ok, None, false);
    let zero = || declaring(0, Status::CallError, None, false);
    check(vec![
        ("with an answer", call(), exited(1, "{}"), "ok out {}"),
        ("without one", call(), exited(1, ""), "channel_failure empty_output tool"),
        ("zero cannot be declared", zero(), exited(0, "{}"), "ok out {}"),
    ]);
}
