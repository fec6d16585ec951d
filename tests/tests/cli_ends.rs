//! How toolcell ends when somebody goes away: readers of its streams, and those who cancel.
use serde_json::{Value, json};
use std::io::Read;
use std::process::{Child, Stdio};
use std::time::Duration;
use toolcell_tests::{Answer, Scene, left};

/// A scene with a tool that sleeps under a marker, alone and by its own children.
fn sleeper(scene: &Scene, marker: &str) {
    let script = format!("#!/bin/sh\ncat >/dev/null\nsleep {marker} &\nsetsid sleep {marker} &\nexec sleep {marker}\n");
    scene.script("sleeper", &script, "profile = \"standard\"\n[limits]\ngrace = \"300ms\"\n");
}

fn start(scene: &Scene, marker: &str) -> Child {
    let mut command = scene.command();
    command.args(["run", "sleeper"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    assert!(left::soon(|| left::alive(marker).len() == 3), "the tool did not start");
    child
}

fn send(child: &Child, signal: nix::sys::signal::Signal) {
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).expect("a pid"));
    nix::sys::signal::kill(pid, signal).expect("it lives");
}

#[test]
fn a_signal_cancels_the_call_prints_the_envelope_and_takes_its_course() {
    use nix::sys::signal::Signal::{SIGHUP, SIGINT, SIGTERM};
    for scene in Scene::everyone() {
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            let marker = left::marker();
            sleeper(&scene, &marker);
            let child = start(&scene, &marker);
            let groups: Vec<_> = left::alive(&marker).into_iter().flat_map(left::control_groups).collect();
            let begun = std::time::Instant::now();
            send(&child, signal);
            let answer = Answer::of(child.wait_with_output().expect("it ends"), begun.elapsed());
            answer.expect("call_error", "cancelled");
            assert_eq!(answer.at("/error/origin"), "caller");
            assert_eq!(answer.at("/killed_by"), "cancelled");
            assert_eq!((answer.code, answer.signal), (None, Some(signal as i32)));
            assert!(answer.took < Duration::from_secs(5), "{:?}", answer.took);
            assert_eq!(left::alive(&marker), Vec::<u32>::new());
            assert_eq!(groups.iter().filter(|group| group.exists()).count(), 0, "{groups:?}");
            assert_eq!(left::names(&scene.path().join("tmp")), Vec::<String>::new());
        }
    }
}

#[test]
fn a_second_signal_does_not_cut_the_envelope_short() {
    let scene = Scene::new();
    let marker = left::marker();
    let script = format!("#!/bin/sh\ntrap '' TERM\nsleep {marker} & sleep {marker} & sleep {marker}\nwait\n");
    scene.script("sleeper", &script, "profile = \"standard\"\n[limits]\ngrace = \"300ms\"\n");
    let child = start(&scene, &marker);
    send(&child, nix::sys::signal::Signal::SIGTERM);
    send(&child, nix::sys::signal::Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(50));
    send(&child, nix::sys::signal::Signal::SIGTERM);
    let answer = Answer::of(child.wait_with_output().expect("it ends"), Duration::ZERO);
    answer.expect("call_error", "cancelled");
    assert!(answer.signal.is_some(), "{answer:?}");
    assert_eq!(left::alive(&marker), Vec::<u32>::new());
}

#[test]
fn nothing_of_the_call_outlives_a_runner_that_is_killed() {
    for scene in Scene::everyone() {
        let marker = left::marker();
        sleeper(&scene, &marker);
        let mut child = start(&scene, &marker);
        child.kill().expect("it lives");
        child.wait().expect("it ends");
        assert!(left::soon(|| left::alive(&marker).is_empty()), "left: {:?}", left::alive(&marker));
    }
}

