//! Streams: everything is pumped at once, bounded, and the tool's end is never lost behind them.
use serde_json::{Value, json};
use std::time::Duration;
use toolcell_tests::needs::has;
use toolcell_tests::{Answer, Scene, needs};

const LIMITS: &str = "profile = \"standard\"\n[limits]\nwall = \"25s\"\ngrace = \"500ms\"\nstdout = \"4MiB\"\n";

fn sh(body: &str) -> String {
    format!("#!/bin/sh\n{body}")
}

fn run(script: &str, toml: &str, input: &[u8]) -> Answer {
    let scene = Scene::new();
    scene.script("tool", script, toml);
    scene.toolcell(&["run", "tool"], input)
}

/// A JSON document of about so many bytes.
fn document(bytes: usize) -> Vec<u8> {
    format!("{{\"blob\":\"{}\"}}", "a".repeat(bytes)).into_bytes()
}

#[test]
fn big_input_and_big_output_at_once_do_not_deadlock() {
    let echo = "#!/bin/sh\nprintf '\"'\ntr -c 'z' 'z'\nprintf '\"'\n";
    let answer = run(echo, LIMITS, &document(3 << 20));
    let length = answer.output().as_str().map(str::len);
    assert_eq!(length, Some(document(3 << 20).len()));
    assert!(answer.took < Duration::from_secs(15), "{:?}", answer.took);
    let over = run(echo, LIMITS, &document(8 << 20));
    over.expect("channel_failure", "output_limit");
    assert_eq!((over.at("/killed_by"), over.at("/output")), (json!("output_limit"), Value::Null));
}

#[test]
fn more_than_a_pipe_holds_arrives_whole() {
    let answer = run(&sh("cat\n"), LIMITS, &document(300_000));
    assert_eq!(answer.output()["blob"].as_str().map(str::len), Some(300_000));
    assert!(answer.took < Duration::from_secs(10), "{:?}", answer.took);
}

#[test]
fn much_on_stderr_blocks_nothing_and_keeps_both_ends() {
    let body = "cat >/dev/null\necho first >&2\ni=0; while [ $i -lt 40000 ]; do echo \"debug line $i ------------------------------------------------\"; \
                i=$((i+1)); done >&2\necho last >&2\necho '{\"ok\":true}'\n";
    let toml = LIMITS.replace("stdout = ", "stderr = \"64KiB\"\nstdout = ");
    let answer = run(&sh(body), &toml, b"{}");
    assert_eq!(answer.output(), json!({"ok": true}));
    let text = answer.at("/stderr/text").as_str().unwrap_or_default().to_owned();
    assert!(text.starts_with("first\n") && text.ends_with("last\n"), "both ends are kept");
    assert!(text.len() < 70_000, "{}", text.len());
    assert_eq!(answer.at("/stderr/truncated"), true);
    assert!(answer.warnings().contains(&"stderr_truncated".to_owned()));
    let total = answer.at("/usage/stderr_bytes").as_u64().unwrap_or_default();
    assert!(total > 2_000_000, "{total}");
}

#[test]
fn a_tool_that_reads_no_input_keeps_its_own_exit_code() {
    let scene = Scene::new();
    scene.script("tool", &sh("echo '{\"error\":\"bad flag\"}'\necho 'usage: tool --x' >&2\nexit 2\n"), LIMITS);
    for _ in 0..60 {
        let answer = scene.toolcell(&["run", "tool"], &document(1 << 20));
        answer.expect("channel_failure", "undeclared_exit");
        assert_eq!(answer.at("/exit"), json!({"code": 2, "signal": null}));
        assert_eq!(answer.at("/stderr/text"), "usage: tool --x\n");
        assert!(answer.warnings().contains(&"stdin_closed_early".to_owned()), "{:#}", answer.json());
    }
}

#[test]
fn a_tool_that_reads_nothing_and_succeeds_has_succeeded() {
    let answer = run(&sh("echo '{\"ok\":true}'\n"), LIMITS, &document(1 << 20));
    assert_eq!(answer.output(), json!({"ok": true}));
    assert_eq!(answer.warnings(), ["stdin_closed_early"]);
    let small = run(&sh("echo '{\"ok\":true}'\n"), LIMITS, b"{}");
    assert_eq!(small.output(), json!({"ok": true}));
}

#[test]
fn characters_that_are_split_over_writes_stay_whole() {
    needs!(has("python3"), "python3 is not installed");
    let script = "#!/usr/bin/python3\nimport sys, time\nsys.stdin.read()\n\
        raw = ('{\"t\":\"' + '\\u00e9\\u4e2d\\U0001F600' * 30000 + '\"}').encode()\n\
        for i in range(0, len(raw), 4093):\n    sys.stdout.buffer.write(raw[i:i+4093]); sys.stdout.buffer.flush()\n    \
        if i < 40930: time.sleep(0.01)\n";
    let answer = run(script, LIMITS, b"{}");
    assert_eq!(answer.output()["t"].as_str(), Some("é中😀".repeat(30000).as_str()));
}

