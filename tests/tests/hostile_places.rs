//! Hostile places: inside other sandboxes, beside runners that look the same, among programs being installed.

use serde_json::json;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use toolcell_tests::hostile::row::LONG;
use toolcell_tests::hostile::{ROW, Row, Stage};
use toolcell_tests::{Answer, Scene, binary, needs};

const NAP: Row = Row { case: "H06", name: "nap", tool: "nap.c", limits: LONG, ..ROW };
const ECHO: Row = Row { case: "H06", name: "echo", tool: "echo.sh", limits: LONG, ..ROW };
const NAMES: Row = Row { case: "D10", name: "names", tool: "names.py", profile: "network", limits: LONG, ..ROW };
const NO_NAMES: Row = Row { name: "no names", profile: "standard", ..NAMES };

/// One test at a time: each looks for what is left of all processes that this one has begun.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The row's call, begun by another program.
fn through(stage: &Stage, program: &str, args: &[&str], row: &Row) -> Answer {
    let held = stage.command(row);
    let mut command = Command::new(program);
    command.args(args).arg(held.get_program()).args(held.get_args()).env_clear().current_dir(stage.scene.work());
    command.envs(held.get_envs().filter_map(|(name, value)| Some((name, value?))));
    stage.ask(&mut command, b"{}")
}

#[test]
fn runners_that_have_the_same_process_id_do_not_meet() {
    let _alone = alone();
    needs!(needs::is_root(), "a process namespace takes root");
    needs!(needs::has("gcc"), "gcc is not installed");
    let stage = Stage::new(Scene::new(), &[NAP]);
    let unshare = ["--pid", "--fork", "--mount-proc"];
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..12).map(|_| scope.spawn(|| through(&stage, "unshare", &unshare, &NAP))).collect();
        for call in calls {
            let answer = call.join().expect("it ends");
            assert_eq!(answer.output(), json!({"ok": true}));
            // Each has a group and an id of its own, or it would have seen the others' processes.
            assert_eq!(answer.at("/usage/pids_peak"), 1, "{:#}", answer.json());
        }
    });
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[test]
fn a_tool_that_was_installed_a_moment_ago_starts_whatever_else_is_started() {
    let _alone = alone();
    needs!(needs::has("gcc"), "gcc is not installed");
    let stage = Stage::new(Scene::new(), &[NAP]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Every process that is started here holds the descriptors of this process until its exec.
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = Command::new("/bin/true").status();
                }
            });
        }
        let bytes = std::fs::read(stage.scene.registry().join("h06_nap/run")).expect("a tool");
        for round in 0..60 {
            let id = format!("fresh{round}");
            let path = stage.scene.write(&format!("registry/{id}/run"), &bytes);
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
            stage.scene.capability(&id, &json!({}), "command = [\"./run\", \"1\"]\nprofile = \"standard\"\n");
            let answer = stage.ask(&mut stage.bare(&["run", &id]), b"{}");
            if answer.status() != "ok" {
                done.store(true, Ordering::Relaxed);
            }
            assert_eq!(answer.output(), json!({"ok": true}));
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn inside_another_sandbox_the_answer_is_quick_and_honest() {
    let _alone = alone();
    needs!(needs::has("bwrap"), "bubblewrap is not installed");
    let stage = Stage::new(Scene::new(), &[ECHO]);
    let own = binary("toolcell");
    let target = own.parent().map(|folder| folder.display().to_string()).expect("a folder");
    let scene = stage.scene.path().display().to_string();
    let bind = ["--ro-bind", "/", "/", "--dev", "/dev", "--bind", &scene, &scene, "--ro-bind", &target, &target];
    for more in [
        &["--proc", "/proc", "--unshare-all"][..],
        &["--proc", "/proc", "--unshare-user", "--unshare-pid"],
        &["--ro-bind", "/proc", "/proc", "--unshare-all", "--cap-drop", "ALL"],
        &["--proc", "/proc", "--unshare-all", "--unshare-user", "--disable-userns"],
    ] {
        let args: Vec<&str> = bind.iter().chain(more).copied().collect();
        let mut command = Command::new("bwrap");
        let held = stage.scene.command();
        command.args(args).arg(&own).args(["run", "h06_echo"]).env_clear().current_dir(stage.scene.work());
        command.envs(held.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let answer = stage.ask(&mut command, b"{}");
        let (status, reason) = (answer.status(), answer.reason());
        let honest = match status.as_str() {
            "ok" => answer.at("/sandbox/level").as_u64() >= Some(1),
            _ => reason == "sandbox_unavailable" && answer.at("/attempts") == 0,
        };
        assert!(honest, "{more:?}: {:#}", answer.json());
        assert!(answer.took < Duration::from_secs(5), "{:?}", answer.took);
    }
}

#[test]
fn names_and_certificates_are_to_be_had_where_the_network_is() {
    let _alone = alone();
    needs!(needs::has("python3"), "python3 is not installed");
    let there = std::path::Path::new("/etc/ssl/certs/ca-certificates.crt").is_file();
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, &[NAMES, NO_NAMES]);
        stage.scene.config("[[grant]]\ncapability = \"*\"\nprofiles = [\"network\"]\n");
        let seen = stage.play(&NAMES).output();
        assert_eq!((&seen["resolv"], &seen["nss"]), (&json!(true), &json!(true)), "{seen}");
        assert_eq!(seen["certificates"], json!(there), "{seen}");
        assert_eq!(seen["keys"], false, "private keys are not to be read: {seen}");
        // Without a network a name is refused at once, not after a resolver's patience.
        let none = stage.play(&NO_NAMES);
        assert_eq!(none.output()["resolved"], false);
        assert!(none.took < Duration::from_secs(8), "{:?}", none.took);
    }
}