#[test]
fn runners_that_are_killed_early_leave_nothing_either() {
    let scene = Scene::new();
    let marker = left::marker();
    sleeper(&scene, &marker);
    for round in 0..40 {
        let mut command = scene.command();
        command.args(["run", "sleeper"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary starts");
        std::thread::sleep(Duration::from_millis(round));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }
    assert!(left::soon(|| left::alive(&marker).is_empty()), "left: {:?}", left::alive(&marker));
}

/// Runs `command` in a shell that says with which status toolcell ended.
fn in_shell(scene: &Scene, script: &str) -> (String, String) {
    let env = scene.command();
    let vars: Vec<_> = env.get_envs().filter_map(|(name, value)| Some((name, value?))).collect();
    let mut command = std::process::Command::new("/bin/bash");
    command
        .env_clear()
        .envs(vars)
        .current_dir(scene.work())
        .args(["-c", script])
        .arg(toolcell_tests::binary("toolcell"));
    let output = command.stdin(Stdio::null()).output().expect("bash starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn a_reader_that_goes_away_changes_no_exit_code_and_is_no_panic() {
    let scene = Scene::new();
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    scene.script("none", "#!/bin/sh\nexit 66\n", "profile = \"standard\"\n");
    let rows =
        [("run echo", "0"), ("run none", "66"), ("run no_such", "64"), ("exec -- /bin/false", "69"), ("--help", "0")];
    for (command, code) in rows {
        let (out, err) = in_shell(&scene, &format!("\"$0\" {command} | exec true; echo ${{PIPESTATUS[0]}}"));
        assert_eq!(out.trim(), code, "{command}: {err}");
        assert!(!err.contains("panick"), "{command}: {err}");
    }
    for command in ["list", "show echo", "plan echo", "man", "completions bash"] {
        let (out, err) = in_shell(&scene, &format!("\"$0\" {command} | exec true; echo ${{PIPESTATUS[0]}}"));
        assert_eq!((out.trim(), err.as_str()), ("0", ""), "{command}");
    }
}

#[test]
fn closed_output_descriptors_harm_neither_the_call_nor_the_exit_code() {
    let scene = Scene::new();
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    scene.script(
        "mark",
        "#!/bin/sh\ncat >/dev/null\necho kept > \"$TOOLCELL_OUT/kept\"\nexit 66\n",
        "profile = \"standard\"\n",
    );
    let (out, _) = in_shell(&scene, "\"$0\" run mark --out kept >&-; echo $?");
    assert_eq!(out.trim(), "66");
    assert_eq!(std::fs::read_to_string(scene.work().join("kept/kept")).expect("it was kept"), "kept\n");
    let (out, _) = in_shell(&scene, "\"$0\" run echo 2>&-; echo $?");
    let (envelope, code) = out.trim_end().rsplit_once('\n').expect("two lines");
    assert_eq!(serde_json::from_str::<Value>(envelope).expect("an envelope")["output"], json!({}));
    assert_eq!(code, "0");
    let (out, _) = in_shell(&scene, "\"$0\" run echo --bad-flag 2>&-; echo $?");
    let (envelope, code) = out.trim_end().rsplit_once('\n').expect("two lines");
    assert_eq!(serde_json::from_str::<Value>(envelope).expect("an envelope")["error"]["reason"], "usage");
    assert_eq!(code, "64");
    let (out, _) = in_shell(&scene, "\"$0\" run echo <&- >&- 2>&-; echo $?");
    assert_eq!(out.trim(), "0");
}

#[test]
fn a_full_disk_under_stdout_is_no_panic() {
    let scene = Scene::new();
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    let (_, err) = in_shell(&scene, "\"$0\" run echo >/dev/full");
    assert!(!err.contains("panick"), "{err}");
}

#[test]
fn the_envelope_is_read_whole_by_a_slow_reader() {
    let scene = Scene::new();
    scene.script(
        "big",
        "#!/bin/sh\ncat >/dev/null\nprintf '\"'; head -c 3000000 /dev/zero | tr '\\0' x; printf '\"'\n",
        "profile = \"standard\"\n",
    );
    let mut command = scene.command();
    let mut child =
        command.args(["run", "big"]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(1));
    let mut text = Vec::new();
    child.stdout.take().expect("a pipe").read_to_end(&mut text).expect("it can be read");
    assert!(child.wait().expect("it ends").success());
    let envelope: Value = serde_json::from_slice(&text).expect("one envelope");
    assert_eq!(envelope["output"].as_str().map(str::len), Some(3_000_000));
}

#[test]
fn control_groups_of_a_killed_runner_go_with_a_later_call() {
    let scene = Scene::new();
    let marker = left::marker();
    sleeper(&scene, &marker);
    let mut child = start(&scene, &marker);
    let groups: Vec<_> = left::alive(&marker).into_iter().flat_map(left::control_groups).collect();
    child.kill().expect("it lives");
    child.wait().expect("it ends");
    // A group being made is spared for ten seconds.
    std::thread::sleep(Duration::from_secs(12));
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    scene.run("echo", &json!({}), &[]).output();
    assert_eq!(groups.iter().filter(|group| group.exists()).count(), 0, "{groups:?}");
}
