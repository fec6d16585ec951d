//! Where the input comes from, and what --timeout and its like take.
use serde_json::{Value, json};
use std::process::Stdio;
use toolcell_tests::{Answer, Scene, finish};

fn scene() -> Scene {
    let scene = Scene::new();
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    scene
}

/// The call with this standard input.
fn with_stdin(scene: &Scene, stdin: Stdio, flags: &[&str]) -> Answer {
    let begun = std::time::Instant::now();
    let output = scene.command().args(["run", "echo"]).args(flags).stdin(stdin).output().expect("it ends");
    Answer::of(output, begun.elapsed())
}

#[test]
fn input_comes_from_a_pipe_a_file_or_nowhere() {
    let scene = scene();
    assert_eq!(scene.run("echo", &json!({"from": "pipe"}), &[]).output(), json!({"from": "pipe"}));
    let file = scene.write("work/in.json", "{\"from\": \"file\"}");
    let open = || Stdio::from(std::fs::File::open(&file).expect("it is there"));
    assert_eq!(with_stdin(&scene, open(), &[]).output(), json!({"from": "file"}));
    assert_eq!(with_stdin(&scene, Stdio::null(), &[]).output(), json!({}));
    assert_eq!(with_stdin(&scene, Stdio::null(), &["--input", "in.json"]).output(), json!({"from": "file"}));
    assert_eq!(with_stdin(&scene, open(), &["--input", "-"]).output(), json!({"from": "file"}));
}

#[test]
fn a_closed_standard_input_is_no_input_and_no_accident() {
    let scene = scene();
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "exec \"$0\" run echo <&-"]).arg(toolcell_tests::binary("toolcell"));
    let env = scene.command();
    let vars: Vec<_> = env.get_envs().filter_map(|(name, value)| Some((name, value?))).collect();
    command.env_clear().envs(vars).current_dir(scene.work());
    let answer = finish(&mut command, b"");
    assert_eq!(answer.output(), json!({}));
}

#[test]
fn an_empty_pipe_is_no_json_unless_values_are_set() {
    let scene = scene();
    let empty = scene.toolcell(&["run", "echo"], b"");
    empty.expect("call_error", "invalid_input_json");
    assert_eq!((empty.at("/error/origin"), empty.code), (json!("caller"), Some(64)));
    let set = scene.toolcell(&["run", "echo", "--set", "/a=1"], b"");
    assert_eq!(set.output(), json!({"a": 1}));
}

#[test]
fn an_input_file_that_is_not_there_is_bad_usage() {
    let scene = scene();
    for file in ["none.json", ".", "/"] {
        let answer = scene.toolcell(&["run", "echo", "--input", file], b"{}");
        answer.expect("call_error", "usage");
        assert_eq!(answer.code, Some(64));
        assert!(answer.at("/error/message").to_string().contains("--input"), "{file}");
    }
}

#[test]
fn set_parses_json_or_takes_a_string_and_makes_its_way() {
    let scene = scene();
    let rows: &[(&[&str], Value)] = &[
        (&["/a=1"], json!({"a": 1})),
        (&["/a=SPY"], json!({"a": "SPY"})),
        (&["/a=\"1\""], json!({"a": "1"})),
        (&["/a="], json!({"a": ""})),
        (&["/a=null"], json!({"a": null})),
        (&["/a={\"b\":[1,2]}"], json!({"a": {"b": [1, 2]}})),
        (&["/a=x=y"], json!({"a": "x=y"})),
        (&["/a=1", "/a=2"], json!({"a": 2})),
        (&["/a~1b=1", "/c~0d=2"], json!({"a/b": 1, "c~d": 2})),
        (&["/a=[]", "/a/-=1", "/a/-=2"], json!({"a": [1, 2]})),
    ];
    for (pairs, expected) in rows {
        let flags: Vec<&str> = pairs.iter().flat_map(|pair| ["--set", pair]).collect();
        assert_eq!(
            scene.toolcell(&[&["run", "echo"], flags.as_slice()].concat(), b"").output(),
            *expected,
            "{pairs:?}"
        );
    }
    let over = scene.run("echo", &json!({"a": 1, "b": {"c": 2}}), &["--set", "/b/c=3"]);
    assert_eq!(over.output(), json!({"a": 1, "b": {"c": 3}}));
    let lost = scene.run("echo", &json!({"a": 1}), &["--set", "/a/b=3"]);
    lost.expect("call_error", "usage");
}

#[test]
fn a_number_set_by_flag_keeps_all_its_digits() {
    let scene = scene();
    let answer = scene.toolcell(&["run", "echo", "--set", "/n=18446744073709551616"], b"");
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    assert!(text.contains("\"output\":{\"n\":18446744073709551616}"), "{text}");
}

#[test]
fn timeouts_that_are_no_time_are_refused_before_anything_starts() {
    let scene = scene();
    for value in [
        "0",
        "0s",
        "-5",
        "-5s",
        "1.5",
        "30",
        "\"30s\"",
        "",
        "s",
        "NaN",
        "inf",
        "1e3s",
        "18446744073709551615s",
        "99999999999999999999h",
        "null",
    ] {
        let answer = scene.toolcell(&["run", "echo", &format!("--timeout={value}")], b"{}");
        answer.expect("call_error", "usage");
        assert_eq!((answer.at("/attempts"), answer.code), (json!(0), Some(64)), "{value}");
    }
}

#[test]
fn a_timeout_longer_than_allowed_is_cut_and_said() {
    let scene = scene();
    for value in ["31s", "87600h", "5m"] {
        let answer = scene.run("echo", &json!({}), &["--timeout", value]);
        answer.output();
        assert!(answer.warnings().contains(&"limit_clamped".to_owned()), "{value}: {:#}", answer.json());
    }
    let within = scene.run("echo", &json!({}), &["--timeout", "29.5s"]);
    within.output();
    assert!(!within.warnings().contains(&"limit_clamped".to_owned()));
}

#[test]
fn a_timeout_shorter_than_the_start_is_a_timeout_and_nothing_else() {
    let scene = scene();
    let answer = scene.run("echo", &json!({}), &["--timeout", "1ms"]);
    answer.expect("channel_failure", "timeout");
    assert_eq!((answer.at("/killed_by"), answer.code), (json!("deadline"), Some(69)));
}

#[test]
fn out_takes_a_new_or_empty_folder_only() {
    let scene = scene();
    scene.write("work/full/there", "x");
    std::fs::create_dir(scene.work().join("empty")).expect("it can be made");
    let full = scene.run("echo", &json!({}), &["--out", "full"]);
    full.expect("call_error", "usage");
    assert_eq!(full.at("/attempts"), 0);
    let file = scene.run("echo", &json!({}), &["--out", "full/there"]);
    file.expect("call_error", "usage");
    for fresh in ["empty", "new", "new/deeper/still"] {
        scene.run("echo", &json!({}), &["--out", fresh]).output();
    }
}

#[test]
fn a_record_that_must_be_kept_and_cannot_stops_the_call() {
    let scene = scene();
    let answer = scene.run("echo", &json!({}), &["--record", "off"]);
    answer.output();
    assert_eq!(answer.at("/record"), json!({"stored": false, "replay": null}));
}
