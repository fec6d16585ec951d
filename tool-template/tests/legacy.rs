//! Older programs under `legacy`, with real processes.

mod common;

use std::time::{Duration, Instant};

use common::{answer, example, start};
use toolcell_tool::legacy::{Command, End};

fn sh(script: &str) -> Command {
    Command::new("sh").arg("-c").arg(script)
}

/// Gone, or dead and only not reaped yet by whoever inherited it.
fn is_dead(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

fn assert_dies(pid: &str) {
    assert!(pid.parse::<u32>().is_ok(), "{pid:?} is no process id");
    let limit = Instant::now() + Duration::from_secs(2);
    while !is_dead(pid) {
        assert!(Instant::now() < limit, "process {pid} is still alive");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_program_gets_arguments_input_variables_and_a_folder() {
    let output = sh(r#"cat; printf ' %s %s' "$1" "$V"; pwd; echo oops >&2; exit 3"#)
        .args(["sh", "a b"])
        .env("V", "v")
        .current_dir("/")
        .stdin_bytes("in")
        .timeout(Duration::from_secs(20))
        .run()
        .unwrap();
    assert_eq!(output.end, End::Exited(3));
    assert_eq!(output.stdout, b"in a b v/\n");
    assert_eq!(output.stderr, b"oops\n");
    assert!(!output.stdout_truncated && !output.stderr_truncated);
}

#[test]
fn eight_mebibytes_go_in_and_out_at_once() {
    let big: Vec<u8> = (0..8 << 20).map(|i: u32| i.to_le_bytes()[1]).collect();
    let output = Command::new("cat").stdin_bytes(big.clone()).timeout(Duration::from_secs(20)).run().unwrap();
    assert_eq!(output.end, End::Exited(0));
    assert!(output.stdout == big && !output.stdout_truncated);
}

#[test]
fn what_is_over_the_limit_is_dropped_and_the_program_still_ends() {
    let script = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2";
    let output = sh(script).stdout_limit(1000).stderr_limit(300_000).timeout(Duration::from_secs(20)).run().unwrap();
    assert_eq!((output.end, output.stdout.len(), output.stdout_truncated), (End::Exited(0), 1000, true));
    assert_eq!((output.stderr.len(), output.stderr_truncated), (300_000, false));
    assert!(output.require_success().is_err());
}

#[test]
fn a_program_that_does_not_read_its_input_is_no_failure() {
    let output = Command::new("true").stdin_bytes(vec![b'x'; 1 << 20]).timeout(Duration::from_secs(20)).run().unwrap();
    assert_eq!(output.end, End::Exited(0));
}

#[test]
fn the_deadline_kills_the_whole_group() {
    let since = Instant::now();
    let output = sh("sleep 300 & echo $!; sleep 300").timeout(Duration::from_millis(400)).run().unwrap();
    assert_eq!(output.end, End::TimedOut);
    let took = since.elapsed();
    assert!(took >= Duration::from_millis(400) && took < Duration::from_secs(4), "{took:?}");
    assert_dies(std::str::from_utf8(&output.stdout).unwrap().trim());
}

#[test]
fn a_program_that_closed_its_streams_still_has_a_deadline() {
    let since = Instant::now();
    let output = sh("exec >/dev/null 2>&1; sleep 300").timeout(Duration::from_millis(300)).run().unwrap();
    assert_eq!(output.end, End::TimedOut);
    assert!(since.elapsed() < Duration::from_secs(4));
}

#[test]
fn what_a_program_leaves_behind_neither_holds_the_call_nor_survives_it() {
    let since = Instant::now();
    let output = sh("sleep 300 & echo $!").timeout(Duration::from_secs(60)).run().unwrap();
    assert_eq!(output.end, End::Exited(0));
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert_dies(std::str::from_utf8(&output.stdout).unwrap().trim());

    let quiet = sh("sleep 300 >/dev/null 2>&1 & echo $!").timeout(Duration::from_secs(60)).run().unwrap();
    assert_dies(std::str::from_utf8(&quiet.stdout).unwrap().trim());
}

#[test]
fn a_late_writer_is_still_heard() {
    let output = sh("(sleep 0.2; echo late) & echo early").timeout(Duration::from_secs(20)).run().unwrap();
    assert_eq!(output.stdout, b"early\nlate\n");
}

#[test]
fn a_signal_is_told_apart_from_an_exit_code() {
    let output = sh("kill -9 $$").timeout(Duration::from_secs(20)).run().unwrap();
    assert_eq!(output.end, End::Signaled(9));
}

#[test]
fn a_program_that_is_not_there_cannot_be_started() {
    let error = Command::new("/nonexistent/old").run().unwrap_err();
    assert_eq!(error.exit_code(), 69);
    assert!(error.to_string().contains("start_failed") && error.to_string().contains("installed"), "{error}");
}

#[test]
fn a_passed_deadline_starts_nothing() {
    // Starting this program would be an error of its own.
    let output = Command::new("/nonexistent/old").timeout(Duration::ZERO).run().unwrap();
    assert_eq!(output.end, End::TimedOut);
}

#[test]
fn a_tool_maps_the_exit_codes_of_the_program_that_it_wraps() {
    let ok = answer(example("wrap"), r#"{"script":"cat","stdin":"x"}"#);
    assert_eq!((ok.code, ok.document["stdout"].as_str()), (Some(0), Some("x")));
    answer(example("wrap"), r#"{"script":"echo none >&2; exit 1"}"#).assert_error(66, "data_limitation", None);
    answer(example("wrap"), r#"{"script":"exit 2"}"#).assert_error(69, "channel_failure", Some("undeclared_exit"));
}

#[test]
fn the_tool_still_answers_when_the_program_uses_up_the_time_of_the_call() {
    let mut command = example("wrap");
    command.env("TOOLCELL_DEADLINE_MS", "1000");
    let since = Instant::now();
    let late = answer(command, r#"{"script":"sleep 300"}"#);
    late.assert_error(69, "channel_failure", Some("upstream_timeout"));
    assert!(since.elapsed() >= Duration::from_millis(750), "{:?}", since.elapsed());
}

#[test]
fn a_tool_that_is_told_to_stop_takes_its_program_with_it() {
    let mark = std::env::temp_dir().join(format!("toolcell-tool-pid-{}", std::process::id()));
    let script = format!("echo $$ > {0}.new && mv {0}.new {0}; sleep 300", mark.display());
    let (child, writer) = start(example("wrap"), serde_json::json!({ "script": script }).to_string());
    writer.join().unwrap();
    let limit = Instant::now() + Duration::from_secs(10);
    while !mark.exists() {
        assert!(Instant::now() < limit, "the program never started");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = std::fs::read_to_string(&mark).unwrap();
    assert!(std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    common::Answer::new(child.wait_with_output().unwrap()).assert_error(69, "channel_failure", Some("cancelled"));
    assert_dies(pid.trim());
    std::fs::remove_file(mark).unwrap();
}
