//! Where namespaces are not to be had, as in a container's default: level 1, for profiles that can do without.
use serde_json::{Value, json};
use std::net::TcpListener;
use std::process::Command;
use toolcell_tests::needs::{has, is_root};
use toolcell_tests::{Answer, Scene, finish, left, needs, workspace};

const CONTAINER: &str = "schema = 1\nextends = \"standard\"\nwhy = \"containers\"\n[require]\nuser_ns = \"best_effort\"\n\
    mount_ns = \"best_effort\"\npid_ns = \"best_effort\"\nnet_ns = \"best_effort\"\nipc_ns = \"best_effort\"\n\
    uts_ns = \"best_effort\"\ncgroup_ns = \"best_effort\"\nroot = \"best_effort\"\n";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.config("[[grant]]\nexec = true\nprofiles = [\"container\"]\n[[grant]]\ncapability = \"*\"\nprofiles = [\"container\"]\n");
    scene.write("config/toolcell/profiles/container.toml", CONTAINER);
    scene.script("answer", "#!/bin/sh\ncat\n", "profile = \"container\"\n");
    scene
}

/// The same command line where no namespace is to be had.
fn in_a_pod(scene: &Scene, args: &[&str], stdin: &[u8]) -> Answer {
    in_a_place(scene, &[], args, stdin)
}

/// The same, with flags for the place.
fn in_a_place(scene: &Scene, flags: &[&str], args: &[&str], stdin: &[u8]) -> Answer {
    let like = scene.command();
    let mut command = Command::new("python3");
    command.arg(workspace().join("tests/places/pod.py")).args(flags);
    if is_root() && !scene.calls_as_root() {
        command.args(["-u", "65534"]);
    }
    command.arg(toolcell_tests::binary("toolcell")).args(args).env_clear().current_dir(scene.work());
    command.envs(like.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
    finish(&mut command, stdin)
}

fn everyone() -> Vec<Scene> {
    let mut scenes = vec![scene()];
    if is_root() {
        scenes.push(scene().as_uid(65534));
    }
    scenes
}

fn exec<'a>(command: &[&'a str]) -> Vec<&'a str> {
    [&["exec", "--profile", "container", "--"], command].concat()
}

#[test]
fn a_profile_that_can_do_without_runs_at_level_one_and_elsewhere_at_its_best() {
    needs!(has("python3"), "python3 is not installed");
    for scene in everyone() {
        let home = scene.run("answer", &json!({"a": 1}), &[]);
        assert_eq!(home.output(), json!({"a": 1}));
        assert!(home.at("/sandbox/level").as_u64() >= Some(2), "{:#}", home.json());
        let pod = in_a_pod(&scene, &["run", "answer"], b"{\"a\":1}");
        assert_eq!(pod.output(), json!({"a": 1}));
        assert_eq!(pod.at("/sandbox/level"), 1);
        for layer in ["user_ns", "mount_ns", "pid_ns", "net_ns", "root", "proc"] {
            assert_eq!(pod.at(&format!("/sandbox/layers/{layer}")), "missing", "{layer}");
        }
        for layer in ["rlimits", "capabilities", "no_new_privs", "session", "landlock", "seccomp"] {
            assert_eq!(pod.at(&format!("/sandbox/layers/{layer}")), "enforced", "{layer}");
        }
        let together = pod.at("/warnings").to_string();
        assert_eq!(together.matches("without namespaces").count(), 1, "{together}");
        // What was found at home is not believed in the pod, and the other way round.
        assert!(scene.run("answer", &json!({}), &[]).at("/sandbox/level").as_u64() >= Some(2));
    }
}

#[test]
fn what_requires_namespaces_is_refused_there_with_the_way_out() {
    needs!(has("python3"), "python3 is not installed");
    for scene in everyone() {
        for args in [
            &["exec", "--", "true"][..],
            &["exec", "--profile", "container", "--min-level", "2", "--", "true"],
            &["exec", "--profile", "container", "--require", "root", "--", "true"],
        ] {
            let answer = in_a_pod(&scene, args, b"");
            answer.expect("channel_failure", "sandbox_unavailable");
            assert!(answer.at("/error/hint").as_str().is_some_and(|hint| !hint.is_empty()), "{:#}", answer.json());
        }
        let doctor = in_a_pod(&scene, &["doctor"], b"");
        assert_eq!(doctor.code, Some(69), "{doctor:?}");
    }
}

#[test]
fn level_one_still_denies_files_sockets_and_signals() {
    needs!(has("python3"), "python3 is not installed");
    for scene in everyone() {
        let secret = scene.write("home/secret", "of the host").display().to_string();
        let written = scene.path().join("tmp/written").display().to_string();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let connect = format!("import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('in')");
        let kill = format!("kill -0 {}", std::process::id());
        let acts: [&[&str]; 4] =
            [&["cat", &secret], &["touch", &written], &["python3", "-c", &connect], &["sh", "-c", &kill]];
        for act in acts {
            let answer = in_a_pod(&scene, &exec(act), b"");
            answer.expect("channel_failure", "undeclared_exit");
            assert_eq!(answer.at("/sandbox/level"), 1);
        }
        // The control: the same acts of the same user without toolcell.
        if is_root() && scene.calls_as_root() {
            for act in acts {
                let plain = Command::new(act[0]).args(&act[1..]).output().expect("it starts");
                assert!(plain.status.success(), "{act:?}: {plain:?}");
            }
        }
        let status = in_a_pod(&scene, &exec(&["grep", "-E", "CapEff|NoNewPrivs", "/proc/self/status"]), b"");
        let text = status.output()["text"].as_str().unwrap_or_default().to_owned();
        assert!(text.contains("0000000000000000") && text.contains("NoNewPrivs:\t1"), "{text}");
    }
}

