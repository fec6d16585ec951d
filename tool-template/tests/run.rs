//! What a tool built with `run` shows to the outside.

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Answer, answer, example, start};

fn behave(input: &str) -> Answer {
    answer(example("behave"), input)
}

#[test]
fn an_answer_is_one_document_and_exit_0() {
    let answer = behave(r#"{"act":"echo","text":"é\n"}"#);
    assert_eq!(answer.code, Some(0));
    assert_eq!(answer.document, serde_json::json!({"text": "é\n", "values": [1.5]}));
    assert_eq!(answer.stderr, "");
}

#[test]
fn stray_prints_go_to_stderr_also_from_children() {
    let answer = behave(r#"{"act":"print"}"#);
    assert_eq!(answer.code, Some(0));
    assert_eq!(answer.document["text"], "printed");
    assert!(answer.stderr.contains("a new version is available\n"), "{}", answer.stderr);
    assert!(answer.stderr.contains("from a child\n"), "{}", answer.stderr);
}

#[test]
fn a_panic_is_a_clean_failure_with_message_and_place() {
    let answer = behave(r#"{"act":"panic","text":"7"}"#);
    answer.assert_error(70, "channel_failure", Some("tool_internal"));
    assert!(answer.message().contains("index 7 is gone"), "{}", answer.message());
    assert!(answer.message().contains("behave.rs:"), "{}", answer.message());
    assert!(answer.stderr.contains("index 7 is gone"), "people find it on stderr too: {}", answer.stderr);

    let answer = behave(r#"{"act":"panic_in_thread"}"#);
    answer.assert_error(70, "channel_failure", Some("tool_internal"));
    assert!(answer.message().contains("in a thread"), "{}", answer.message());
}

#[test]
fn bad_input_of_each_kind_is_a_call_error() {
    behave("").assert_error(64, "call_error", None);
    for text in ["{", "not json", r#"{"act":"echo"} {}"#] {
        behave(text).assert_error(65, "call_error", Some("invalid_input_json"));
    }
    for (text, pointer) in [
        (r#"{"act":"echo","text":5}"#, "/text"),
        (r#"{"act":"dance"}"#, "/act"),
        ("{}", ""),
        ("[]", ""),
        (r#"{"act":"echo","x":[{"a":1,"a":2}]}"#, "/x/0/a"),
        (r#"{"act":"panic","act":"echo"}"#, "/act"),
    ] {
        let answer = behave(text);
        answer.assert_error(65, "call_error", None);
        assert_eq!(answer.document["error"]["details"]["pointer"], pointer, "{text}");
    }
}

#[test]
fn more_than_64_mib_is_a_call_error() {
    let mut input = vec![b' '; (64 << 20) + 1];
    input.extend_from_slice(br#"{"act":"echo"}"#);
    let answer = answer(example("behave"), input);
    answer.assert_error(65, "call_error", None);
    assert!(answer.message().contains("larger than 67108864 bytes"), "{}", answer.message());
}

#[test]
fn nan_is_a_failure_that_names_the_field() {
    let answer = behave(r#"{"act":"nan"}"#);
    answer.assert_error(70, "channel_failure", Some("tool_internal"));
    assert!(answer.message().contains("/values/1") && answer.message().contains("NaN"), "{}", answer.message());
}

#[test]
fn errors_of_the_handler_keep_what_it_said() {
    let answer = behave(r#"{"act":"partial"}"#);
    answer.assert_error(66, "data_limitation", Some("no_coverage"));
    assert_eq!(answer.document["output"], serde_json::json!([2024]));

    let answer = behave(r#"{"act":"retry"}"#);
    answer.assert_error(75, "channel_failure", None);
    assert_eq!(answer.document["error"]["retry_after_ms"], 2000);
    assert_eq!(answer.document["error"]["retryable"], true);
}

/// Starts a sleeping tool, signals it when it is asleep, and returns its answer with the time it took to die.
fn signalled(act: &str, signal: &str) -> (Answer, Duration) {
    let (mut child, writer) = start(example("behave"), format!(r#"{{"act":"{act}"}}"#));
    writer.join().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "asleep\n");
    let since = Instant::now();
    assert!(Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap().success());
    (Answer::new(child.wait_with_output().unwrap()), since.elapsed())
}

#[test]
fn a_tool_that_sleeps_through_sigterm_answers_once_after_200_ms() {
    for signal in ["-TERM", "-INT"] {
        let (answer, took) = signalled("sleep", signal);
        answer.assert_error(69, "channel_failure", Some("cancelled"));
        assert!(took >= Duration::from_millis(200) && took < Duration::from_secs(5), "{took:?}");
    }
}

#[test]
fn a_tool_that_looks_at_cancelled_gives_its_own_answer() {
    let (answer, _) = signalled("wait_for_cancel", "-TERM");
    answer.assert_error(66, "data_limitation", None);
    assert_eq!(answer.document["output"], "half");
}

#[test]
fn sigterm_while_the_answer_is_being_written_does_not_add_a_second_one() {
    let text = "x".repeat(4 << 20);
    let (mut child, writer) = start(example("behave"), format!(r#"{{"act":"echo","text":"{text}"}}"#));
    writer.join().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // One byte read means that it is writing; the rest is far more than a pipe holds.
    let mut all = vec![0; 1];
    stdout.read_exact(&mut all).unwrap();
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(400));
    stdout.read_to_end(&mut all).unwrap();
    let answer = Answer::new(Output { stdout: all, ..child.wait_with_output().unwrap() });
    assert_eq!((answer.code, answer.document["text"].as_str().map(str::len)), (Some(0), Some(text.len())));
}

fn catches_sigterm(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & (1 << 14) != 0
}

#[test]
fn sigterm_while_reading_stdin_is_answered_too() {
    let mut child = example("behave").spawn().unwrap();
    let limit = Instant::now() + Duration::from_secs(5);
    while !catches_sigterm(child.id()) {
        assert!(Instant::now() < limit, "SIGTERM is never handled");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let stdin = child.stdin.take();
    let answer = Answer::new(child.wait_with_output().unwrap());
    drop(stdin);
    answer.assert_error(69, "channel_failure", Some("cancelled"));
}

#[test]
fn a_closed_stdout_is_exit_74_without_a_panic() {
    let mut command = example("behave");
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdout(writer);
    drop(reader);
    let (mut child, writing) = start(command, r#"{"act":"echo"}"#);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    writing.join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(74), "{stderr}");
    assert!(stderr.contains("cannot be written to stdout") && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn eight_mebibytes_go_in_and_out() {
    let text = "x".repeat(8 << 20);
    let answer = behave(&format!(r#"{{"act":"echo","text":"{text}"}}"#));
    assert_eq!(answer.code, Some(0));
    assert_eq!(answer.document["text"].as_str().unwrap().len(), text.len());
}

#[test]
fn the_context_comes_from_the_environment() {
    let mut command = example("behave");
    command.env("BEHAVE_SECRET", "12345").env("TOOLCELL_DEADLINE_MS", "90500");
    assert_eq!(answer(command, r#"{"act":"secret"}"#).document["text"], "5");
    behave(r#"{"act":"secret"}"#).assert_error(69, "channel_failure", Some("secret_missing"));

    let mut command = example("behave");
    command.env("TOOLCELL_DEADLINE_MS", "90900");
    assert_eq!(answer(command, r#"{"act":"time_left"}"#).document["text"], "Some(90)");
    let mut command = example("behave");
    command.env_remove("TOOLCELL_DEADLINE_MS");
    assert_eq!(answer(command, r#"{"act":"time_left"}"#).document["text"], "None");
}

#[test]
fn files_for_the_caller_are_written_to_toolcell_out() {
    let folder = std::env::temp_dir().join(format!("toolcell-tool-run-{}", std::process::id()));
    let mut command = example("behave");
    command.env("TOOLCELL_OUT", &folder).stderr(Stdio::inherit());
    assert_eq!(answer(command, r#"{"act":"out_file","text":"hello"}"#).code, Some(0));
    assert_eq!(std::fs::read_to_string(folder.join("sub/a.txt")).unwrap(), "hello");
    std::fs::remove_dir_all(folder).unwrap();
}
