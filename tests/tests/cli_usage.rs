//! The command line: what it refuses ends in one envelope, what only informs prints its answer and nothing else.
use serde_json::{Value, json};
use std::collections::BTreeSet;
use toolcell_tests::{Answer, Scene};

const ECHO: &str = "#!/bin/sh\ncat\n";
const STANDARD: &str = "profile = \"standard\"\n";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.script("echo", ECHO, STANDARD);
    scene
}

/// An answer that is exactly one envelope on one line.
fn envelope(answer: &Answer) -> Value {
    let text = String::from_utf8(answer.stdout.clone()).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "{text}\n{}", answer.stderr);
    assert!(text.ends_with('\n'));
    let envelope = answer.json();
    assert_eq!(envelope["schema"], "toolcell.envelope/1");
    envelope
}

fn is_usage(answer: &Answer) {
    envelope(answer);
    answer.expect("call_error", "usage");
    assert_eq!(answer.at("/error/origin"), "caller");
    assert_eq!(answer.at("/attempts"), 0);
    assert_eq!(answer.code, Some(64));
    assert!(answer.at("/error/hint").is_string(), "{:#}", answer.json());
}

#[test]
fn what_clap_refuses_is_one_envelope_for_run_and_exec_and_words_on_stderr() {
    let scene = scene();
    let bad: &[&[&str]] = &[
        &["run"],
        &["run", "echo", "--no-such-flag"],
        &["run", "echo", "more"],
        &["run", "echo", "--min-level", "4"],
        &["run", "echo", "--min-level", "-1"],
        &["run", "echo", "--require", "no_such_layer"],
        &["run", "echo", "--record", "maybe"],
        &["run", "echo", "--memory", "lots"],
        &["run", "echo", "--pids", "0"],
        &["run", "echo", "--cpu", "0"],
        &["run", "echo", "--cpu", "nan"],
        &["run", "echo", "--set", "code=SPY"],
        &["run", "echo", "--set", "/code"],
        &["run", "echo", "--timeout", "5s", "--timeout", "6s"],
        &["exec"],
        &["exec", "--"],
        &["exec", "true"],
        &["exec", "--stdout", "xml", "--", "true"],
        &["exec", "--call", "f", "--", "true"],
        &["--verbose", "run"],
        &["--regist", "x", "run", "echo"],
        &["--nosuch", "exec", "--", "true"],
        &["run", "echo", "--timeout", "-1"],
        &["--registry", "/nonexistent", "run", "echo", "--no-such-flag"],
        &["--config=/nonexistent", "exec", "--bad", "--", "true"],
    ];
    for args in bad {
        let answer = scene.toolcell(args, b"{}");
        assert!(!answer.stdout.is_empty(), "no envelope for {args:?}: {}", answer.stderr);
        is_usage(&answer);
        assert!(!answer.stderr.trim().is_empty(), "{args:?}");
    }
}

#[test]
fn usage_errors_of_commands_that_answer_no_envelope_leave_stdout_empty() {
    let scene = scene();
    let bad: &[&[&str]] =
        &[&["plan"], &["show"], &["list", "x"], &["completions", "none"], &["no-such-command"], &[], &["man", "x"]];
    for args in bad {
        let answer = scene.toolcell(args, b"");
        assert_eq!((answer.code, answer.stdout.len()), (Some(64), 0), "{args:?}: {}", answer.stderr);
        assert!(!answer.stderr.trim().is_empty(), "{args:?}");
    }
}

