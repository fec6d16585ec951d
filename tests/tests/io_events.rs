//! `--stream`: each line of a `jsonl` tool as an event when it comes, the envelope last.
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};
use toolcell_tests::{Answer, Scene};

const JSONL: &str = "profile = \"standard\"\nstdout = \"jsonl\"\n";

fn lines(answer: &Answer) -> Vec<Value> {
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn streamed(script: &str, more: &str) -> (Vec<Value>, Value) {
    let scene = Scene::new();
    scene.config("[secrets.API_KEY]\nenv = \"KEY\"\nfor = [\"tool\"]\n");
    scene.script("tool", script, &format!("{JSONL}{more}"));
    let scene = scene.env("KEY", "hunter2hunter2");
    let mut lines = lines(&scene.run("tool", &json!({}), &["--stream"]));
    let envelope = lines.pop().expect("an envelope");
    assert_eq!(envelope["schema"], "toolcell.envelope/1");
    (lines, envelope)
}

#[test]
fn each_line_is_an_event_and_the_envelope_holds_them_all() {
    let script = "#!/bin/sh\ncat >/dev/null\nprintf '{\"n\": 1}\\n\\n[2]\\n\"three\"'\n";
    let (events, envelope) = streamed(script, "");
    let items: Vec<&Value> = events.iter().map(|event| &event["item"]).collect();
    assert_eq!(items, [&json!({"n": 1}), &json!([2]), &json!("three")]);
    assert_eq!(envelope["output"], json!([{"n": 1}, [2], "three"]));
    for (index, event) in events.iter().enumerate() {
        assert_eq!((&event["schema"], &event["kind"]), (&json!("toolcell.event/1"), &json!("item")));
        assert_eq!((&event["call_id"], &event["attempt"]), (&envelope["call_id"], &json!(1)));
        assert_eq!(event["index"], index);
    }
}

#[test]
fn an_event_comes_while_the_tool_runs() {
    let scene = Scene::new();
    scene.script("tool", "#!/bin/sh\ncat >/dev/null\necho 1\nsleep 20\necho 2\n", JSONL);
    let mut command = scene.command();
    command.args(["run", "tool", "--stream", "--timeout", "8s"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let begun = Instant::now();
    let mut child = command.spawn().expect("the binary starts");
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    reader.read_line(&mut first).expect("a line");
    assert!(begun.elapsed() < Duration::from_secs(7), "{:?}", begun.elapsed());
    assert!(first.contains("\"item\":1"), "{first}");
    let mut rest = String::new();
    reader.read_line(&mut rest).expect("a line");
    child.wait().expect("it ends");
    let envelope: Value = serde_json::from_str(&rest).expect("the envelope");
    assert_eq!(envelope["error"]["reason"], "timeout");
}

#[test]
fn what_is_no_json_or_holds_a_secret_is_not_shown_and_the_verdict_says_so() {
    let (events, envelope) = streamed("#!/bin/sh\ncat >/dev/null\necho 1\necho nope\necho 3\n", "");
    assert_eq!((events.len(), &envelope["error"]["reason"]), (1, &json!("invalid_output")));
    let script = "#!/bin/sh\ncat >/dev/null\necho 1\nsleep 0.3\necho \"\\\"$API_KEY\\\"\"\nsleep 0.3\necho 3\n";
    let (events, envelope) = streamed(script, "secrets = [\"API_KEY\"]\n");
    assert_eq!(envelope["error"]["reason"], "secret_in_output");
    let shown = serde_json::to_string(&events).expect("JSON");
    assert!(!shown.contains("hunter2") && events.len() == 1, "{shown}");
}

#[test]
fn without_the_flag_or_with_another_kind_of_output_there_is_the_envelope_only() {
    let scene = Scene::new();
    scene.script("tool", "#!/bin/sh\ncat >/dev/null\necho 1\necho 2\n", JSONL);
    assert_eq!(scene.run("tool", &json!({}), &[]).output(), json!([1, 2]));
    scene.script("one", "#!/bin/sh\ncat >/dev/null\necho '{}'\n", "profile = \"standard\"\n");
    assert_eq!(scene.run("one", &json!({}), &["--stream"]).output(), json!({}));
    scene.run("one", &json!({}), &["--stream", "--pretty"]).expect("call_error", "usage");
    let exec = scene.exec(&["--stream", "--stdout", "jsonl"], &["printf", "1\\n2\\n"]);
    assert_eq!(lines(&exec).len(), 3);
}

#[test]
fn a_reader_who_goes_away_ends_nothing_and_one_who_does_not_read_can_be_signalled() {
    let scene = Scene::new();
    let script = "#!/bin/sh\ncat >/dev/null\ni=0\nwhile [ $i -lt 3000 ]; do echo '\"0123456789012345678901234567890123456789\"'; i=$((i+1)); done\n";
    scene.script("tool", script, JSONL);
    let mut command = scene.command();
    command.args(["run", "tool", "--stream"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let mut child = command.spawn().expect("the binary starts");
    // More than a pipe holds: it waits for a reader, and the call is over long before.
    std::thread::sleep(Duration::from_secs(6));
    assert!(child.try_wait().expect("it can be asked").is_none(), "it ended though nobody read");
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it lives");
    let until = Instant::now() + Duration::from_secs(10);
    while child.try_wait().expect("it can be asked").is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = child.try_wait().expect("it can be asked").is_some();
    if !ended {
        child.kill().expect("it lives");
    }
    let _ = child.wait();
    assert!(ended, "SIGTERM did not end it");
}
