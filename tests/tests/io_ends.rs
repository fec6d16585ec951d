//! How a tool's life ends, and what is said of it.
use serde_json::{Value, json};
use std::time::Duration;
use toolcell_tests::needs::has;
use toolcell_tests::{Answer, Scene, left, needs};

/// Two seconds and half a second of grace.
const TIGHT: &str = "profile = \"standard\"\n[limits]\nwall = \"2s\"\ngrace = \"500ms\"\nmemory = \"256MiB\"\n";
/// Far more time than any of these tools needs.
const LONG: &str = "profile = \"standard\"\n[limits]\nwall = \"25s\"\ngrace = \"500ms\"\n";

fn tool(scene: &Scene, script: &str, toml: &str) -> Answer {
    scene.script("tool", script, toml);
    scene.run("tool", &json!({}), &[])
}

fn sh(body: &str) -> String {
    format!("#!/bin/sh\ncat >/dev/null\n{body}")
}

/// The details of a warning; the test fails when it is not there.
fn warned(answer: &Answer, code: &str) -> Value {
    let all = answer.at("/warnings");
    let one = all.as_array().into_iter().flatten().find(|one| one["code"] == code);
    one.unwrap_or_else(|| panic!("no {code}: {:#}", answer.json()))["details"].clone()
}

#[test]
fn a_grandchild_that_keeps_stdout_open_does_not_delay_the_answer() {
    for scene in Scene::everyone() {
        let marker = left::marker();
        let answer = tool(&scene, &sh(&format!("echo '{{\"ok\":true}}'\nsleep {marker} &\nexit 0\n")), LONG);
        assert_eq!(answer.output(), json!({"ok": true}));
        assert_eq!(warned(&answer, "leaked_processes")["count"], 1);
        assert!(answer.took < Duration::from_secs(10), "{:?}", answer.took);
        assert_eq!(left::alive(&marker), Vec::<u32>::new());
    }
}

#[test]
fn the_deadline_ends_the_children_of_a_shell_too() {
    for scene in Scene::everyone() {
        let marker = left::marker();
        let body = format!(
            "(while :; do echo tick; sleep 0.2; done) &\nsleep {marker} &\nsh -c 'while :; do :; done' &\nwait\n"
        );
        let answer = tool(&scene, &sh(&body), TIGHT);
        answer.expect("channel_failure", "timeout");
        assert_eq!(
            (answer.at("/killed_by"), answer.at("/error/retryable"), answer.code),
            (json!("deadline"), json!(false), Some(69))
        );
        assert!(answer.took > Duration::from_millis(1900) && answer.took < Duration::from_secs(8), "{:?}", answer.took);
        assert_eq!(left::alive(&marker), Vec::<u32>::new());
    }
}

#[test]
fn a_session_of_its_own_is_no_way_out() {
    for scene in Scene::everyone() {
        let marker = left::marker();
        let body = format!("setsid sh -c 'exec sleep {marker}' </dev/null >/dev/null 2>&1 &\nexec sleep {marker}\n");
        tool(&scene, &sh(&body), TIGHT).expect("channel_failure", "timeout");
        assert_eq!(left::alive(&marker), Vec::<u32>::new());
    }
}

#[test]
fn a_daemon_does_not_outlive_a_successful_call() {
    for scene in Scene::everyone() {
        let marker = left::marker();
        let body =
            format!("setsid sh -c 'sleep {marker} </dev/null >/dev/null 2>&1 &' &\nwait\necho '{{\"ok\":true}}'\n");
        let answer = tool(&scene, &sh(&body), LONG);
        assert_eq!(answer.output(), json!({"ok": true}));
        assert_eq!(warned(&answer, "leaked_processes")["count"], 1);
        assert!(answer.took < Duration::from_secs(10), "{:?}", answer.took);
        assert_eq!(left::alive(&marker), Vec::<u32>::new());
    }
}

#[test]
fn a_tool_that_ignores_sigterm_is_killed_after_the_grace_and_the_reason_stays_timeout() {
    for scene in Scene::everyone() {
        let answer = tool(&scene, &sh("trap '' TERM INT HUP\nwhile :; do sleep 0.1; done\n"), TIGHT);
        answer.expect("channel_failure", "timeout");
        assert_eq!(answer.at("/exit"), json!({"code": null, "signal": "SIGKILL"}));
        assert_eq!(answer.at("/killed_by"), "deadline");
        let details = json!({"limit_ms": 2000, "grace_ms": 500, "started": true, "escalated": true});
        assert_eq!(answer.at("/error/details"), details);
        assert!(answer.took > Duration::from_millis(2400) && answer.took < Duration::from_secs(8), "{:?}", answer.took);
    }
}

#[test]
fn a_tool_that_obeys_sigterm_has_still_timed_out() {
    let answer = tool(&Scene::new(), &sh("trap 'echo \"{}\"; exit 0' TERM\nwhile :; do sleep 0.1; done\n"), TIGHT);
    answer.expect("channel_failure", "timeout");
    assert_eq!(answer.at("/exit"), json!({"code": 0, "signal": null}));
    assert_eq!((answer.at("/error/details/escalated"), answer.at("/output")), (json!(false), Value::Null));
}

#[test]
fn a_stopped_tool_is_ended_all_the_same() {
    for scene in Scene::everyone() {
        let answer = tool(&scene, &sh("echo '{\"half\":'\nkill -STOP 0\necho '1}'\n"), TIGHT);
        answer.expect("channel_failure", "timeout");
        assert!(answer.took < Duration::from_secs(8), "{:?}", answer.took);
    }
}

