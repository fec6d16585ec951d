//! What attacks and reviews have found once, and must not come back.
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::{Duration, Instant};
use toolcell_tests::{Answer, Scene, needs, needs::has};

#[test]
fn death_by_a_real_time_signal_is_a_crash_and_seen_at_once() {
    needs!(has("python3"), "python3 is not installed");
    for scene in Scene::everyone() {
        let script = "#!/usr/bin/python3\nimport os, time\nos.kill(os.getpid(), 40)\ntime.sleep(20)\n";
        scene.script("realtime", script, "profile = \"standard\"\n");
        let answer = scene.run("realtime", &json!({}), &["--timeout", "20s"]);
        answer.expect("channel_failure", "crashed");
        assert_eq!(answer.at("/exit/signal"), "SIGRTMIN+6");
        assert!(answer.took < Duration::from_secs(15), "{:?}", answer.took);
    }
}

/// The children of a process, oldest first.
fn children(parent: u32) -> Vec<i32> {
    let text = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[test]
fn a_launcher_that_hangs_holds_nobody_up() {
    let scene = Scene::new();
    scene.script("sleeper", "#!/bin/sh\nsleep 1\necho '{}'\n", "profile = \"standard\"\n");
    let mut command = scene.command();
    command.args(["run", "sleeper"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begun = Instant::now();
    let child = command.spawn().expect("the binary starts");
    // Once init is there too, the launcher has done its part.
    while children(child.id()).len() < 2 && begun.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let launcher = *children(child.id()).first().expect("a launcher");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(launcher), nix::sys::signal::Signal::SIGSTOP).expect("it lives");
    let answer = Answer::of(child.wait_with_output().expect("it ends"), begun.elapsed());
    assert_eq!(answer.output(), json!({}));
    assert!(answer.took < Duration::from_secs(10), "{:?}", answer.took);
}

#[test]
fn arguments_that_are_too_long_together_are_the_callers() {
    let scene = Scene::new();
    scene.capability(
        "many",
        &json!({}),
        "command = [\"/bin/echo\", \"--\", \"{/words/*}\"]\nprofile = \"standard\"\nstdin = \"none\"\nstdout = \"text\"\n",
    );
    let words: Vec<String> = (0..30_000).map(|number| format!("{number:0100}")).collect();
    let answer = scene.run("many", &json!({"words": words}), &[]);
    answer.expect("call_error", "rejected_input");
    assert_eq!(answer.at("/attempts"), 0);
    scene.run("many", &json!({"words": words[..100]}), &[]).output();
}

#[test]
fn a_replaced_out_folder_is_said_and_leads_nowhere() {
    for scene in Scene::everyone() {
        let secret = scene.write("outside/secret", "s3cret");
        let script = format!(
            "#!/bin/sh\nmv \"$TOOLCELL_OUT\" /work/moved\nln -s {} \"$TOOLCELL_OUT\"\necho '{{}}'\n",
            secret.parent().expect("a folder").display()
        );
        scene.script("swapper", &script, "profile = \"standard\"\n");
        let answer = scene.run("swapper", &json!({}), &[]);
        answer.output();
        assert_eq!(answer.at("/files"), json!([]));
        scene.script(
            "remover",
            "#!/bin/sh\nrm -r \"$TOOLCELL_OUT\"\nmkdir \"$TOOLCELL_OUT\"\necho x > \"$TOOLCELL_OUT/f\"\necho '{}'\n",
            "profile = \"standard\"\n",
        );
        let answer = scene.run("remover", &json!({}), &[]);
        assert!(answer.warnings().contains(&"out_truncated".to_owned()), "{:#}", answer.json());
    }
}

#[test]
fn without_mounts_the_out_folder_is_the_one_that_was_given() {
    for scene in Scene::everyone() {
        scene.config("[[grant]]\ncapability = \"*\"\nprofiles = [\"open\"]\n");
        let secret = scene.write("outside/secret", "s3cret");
        let script = format!(
            "#!/bin/sh\nmv \"$TOOLCELL_OUT\" \"$TOOLCELL_OUT.moved\"\nln -s {} \"$TOOLCELL_OUT\"\necho '{{}}'\n",
            secret.parent().expect("a folder").display()
        );
        scene.script("swapper", &script, "profile = \"open\"\n");
        let answer = scene.run("swapper", &json!({}), &["--out", "kept"]);
        answer.output();
        assert_eq!(answer.at("/files"), json!([]), "the link is not followed");
    }
}

#[test]
fn each_attempt_leaves_its_own_files() {
    let scene = Scene::new();
    let script = "#!/bin/sh\necho \"$TOOLCELL_CALL_ID $$ $(date +%N)\" > \"$TOOLCELL_OUT/trace.txt\"\nexit 75\n";
    let path = scene.write("registry/flaky/run", script);
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it can be set");
    let annotations = json!({"read_only": true, "idempotent": true, "destructive": false, "open_world": false});
    let toml =
        "command = [\"./run\"]\nprofile = \"standard\"\n[retry]\nmax = 1\nbackoff = \"10ms\"\nmax_backoff = \"10ms\"\n";
    scene.capability("flaky", &json!({"annotations": annotations}), toml);
    let answer = scene.run("flaky", &json!({}), &["--out", "kept"]);
    answer.expect("channel_failure", "try_later");
    assert_eq!((answer.at("/attempts"), answer.at("/files/0/name")), (json!(2), json!("trace.txt")));
    assert!(scene.work().join("kept/trace.txt").is_file());
}

#[test]
fn a_profile_that_says_two_things_of_the_network_is_refused() {
    let scene = Scene::new();
    scene.config("");
    for (name, text) in [
        ("loose", "extends = \"network\"\n[network]\nmode = \"none\"\n"),
        ("split", "extends = \"standard\"\n[require]\nnet_ns = \"off\"\n"),
        ("eager", "extends = \"standard\"\n[require]\nmount_ns = \"best_effort\"\n"),
    ] {
        scene.write(&format!("config/toolcell/profiles/{name}.toml"), format!("schema = 1\nwhy = \"a test\"\n{text}"));
        let answer = scene.exec(&["--profile", name], &["/bin/true"]);
        answer.expect("channel_failure", "invalid_contract");
        assert_eq!(answer.at("/attempts"), 0, "{name}");
    }
}

#[test]
fn sensitive_values_under_open_names_and_in_recursive_schemas_are_in_no_plan() {
    let scene = Scene::new();
    let open = json!({"type": "object", "additionalProperties": {"type": "string", "writeOnly": true}});
    scene.capability(
        "open_names",
        &json!({"input_schema": open}),
        "command = [\"/bin/cat\"]\nprofile = \"standard\"\n",
    );
    let input = json!({"token": "c4nary-one"});
    let plan = scene.toolcell(&["plan", "open_names"], input.to_string().as_bytes());
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    assert!(!String::from_utf8_lossy(&plan.stdout).contains("c4nary"));
    assert_eq!(scene.run("open_names", &input, &[]).output(), input, "the tool still gets it");
    let tree = json!({"$defs": {"node": {"type": "object", "properties": {
        "key": {"type": "string", "x-sensitive": true}, "kid": {"$ref": "#/$defs/node"}}}}, "type": "object",
        "$ref": "#/$defs/node"});
    scene.capability("tree", &json!({"input_schema": tree}), "command = [\"/bin/cat\"]\nprofile = \"standard\"\n");
    let deep = json!({"kid": {"kid": {"key": "c4nary-two"}}});
    let answer = scene.run("tree", &deep, &[]);
    answer.expect("channel_failure", "invalid_contract");
    assert!(!answer.json().to_string().contains("c4nary"));
}

#[test]
fn a_hang_up_that_the_caller_ignores_stays_ignored() {
    let scene = Scene::new();
    scene.script("sleeper", "#!/bin/sh\nsleep 1\necho '{}'\n", "profile = \"standard\"\n");
    let like = scene.command();
    let mut command = std::process::Command::new("nohup");
    command.arg(like.get_program()).args(["run", "sleeper"]).env_clear().current_dir(scene.work());
    command.envs(like.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let begun = Instant::now();
    let child = command.spawn().expect("nohup starts");
    std::thread::sleep(Duration::from_millis(400));
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGHUP).expect("it lives");
    let answer = Answer::of(child.wait_with_output().expect("it ends"), begun.elapsed());
    assert_eq!(answer.output(), Value::Object(serde_json::Map::new()));
}

#[test]
fn an_answer_that_cannot_be_written_is_said() {
    let scene = Scene::new();
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
    let mut command = scene.command();
    let output = command.args(["run", "echo"]).stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).output();
    let output = output.expect("it ends");
    assert!(String::from_utf8_lossy(&output.stderr).contains("could not be written"), "{output:?}");
    assert_eq!(output.status.code(), Some(69), "an answer that is lost is no success");
}

#[test]
fn where_nothing_was_started_nothing_is_called_enforced() {
    let scene = Scene::new();
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    let mut command = scene.command();
    command.args(["run", "echo", "--timeout", "10ms"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let begun = Instant::now();
    // The input comes when the deadline has long passed.
    std::thread::sleep(Duration::from_millis(300));
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), b"{}").expect("it is read");
    let late = Answer::of(child.wait_with_output().expect("it ends"), begun.elapsed());
    late.expect("channel_failure", "timeout");
    let wrong = scene.exec(&[], &["/bin/no-such-program"]);
    for answer in [late, wrong] {
        let layers = answer.at("/sandbox/layers");
        let enforced = layers.as_object().into_iter().flatten().filter(|(_, state)| *state == "enforced");
        assert_eq!((enforced.count(), answer.at("/sandbox/level")), (0, Value::Null), "{:#}", answer.json());
    }
}

#[test]
fn a_runner_that_was_stopped_over_the_deadline_says_timeout() {
    let scene = Scene::new();
    let limits = "profile = \"standard\"\n[limits]\ngrace = \"200ms\"\n";
    scene.script("sleeper", "#!/bin/sh\nsleep 60\n", limits);
    let mut command = scene.command();
    command.args(["run", "sleeper", "--timeout", "1s"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let begun = Instant::now();
    let child = command.stderr(Stdio::piped()).spawn().expect("the binary starts");
    let signal = |signal| {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
        nix::sys::signal::kill(pid, signal).expect("it lives");
    };
    std::thread::sleep(Duration::from_millis(500));
    signal(nix::sys::signal::Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(4));
    signal(nix::sys::signal::Signal::SIGCONT);
    let answer = Answer::of(child.wait_with_output().expect("it ends"), begun.elapsed());
    answer.expect("channel_failure", "timeout");
    assert_eq!(answer.at("/killed_by"), "deadline");
}
