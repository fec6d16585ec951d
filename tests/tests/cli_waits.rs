//! What may take long before a tool is started: the caller's own input. The deadline counts from the start.
use serde_json::json;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use toolcell_tests::{Answer, Scene, left};

/// A call whose standard input stays open and brings nothing.
fn waiting(scene: &Scene, flags: &[&str]) -> (Child, Instant) {
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    let mut command = scene.command();
    command.args(["run", "echo"]).args(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    (command.spawn().expect("the binary starts"), Instant::now())
}

/// The answer, without the input being closed before it is there; after half a minute it is closed.
fn answer(mut child: Child, begun: Instant) -> Answer {
    let input = child.stdin.take();
    let (done, waits) = std::sync::mpsc::channel::<()>();
    let holder = std::thread::spawn(move || {
        let _ = waits.recv_timeout(Duration::from_secs(30));
        drop(input);
    });
    let output = child.wait_with_output().expect("it ends");
    let took = begun.elapsed();
    drop(done);
    holder.join().expect("it ends");
    Answer::of(output, took)
}

#[test]
fn input_is_awaited_for_a_second_at_least_and_the_answer_says_so() {
    let scene = Scene::new();
    let (child, begun) = waiting(&scene, &["--timeout", "100ms"]);
    let answer = answer(child, begun);
    answer.expect("call_error", "usage");
    let message = answer.at("/error/message").to_string();
    assert!(message.contains("within 1 s") && message.contains("100 ms"), "{message}");
}

#[test]
fn an_input_that_never_ends_does_not_outlast_the_deadline() {
    let scene = Scene::new();
    let (child, begun) = waiting(&scene, &["--timeout", "1s"]);
    let answer = answer(child, begun);
    assert!(answer.took < Duration::from_secs(15), "{:?}", answer.took);
    assert_eq!(answer.at("/attempts"), 0);
    assert!(["timeout", "usage", "invalid_input_json"].contains(&answer.reason().as_str()), "{:#}", answer.json());
}

#[test]
fn a_signal_while_the_input_is_awaited_still_brings_an_envelope() {
    let scene = Scene::new();
    let (child, begun) = waiting(&scene, &[]);
    std::thread::sleep(Duration::from_millis(500));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it lives");
    let answer = answer(child, begun);
    assert!(!answer.stdout.is_empty(), "no envelope: {answer:?}");
    answer.expect("call_error", "cancelled");
    assert_eq!((answer.at("/attempts"), answer.signal), (json!(0), Some(15)));
}

#[test]
fn a_refused_call_leaves_no_folder_for_files_behind() {
    let scene = Scene::new();
    scene.run("no_such", &json!({}), &["--out", "new"]).expect("call_error", "unknown_capability");
    assert_eq!(left::names(&scene.work()), Vec::<String>::new());
}

#[test]
fn words_on_stderr_are_json_lines_where_that_was_asked_for() {
    let scene = Scene::new();
    for args in [&["--log-format", "json", "show", "none"][..], &["--log-format=json", "run", "--no-such-flag"]] {
        let answer = scene.toolcell(args, b"");
        assert!(!answer.stderr.is_empty(), "{args:?}");
        for line in answer.stderr.lines() {
            let one: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert!(one["message"].is_string() && one["level"].is_string(), "{line}");
        }
    }
}

#[test]
fn many_calls_at_once_do_not_meet() {
    for scene in Scene::everyone() {
        scene.script(
            "echo",
            "#!/bin/sh\necho x > /work/mine\nls -A /work /tmp /in 2>/dev/null | wc -l >&2\ncat\n",
            "profile = \"standard\"\n",
        );
        scene.run("echo", &json!({}), &[]).output();
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..12)
                .map(|n| {
                    (
                        n,
                        scope.spawn({
                            let scene = &scene;
                            move || scene.run("echo", &json!({"n": n}), &[])
                        }),
                    )
                })
                .collect();
            let mut seen = std::collections::BTreeSet::new();
            for (n, call) in calls {
                let answer = call.join().expect("it ends");
                assert_eq!(answer.output(), json!({"n": n}));
                seen.insert(answer.at("/stderr/text").to_string());
            }
            assert_eq!(seen.len(), 1, "every call saw the same: {seen:?}");
        });
    }
}

#[test]
fn a_signal_in_the_pause_before_a_retry_cancels_the_call() {
    let scene = Scene::new();
    let toml = "command = [\"/bin/sh\", \"-c\", \"exit 75\"]\nprofile = \"standard\"\n\
                [retry]\nmax = 3\nbackoff = \"8s\"\nmax_backoff = \"8s\"\n";
    let annotations = json!({"read_only": true, "idempotent": true, "destructive": false, "open_world": false});
    scene.capability("again", &json!({"annotations": annotations}), toml);
    let mut command = scene.command();
    command.args(["run", "again"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    std::thread::sleep(Duration::from_secs(1));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it lives");
    let answer = Answer::of(child.wait_with_output().expect("it ends"), Duration::ZERO);
    answer.expect("call_error", "cancelled");
    assert_eq!((answer.at("/attempts"), answer.signal), (json!(1), Some(15)));
}