#[test]
fn the_tool_is_no_pid_1_and_dies_of_its_own_signals() {
    for scene in Scene::everyone() {
        for (number, name) in [(15, "SIGTERM"), (6, "SIGABRT"), (11, "SIGSEGV"), (1, "SIGHUP"), (9, "SIGKILL")] {
            let answer =
                tool(&scene, &sh(&format!("kill -{number} $$\nsleep 5\necho '{{\"survived\": true}}'\n")), LONG);
            answer.expect("channel_failure", "crashed");
            assert_eq!(answer.at("/exit"), json!({"code": null, "signal": name}));
            assert_eq!(answer.at("/error/details"), json!({"signal": name, "signal_number": number}));
            assert_eq!((answer.at("/killed_by"), answer.at("/error/origin")), (Value::Null, json!("tool")));
            assert!(answer.took < Duration::from_secs(4), "{name}: {:?}", answer.took);
        }
    }
}

#[test]
fn what_came_before_the_deadline_is_shown_and_is_no_result() {
    let answer = tool(&Scene::new(), &sh("echo '{\"step\":1}'\necho 'opening source 7' >&2\nexec sleep 60\n"), TIGHT);
    answer.expect("channel_failure", "timeout");
    assert_eq!(answer.at("/output"), Value::Null);
    let details = json!({"text": "{\"step\":1}\n", "bytes": 11, "truncated": false});
    assert_eq!(warned(&answer, "stdout_partial"), details);
    assert_eq!(answer.at("/stderr"), json!({"text": "opening source 7\n", "truncated": false}));
}

#[test]
fn many_short_children_leave_no_zombie_and_no_hang() {
    let scene = Scene::new();
    scene.script(
        "tool",
        &sh("i=0; while [ $i -lt 200 ]; do (true) & i=$((i+1)); done\necho '{\"ok\":true}'\nexec true\n"),
        "profile = \"standard\"\n[limits]\nwall = \"25s\"\n",
    );
    for _ in 0..10 {
        let answer = scene.run("tool", &json!({}), &[]);
        // A burst may run into the limit of 64 processes; then the shell says so, and still nothing hangs.
        assert!(["", "undeclared_exit"].contains(&answer.reason().as_str()), "{:#}", answer.json());
        assert!(answer.took < Duration::from_secs(15), "{:?}", answer.took);
    }
}

#[test]
fn the_callers_signal_state_is_not_the_tools() {
    needs!(has("python3"), "python3 is not installed");
    for scene in Scene::everyone() {
        scene.script(
            "state",
            "#!/bin/sh\ncat >/dev/null\nset -- $(sed -n 's/^Sig\\(Blk\\|Ign\\):.//p' /proc/self/status)\n\
            printf '{\"blocked\":\"%s\",\"ignored\":\"%s\"}' \"$1\" \"$2\"\n",
            "profile = \"standard\"\n",
        );
        let command = scene.command();
        let careless = "import signal, os, sys\n\
            for s in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)\n\
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\n\
            os.execvp(sys.argv[1], sys.argv[1:])";
        let mut through = std::process::Command::new("/usr/bin/python3");
        through
            .env_clear()
            .current_dir(scene.work())
            .args(["-c", careless])
            .arg(command.get_program())
            .args(command.get_args());
        through.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).args(["run", "state"]);
        let answer = toolcell_tests::finish(&mut through, b"{}");
        let output = answer.output();
        let bits = |name: &str| u64::from_str_radix(output[name].as_str().unwrap_or_default(), 16).expect("hex");
        // Signals 32 and 33 are the C library's own: its spawn may leave them ignored in a child.
        assert_eq!((bits("blocked"), bits("ignored") & 0x7fff_ffff), (0, 0), "{output}");
        assert_eq!(answer.code, Some(0));
    }
}

#[test]
fn a_tool_that_kills_all_it_can_reach_reaches_only_its_own() {
    for scene in Scene::everyone() {
        let marker = left::marker();
        // The shell itself is spared by kill(-1); its child is not, and neither init nor toolcell is reached.
        let answer =
            tool(&scene, &sh(&format!("sleep {marker} &\nkill -9 -1\nwait $!\nprintf '{{\"child\":%s}}' $?\n")), LONG);
        assert_eq!(answer.output(), json!({"child": 137}));
        assert_eq!((answer.at("/killed_by"), answer.code), (Value::Null, Some(0)));
        assert_eq!(left::alive(&marker), Vec::<u32>::new());
    }
}

#[test]
fn nothing_of_a_call_is_left_on_the_host() {
    let ends = [
        ("echo '{\"ok\":true}'\nsleep MARKER &\nsleep 0.3\n", LONG),
        ("exec sleep MARKER\n", TIGHT),
        ("sleep MARKER &\nkill -9 $$\n", LONG),
        ("sleep MARKER &\nsleep 0.3\nexit 3\n", LONG),
    ];
    for scene in Scene::everyone() {
        for (body, toml) in ends {
            let marker = left::marker();
            scene.script("tool", &sh(&body.replace("MARKER", &marker)), toml);
            let groups = std::thread::scope(|scope| {
                let watch = scope.spawn(|| {
                    left::soon(|| !left::alive(&marker).is_empty());
                    left::alive(&marker).into_iter().flat_map(left::control_groups).collect::<Vec<_>>()
                });
                scene.run("tool", &json!({}), &[]).json();
                watch.join().expect("it watches")
            });
            assert_eq!(left::alive(&marker), Vec::<u32>::new(), "{body}");
            let there: Vec<_> = groups.iter().filter(|group| group.exists()).collect();
            assert!(there.is_empty(), "{body}: {there:?}");
            assert_eq!(left::names(&scene.path().join("tmp")), Vec::<String>::new(), "{body}");
            assert_eq!(left::names(&scene.work()), Vec::<String>::new(), "{body}");
        }
    }
}