#[test]
fn one_long_line_without_its_end_is_whole_below_the_limit_and_cut_never() {
    let line = |count: u32| {
        format!("cat >/dev/null\nprintf '{{\"s\":\"'; head -c {count} /dev/zero | tr '\\0' q; printf '\"}}'\n")
    };
    let answer = run(&sh(&line(3_000_000)), LIMITS, b"{}");
    assert_eq!(answer.output()["s"].as_str().map(str::len), Some(3_000_000));
    let over = run(&sh(&line(5_000_000)), LIMITS, b"{}");
    over.expect("channel_failure", "output_limit");
    assert_eq!((over.at("/output"), over.code), (Value::Null, Some(69)));
}

#[test]
fn a_drip_without_line_ends_does_not_hold_the_deadline_up() {
    let toml = "profile = \"standard\"\n[limits]\nwall = \"2s\"\ngrace = \"500ms\"\n";
    let answer = run(&sh("cat >/dev/null\nwhile :; do printf x; sleep 0.2; done\n"), toml, b"{}");
    answer.expect("channel_failure", "timeout");
    assert!(answer.took < Duration::from_secs(8), "{:?}", answer.took);
}

#[test]
fn exit_zero_with_nothing_said_is_no_success() {
    for body in ["cat >/dev/null\nexit 0\n", "cat >/dev/null\nprintf ' \\n\\t\\r\\n'\n"] {
        let answer = run(&sh(body), LIMITS, b"{}");
        answer.expect("channel_failure", "empty_output");
        assert_eq!(
            (answer.at("/error/origin"), answer.at("/error/retryable"), answer.code),
            (json!("tool"), json!(false), Some(69))
        );
    }
}

#[test]
fn the_exit_code_decides_where_it_and_the_body_disagree() {
    let perfect = run(&sh("cat >/dev/null\necho '{\"rows\":[1,2,3]}'\nexit 7\n"), LIMITS, b"{}");
    perfect.expect("channel_failure", "undeclared_exit");
    assert_eq!(perfect.at("/output"), Value::Null);
    assert!(perfect.warnings().contains(&"stdout_partial".to_owned()), "{:#}", perfect.json());
    let scene = Scene::new();
    scene.script("tool", &sh("cat >/dev/null\necho '{\"error\":{\"status\":\"ok\"}}'\n"), LIMITS);
    assert_eq!(scene.run("tool", &json!({}), &[]).output(), json!({"error": {"status": "ok"}}));
    let lies = run(
        &sh("cat >/dev/null\necho '{\"error\":{\"status\":\"data_limitation\",\"reason\":\"x\"}}'\nexit 64\n"),
        LIMITS,
        b"{}",
    );
    assert_eq!(lies.status(), "call_error");
    assert!(lies.warnings().contains(&"class_conflict".to_owned()), "{:#}", lies.json());
}

#[test]
fn standard_streams_can_be_opened_anew_by_their_paths() {
    for scene in Scene::everyone() {
        let script = "#!/bin/sh\nn=$(cat /dev/stdin | wc -c)\necho words > /dev/stderr\nprintf '{\"n\":%s}\\n' \"$n\" > /dev/stdout\n";
        scene.script("tool", script, LIMITS);
        let answer = scene.toolcell(&["run", "tool"], b"{\"a\":1}");
        assert_eq!(answer.output(), json!({"n": 7}));
        assert_eq!(answer.at("/stderr/text"), "words\n");
        scene.script(
            "tool",
            &script
                .replace("/dev/std", "/proc/self/fd/")
                .replace("fd/in", "fd/0")
                .replace("fd/out", "fd/1")
                .replace("fd/err", "fd/2"),
            LIMITS,
        );
        assert_eq!(scene.toolcell(&["run", "tool"], b"{\"a\":1}").output(), json!({"n": 7}));
    }
}

#[test]
fn programs_that_cannot_be_executed_say_why() {
    for scene in Scene::everyone() {
        scene.script("crlf", "#!/bin/sh\r\necho '{}'\n", LIMITS);
        scene.script("noint", "#!/opt/none/python9\n", LIMITS);
        scene.script("plain", "plain text", LIMITS);
        scene.script("locked", "#!/bin/sh\n", LIMITS);
        std::fs::set_permissions(
            scene.registry().join("locked/run"),
            std::os::unix::fs::PermissionsExt::from_mode(0o644),
        )
        .expect("it can");
        scene.capability("missing", &json!({}), "command = [\"./none\"]\nprofile = \"standard\"\n");
        scene.capability("nowhere", &json!({}), "command = [\"no-such-program-at-all\"]\nprofile = \"standard\"\n");
        let rows = [
            ("crlf", "/bin/sh\\r"),
            ("noint", "/opt/none/python9"),
            ("plain", "ENOEXEC"),
            ("locked", "EACCES"),
            ("missing", "/tool/none"),
            ("nowhere", "no-such-program-at-all"),
        ];
        for (name, named) in rows {
            let answer = scene.run(name, &json!({}), &[]);
            answer.expect("channel_failure", "start_failed");
            assert_eq!(
                (answer.at("/error/origin"), answer.at("/attempts"), answer.code),
                (json!("host"), json!(0), Some(69)),
                "{name}"
            );
            assert_eq!(answer.at("/exit"), json!({"code": null, "signal": null}), "{name}");
            let said = answer.at("/error").to_string().replace("\\\\r", "\\r");
            assert!(said.contains(named), "{name}: {:#}", answer.json());
            assert!(answer.at("/error/hint").is_string(), "{name}: {:#}", answer.json());
        }
    }
}
