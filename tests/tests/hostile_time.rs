//! Time: a deadline that falls on the tool's end, runners that are stopped, clocks that are not what they were.

use nix::sys::signal::Signal::{SIGCONT, SIGSTOP};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use toolcell_tests::hostile::row::{LONG, SHORT};
use toolcell_tests::hostile::tracked::Tracked;
use toolcell_tests::hostile::{ROW, Row, Stage};
use toolcell_tests::{Answer, Scene, needs, workspace};

const SWEPT: Row = Row { case: "A19", name: "swept", tool: "nap.c", args: &["{/ms}"], limits: LONG, ..ROW };
const LATE: Row = Row { name: "late", tool: "nap.c", args: &["600000"], limits: SHORT, ..SWEPT };
const SOON: Row = Row { name: "soon", tool: "nap.c", args: &["400"], limits: LONG, ..SWEPT };
const ROWS: &[Row] = &[SWEPT, LATE, SOON];

/// The orphans of one test must not be taken for those of another.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A verdict has to be one of two, and to agree with what is said of the tool's end.
fn consistent(answer: &Answer) -> bool {
    let (status, reason) = (answer.status(), answer.reason());
    let (killed_by, exit) = (answer.at("/killed_by"), answer.at("/exit"));
    let ended = json!({"code": 0, "signal": null});
    match (status.as_str(), reason.as_str()) {
        ("ok", "") => killed_by == Value::Null && exit == ended && answer.output() == json!({"ok": true}),
        ("channel_failure", "timeout") => {
            let ends = [ended, json!({"code": null, "signal": "SIGTERM"}), json!({"code": null, "signal": "SIGKILL"})];
            // Killed before there was a tool, where the machine is that slow.
            let unstarted = answer.at("/error/details/started") == false;
            killed_by == "deadline" && (ends.contains(&exit) || unstarted) && answer.at("/output") == Value::Null
        }
        _ => false,
    }
}

#[test]
fn a_deadline_that_falls_on_the_end_is_ok_or_a_timeout_and_nothing_else() {
    needs!(needs::has("gcc"), "gcc is not installed");
    let _turn = turn();
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        // What a call takes beside the tool's own time.
        let ask = |ms: u64, timeout: &str| {
            let mut command = stage.command(&SWEPT);
            command.args(["--timeout", timeout]);
            stage.ask(&mut command, json!({"ms": ms}).to_string().as_bytes())
        };
        let beside = (0..10).map(|_| ask(100, "20s").at("/usage/wall_ms").as_u64().unwrap_or(0)).min();
        let beside = beside.unwrap_or(100).saturating_sub(100);
        let ends = Mutex::new((0, 0));
        let sweep = |first: u64| {
            for round in (first..200u64).step_by(4) {
                // From well before the deadline of 150 ms to well after it, and most often next to it.
                let away = [0, 1, 2, 3, 5, 8, 15, 30][(round / 4 / 2 % 8) as usize];
                let tool = 150u64.saturating_sub(beside);
                let tool = if round / 4 % 2 == 0 { tool.saturating_sub(away) } else { tool + away };
                let answer = ask(tool, "150ms");
                assert!(consistent(&answer), "{:#}", answer.json());
                let mut ends = ends.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                *if answer.status() == "ok" { &mut ends.0 } else { &mut ends.1 } += 1;
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|first| drop(scope.spawn(move || sweep(first)))));
        let (oks, timeouts) = ends.into_inner().unwrap_or_default();
        assert!(oks > 5 && timeouts > 5, "the deadline did not fall on the end: {oks} ok, {timeouts} timeouts");
        assert_eq!(stage.left(), Vec::<String>::new());
    }
}

#[test]
fn a_stopped_runner_judges_as_it_would_have() {
    needs!(needs::has("gcc"), "gcc is not installed");
    let _turn = turn();
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        for (row, stopped, status, killed_by) in [
            // Init ends the tool by itself a second after the grace; that is still the deadline.
            (LATE, 4000, "channel_failure", json!("deadline")),
            // Stopped over the deadline, and back before init loses its patience.
            (LATE, 1200, "channel_failure", json!("deadline")),
            // The tool was done in time, though nobody looked.
            (SOON, 1500, "ok", Value::Null),
        ] {
            let mut command = stage.command(&row);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let begun = Instant::now();
            let call = Tracked::spawn(&mut command).expect("the binary starts");
            std::thread::sleep(Duration::from_millis(250));
            call.send(SIGSTOP);
            std::thread::sleep(Duration::from_millis(stopped));
            call.send(SIGCONT);
            let answer = Answer::of(call.output().expect("it ends"), begun.elapsed());
            assert_eq!(
                (answer.status(), answer.at("/killed_by")),
                (status.to_owned(), killed_by),
                "{:#}",
                answer.json()
            );
            assert!(answer.reason() != "crashed" && answer.took < Duration::from_secs(12), "{answer:?}");
            assert_eq!(stage.left(), Vec::<String>::new(), "{}", row.name);
        }
    }
}

#[test]
fn no_deadline_is_kept_by_a_clock_that_people_set() {
    // The clock of the machine is not this test's to set: so nothing that reads it may decide when a call ends.
    let mut readers = Vec::new();
    let mut folders = vec![workspace().join("runner/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            let reads = ["SystemTime", "REALTIME", "UNIX_EPOCH", ".modified()"].iter().any(|word| text.contains(word));
            if reads && !path.to_string_lossy().contains("tests") {
                readers.push(path.strip_prefix(workspace()).expect("below it").display().to_string());
            }
        }
    }
    readers.sort();
    // The age of left groups and folders, and of the program on disk.
    assert_eq!(readers, ["runner/src/cgroup/sweep.rs", "runner/src/scratch.rs"]);
}

#[test]
fn a_clock_that_began_elsewhere_changes_no_deadline() {
    needs!(needs::is_root(), "a time namespace takes root");
    needs!(needs::has("gcc"), "gcc is not installed");
    let _turn = turn();
    let stage = Stage::new(Scene::new(), ROWS);
    // A hundred years after the start of the machine.
    let century = "3155760000";
    let held = stage.command(&LATE);
    let through = |row: &Row| {
        let held = stage.command(row);
        let mut command = std::process::Command::new("unshare");
        command.args(["--time", "--monotonic", century, "--boottime", century, "--fork"]).arg(held.get_program());
        command.args(held.get_args()).env_clear().current_dir(stage.scene.work());
        command.envs(held.get_envs().filter_map(|(name, value)| Some((name, value?))));
        stage.ask(&mut command, b"{}")
    };
    drop(held);
    let probe =
        std::process::Command::new("unshare").args(["--time", "--monotonic", century, "--fork", "true"]).output();
    needs!(probe.is_ok_and(|probe| probe.status.success()), "no time namespace is to be had");
    through(&SOON).output();
    let late = through(&LATE);
    late.expect("channel_failure", "timeout");
    assert!(late.took > Duration::from_millis(950) && late.took < Duration::from_secs(6), "{:?}", late.took);
    assert_eq!(stage.left(), Vec::<String>::new());
}