#[test]
fn nothing_of_a_call_at_level_one_is_left() {
    needs!(has("python3"), "python3 is not installed");
    for scene in everyone() {
        let marker = left::marker();
        let script = format!("setsid sleep {marker} & exec sleep {marker}");
        let args = ["exec", "--profile", "container", "--timeout", "1s", "--", "sh", "-c", &script];
        in_a_pod(&scene, &args, b"").expect("channel_failure", "timeout");
        assert_eq!(left::alive(&marker), Vec::<u32>::new());
        let scratch = left::names(&scene.path().join("tmp"));
        assert!(!scratch.iter().any(|name| name.starts_with("toolcell")), "{scratch:?}");
    }
}

#[test]
fn a_filter_that_kills_is_the_hosts_doing_and_said_at_once() {
    needs!(has("python3"), "python3 is not installed");
    for scene in everyone() {
        for profile in ["strict", "container"] {
            let args = ["exec", "--profile", profile, "--", "true"];
            let answer = in_a_place(&scene, &["-k"], &args, b"");
            answer.expect("channel_failure", "sandbox_unavailable");
            assert!(answer.at("/error/message").to_string().contains("SIGSYS"), "{:#}", answer.json());
            assert!(answer.took < std::time::Duration::from_secs(10), "{:?}", answer.took);
        }
    }
}

#[test]
fn a_root_without_capabilities_is_an_ordinary_user() {
    needs!(is_root() && has("setpriv"), "giving up capabilities takes root");
    let scene = scene();
    let bare = |args: &[&str]| {
        let like = scene.command();
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all"]).arg(like.get_program()).args(args).env_clear();
        command.envs(like.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
        finish(command.current_dir(scene.work()), b"")
    };
    let strict = bare(&["exec", "--profile", "strict", "--", "true"]);
    strict.expect("channel_failure", "sandbox_unavailable");
    assert!(strict.at("/error/hint").to_string().contains("ordinary user"), "{:#}", strict.json());
    assert_eq!(bare(&["exec", "--profile", "container", "--", "true"]).at("/sandbox/level"), 1);
    // The control: with its capabilities root has it all.
    assert!(scene.exec(&["--profile", "strict"], &["true"]).at("/sandbox/level").as_u64() >= Some(2));
}

#[test]
fn a_call_that_is_refused_for_another_layer_weakens_no_other_call() {
    needs!(is_root(), "becoming an ordinary user takes root");
    let scene = scene().as_uid(65534);
    let level = || scene.exec(&["--profile", "container"], &["true"]).at("/sandbox/level").as_u64();
    let before = level();
    assert!(before >= Some(2), "{before:?}");
    needs!(before < Some(3), "this user has a control group");
    // Refused for a reason that has nothing to do with namespaces.
    let refused = scene.exec(&["--profile", "container", "--require", "cgroup"], &["true"]);
    refused.expect("channel_failure", "sandbox_unavailable");
    assert_eq!(level(), before);
}

#[test]
fn what_others_may_have_written_is_not_believed() {
    let scene = scene();
    scene.exec(&["--profile", "container"], &["true"]).output();
    let file = scene.path().join("state/host.json");
    let text = std::fs::read_to_string(&file).expect("what was found is kept");
    let said = |text: String, mode: u32| {
        std::fs::write(&file, text).expect("it can be written");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("a mode");
        scene.exec(&["--profile", "container"], &["true"]).at("/sandbox/level").as_u64()
    };
    let lie = text.replace("\"namespaces\":null", "\"namespaces\":\"no\"");
    assert!(lie != text, "{text}");
    assert!(said(lie.clone(), 0o666) >= Some(2));
    // The control: one's own file is believed, until doctor looks again.
    assert_eq!(said(lie, 0o600), Some(1));
    assert!(scene.toolcell(&["doctor"], b"").code.is_some());
    assert!(scene.exec(&["--profile", "container"], &["true"]).at("/sandbox/level").as_u64() >= Some(2));
}

#[test]
fn a_profile_gives_up_all_namespaces_or_none() {
    let scene = scene();
    let half = CONTAINER.replace("pid_ns = \"best_effort\"\\n", "").replace("pid_ns = \"best_effort\"\n", "");
    scene.write("config/toolcell/profiles/container.toml", half);
    let answer = scene.run("answer", &Value::Null, &[]);
    answer.expect("channel_failure", "invalid_contract");
    assert!(answer.at("/error/message").to_string().contains("come together"), "{:#}", answer.json());
}