#[test]
fn help_and_version_are_answers() {
    let scene = scene();
    for args in [&["--help"][..], &["-h"], &["run", "--help"], &["exec", "--help"], &["--version"], &["help", "run"]] {
        let answer = scene.toolcell(args, b"");
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(!answer.stdout.is_empty(), "{args:?}");
        assert!(!answer.stdout.contains(&0x1b), "no colour in a pipe: {args:?}");
    }
    let version = scene.toolcell(&["--version"], b"");
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("toolcell {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_lists_the_common_flags_last_and_only_where_they_matter() {
    let scene = scene();
    let help = |command: &str| String::from_utf8_lossy(&scene.toolcell(&[command, "-h"], b"").stdout).into_owned();
    for command in ["run", "exec", "plan", "list", "show", "doctor"] {
        let text = help(command);
        let (own, common) = text.split_once("Everywhere:").unwrap_or_else(|| panic!("{text}"));
        assert!(common.contains("--registry") && !own.contains("--registry"), "{text}");
    }
    for command in ["completions", "man"] {
        assert!(!help(command).contains("--registry"), "{command}");
    }
}

#[test]
fn a_line_of_json_has_level_message_and_hint() {
    let scene = scene();
    for args in [&["--log-format", "json", "show", "ech"][..], &["run", "--nosuch", "--log-format=json"]] {
        let answer = scene.toolcell(args, b"");
        let line: Value = serde_json::from_str(answer.stderr.trim()).expect("one JSON object");
        assert_eq!(line["level"], "error");
        assert!(!line["message"].as_str().expect("a text").starts_with("error"), "{line}");
        assert!(line["hint"].is_string(), "{line}");
    }
    let text = scene.toolcell(&["show", "ech"], b"").stderr;
    assert_eq!(text, "error: there is no capability `ech`\nhint: near it: echo\n");
}

#[test]
fn list_and_show_and_plan_print_one_document_each() {
    let scene = scene();
    let list = scene.toolcell(&["list"], b"");
    let one = json!({"id": "echo", "version": "1.0.0", "title": "echo", "description": "made for a test",
        "provides": null, "supplier": null, "tags": [], "dir": scene.registry().join("echo")});
    assert_eq!(list.json(), json!({"capabilities": [one], "errors": []}));
    assert_eq!((list.code, list.stderr.as_str()), (Some(0), ""));
    let show = scene.toolcell(&["show", "echo@^1"], b"");
    assert_eq!((show.code, show.stderr.as_str()), (Some(0), ""));
    assert_eq!(show.at("/capability/id"), "echo");
    assert_eq!(show.at("/tool/profile"), "standard");
    let plan = scene.toolcell(&["plan", "echo"], b"{\"a\": 1}");
    assert_eq!((plan.code, plan.stderr.as_str()), (Some(0), ""));
    assert_eq!(plan.at("/schema"), "toolcell.call/1");
    assert_eq!(plan.at("/stdio/stdin"), json!({"json": {"a": 1}}));
    for args in [&["list", "--pretty"][..], &["show", "echo", "--pretty"], &["plan", "echo", "--pretty"]] {
        let pretty = scene.toolcell(args, b"{}");
        assert!(pretty.stdout.iter().filter(|byte| **byte == b'\n').count() > 2, "{args:?}");
        pretty.json();
    }
}

#[test]
fn completions_and_the_manual_page_come_alone() {
    let scene = scene();
    for shell in ["bash", "zsh", "fish"] {
        let answer = scene.toolcell(&["completions", shell], b"");
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{shell}");
        assert!(String::from_utf8_lossy(&answer.stdout).contains("toolcell"), "{shell}");
    }
    let man = scene.toolcell(&["man"], b"");
    assert_eq!((man.code, man.stderr.as_str()), (Some(0), ""));
    assert!(String::from_utf8_lossy(&man.stdout).contains(".TH toolcell"));
    for command in ["run", "exec", "plan"] {
        let page = scene.toolcell(&["man", command], b"");
        let text = String::from_utf8_lossy(&page.stdout).into_owned();
        assert_eq!((page.code, page.stderr.as_str()), (Some(0), ""), "{command}");
        assert!(text.contains(&format!(".TH toolcell-{command} ")) && text.contains("timeout"), "{text}");
    }
}

#[test]
fn an_unknown_capability_is_named_with_what_is_near_it() {
    let scene = scene();
    scene.script("fund_profile", ECHO, STANDARD);
    let answer = scene.run("fund_profil", &json!({}), &[]);
    envelope(&answer);
    answer.expect("call_error", "unknown_capability");
    assert_eq!(answer.at("/capability"), Value::Null);
    assert_eq!(answer.at("/error/hint"), "near it: fund_profile");
    assert_eq!(answer.code, Some(64));
    let far = scene.run("zzzzzzzzzz", &json!({}), &[]);
    far.expect("call_error", "unknown_capability");
    assert_eq!(far.at("/error/hint"), "`toolcell list` shows what there is");
    for command in ["plan", "show"] {
        let answer = scene.toolcell(&[command, "zzzzzzzzzz"], b"{}");
        assert_eq!((answer.code, answer.stdout.len()), (Some(64), 0), "{command}");
        assert!(answer.stderr.contains("zzzzzzzzzz"), "{}", answer.stderr);
    }
}

#[test]
fn a_bad_reference_is_bad_usage() {
    let scene = scene();
    for reference in ["", "9lives", "a/b", "../echo", "echo@", "echo@not-a-version", "echo@^1@2", "e cho"] {
        is_usage(&scene.run(reference, &json!({}), &[]));
    }
    let none = scene.run("echo@^2", &json!({}), &[]);
    none.expect("call_error", "unknown_capability");
    assert_eq!(none.at("/error/hint"), "there are: 1.0.0");
}

#[test]
fn without_a_registry_the_answer_says_how_to_name_one() {
    let scene = scene();
    let mut command = scene.command();
    command.env_remove("TOOLCELL_REGISTRY").args(["run", "echo"]);
    let answer = toolcell_tests::finish(&mut command, b"{}");
    envelope(&answer);
    answer.expect("call_error", "unknown_capability");
    let hint = answer.at("/error/hint").to_string();
    assert!(["--registry", "TOOLCELL_REGISTRY", "toolcell.toml"].iter().all(|way| hint.contains(way)), "{hint}");
    let named =
        toolcell_tests::finish(command.args(["--registry", scene.registry().to_str().expect("UTF-8")]), b"{\"a\": 1}");
    assert_eq!(named.output(), json!({"a": 1}));
}

#[test]
fn call_ids_are_kept_when_they_are_plain_and_made_otherwise() {
    let scene = scene();
    let longest = "x".repeat(128);
    for id in ["a", "A-1_2.z", longest.as_str()] {
        let answer = scene.run("echo", &json!({}), &["--call-id", id]);
        answer.output();
        assert_eq!(answer.at("/call_id"), id);
    }
    let too_long = "x".repeat(129);
    for id in ["", "a b", "a/b", "é", "a\nb", too_long.as_str()] {
        is_usage(&scene.run("echo", &json!({}), &["--call-id", id]));
    }
    let made: BTreeSet<String> = (0..5)
        .map(|_| scene.run("echo", &json!({}), &[]).at("/call_id").as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(made.len(), 5);
    for id in made {
        assert!(id.len() == 36 && id.as_bytes()[14] == b'7', "{id} is no UUID version 7");
    }
}

#[test]
fn pretty_indents_the_envelope_and_changes_nothing_else() {
    let scene = scene();
    let text = b"{\"b\":1.50,\"a\":-0}";
    let plain = scene.toolcell(&["run", "echo", "--call-id", "same"], text);
    let pretty = scene.toolcell(&["run", "echo", "--call-id", "same", "--pretty"], text);
    assert!(pretty.stdout.iter().filter(|byte| **byte == b'\n').count() > 10);
    for pointer in ["/output", "/status", "/sandbox", "/call_id", "/capability", "/exit"] {
        assert_eq!(plain.at(pointer), pretty.at(pointer));
    }
}
