//! Exit codes: every one means what the table says, unless tool.toml says otherwise.
use serde_json::{Value, json};
use toolcell_tests::{Answer, Scene};

/// A tool that prints what the input's `say` holds and exits with its `code`.
fn scene(more: &str) -> Scene {
    let scene = Scene::new();
    scene.capability(
        "tool",
        &json!({"annotations": {"read_only": true, "idempotent": true, "destructive": false, "open_world": false}}),
        &format!("command = [\"/bin/sh\", \"./exit\", \"{{/code}}\", \"{{/say}}\"]\nstdin = \"none\"\nprofile = \"standard\"\n{more}"),
    );
    scene.write("registry/tool/exit", "[ -n \"$2\" ] && printf '%s' \"$2\"\nexit $1\n");
    scene
}

fn exits(scene: &Scene, code: u8, say: &Value) -> Answer {
    let say = if say.is_null() { String::new() } else { say.to_string() };
    scene.run("tool", &json!({"code": code, "say": say}), &[])
}

/// What the table says of a code: status, reason, toolcell's own exit code.
fn meaning(code: u8) -> (&'static str, &'static str, i32) {
    match code {
        64 | 65 => ("call_error", "rejected_input", 64),
        77 => ("call_error", "not_permitted", 64),
        66 | 67 => ("data_limitation", "no_data", 66),
        69 => ("channel_failure", "upstream_unavailable", 69),
        68 => ("channel_failure", "upstream_unknown_host", 69),
        74 | 76 => ("channel_failure", "upstream_protocol", 69),
        75 => ("channel_failure", "try_later", 75),
        70..=73 | 78 => ("channel_failure", "tool_internal", 69),
        _ => ("channel_failure", "undeclared_exit", 69),
    }
}

#[test]
fn every_exit_code_ends_as_the_table_says() {
    let scene = scene("");
    for code in (1..=2).chain(62..=80).chain([101, 124, 125, 126, 127, 128, 130, 137, 139, 143, 254, 255]) {
        let (status, reason, own) = meaning(code);
        let answer = exits(&scene, code, &Value::Null);
        answer.expect(status, reason);
        assert_eq!((answer.at("/exit"), answer.code), (json!({"code": code, "signal": null}), Some(own)));
        assert_eq!((answer.at("/error/origin"), answer.at("/killed_by")), (json!("tool"), Value::Null), "{code}");
        assert_eq!(answer.at("/error/retryable"), code == 75, "{code}");
    }
}

#[test]
fn a_tools_own_table_outranks_the_common_one() {
    let scene = scene(
        "[exit_codes]\n1 = \"data_limitation\"\n3 = \"ok\"\n22 = \"call_error\"\n\
         28 = { status = \"channel_failure\", reason = \"upstream_timeout\", retryable = true }\n66 = \"channel_failure\"\n",
    );
    let rows =
        [(1, "data_limitation", 66), (22, "call_error", 64), (28, "channel_failure", 75), (66, "channel_failure", 69)];
    for (code, status, own) in rows {
        let answer = exits(&scene, code, &Value::Null);
        assert_eq!((answer.status().as_str(), answer.code), (status, Some(own)), "{code}: {:#}", answer.json());
    }
    assert_eq!(exits(&scene, 28, &Value::Null).reason(), "upstream_timeout");
    assert_eq!(exits(&scene, 3, &json!({"a": 1})).output(), json!({"a": 1}));
    exits(&scene, 3, &Value::Null).expect("channel_failure", "empty_output");
}

#[test]
fn an_error_object_refines_and_does_not_overrule() {
    let scene = scene("");
    let said = json!({"error": {"reason": "no_coverage", "message": "not that far back", "details": {"from": 1999}}});
    let answer = exits(&scene, 66, &said);
    answer.expect("data_limitation", "no_coverage");
    assert_eq!(
        (answer.at("/error/message"), answer.at("/error/details")),
        (json!("not that far back"), json!({"from": 1999}))
    );
    let later = json!({"error": {"reason": "rate_limited", "message": "m", "retryable": true, "retry_after_ms": 1500}});
    let answer = exits(&scene, 69, &later);
    answer.expect("channel_failure", "rate_limited");
    assert_eq!(
        (answer.at("/error/retryable"), answer.at("/error/retry_after_ms"), answer.code),
        (json!(true), json!(1500), Some(75))
    );
    assert_eq!(exits(&scene, 64, &later).at("/error/retryable"), false, "only a channel may be retryable");
    let chosen = json!({"error": {"status": "data_limitation", "reason": "stale", "message": "m"}});
    exits(&scene, 9, &chosen).expect("data_limitation", "stale");
    let contradicts = exits(&scene, 64, &chosen);
    assert_eq!(contradicts.status(), "call_error");
    assert!(contradicts.warnings().contains(&"class_conflict".to_owned()), "{:#}", contradicts.json());
}

#[test]
fn a_partial_answer_is_kept_beside_a_limitation() {
    let scene = scene("");
    let said = json!({"error": {"reason": "partial", "message": "m"}, "output": {"rows": [1]}});
    let answer = exits(&scene, 67, &said);
    answer.expect("data_limitation", "partial");
    assert_eq!(answer.at("/output"), json!({"rows": [1]}));
    let plain = exits(&scene, 66, &json!({"rows": [2]}));
    plain.expect("data_limitation", "no_data");
    assert_eq!(plain.at("/output"), json!({"rows": [2]}));
}

#[test]
fn only_what_may_help_is_tried_again_and_counted() {
    let retry = "[retry]\nmax = 2\nbackoff = \"20ms\"\nmax_backoff = \"50ms\"\n";
    let scene = scene(retry);
    let rows = [(75, 3), (69, 1), (66, 1), (64, 1), (1, 1)];
    for (code, attempts) in rows {
        assert_eq!(exits(&scene, code, &Value::Null).at("/attempts"), attempts, "{code}");
    }
}
