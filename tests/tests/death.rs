//! Complete death: whatever ends a call, and whoever is killed meanwhile, nothing of it goes on.

use nix::sys::signal::Signal::{SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGTERM};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use toolcell_tests::hostile::freezer::Freezer;
use toolcell_tests::hostile::row::{LONG, SHORT};
use toolcell_tests::hostile::tracked::{Tracked, children, descendants};
use toolcell_tests::hostile::{ROW, Row, Stage, pen};
use toolcell_tests::{Answer, Scene, left, needs};

const SLEEPER: Row = Row { case: "A06", name: "sleeper", tool: "sleeper.sh", limits: LONG, ..ROW };
const OPEN: Row = Row { profile: "open", name: "sleeper in the open", ..SLEEPER };
const LATE: Row = Row { name: "late sleeper", limits: SHORT, ..SLEEPER };
const FAILS: Row = Row { name: "fails", tool: "exit.sh", args: &["7"], ..SLEEPER };
const LEAKS: Row = Row { name: "leaks", tool: "grandchild.sh", ..SLEEPER };
const HOPS: Row = Row { name: "hops", tool: "hop.c", args: &["wait"], limits: SHORT, ..SLEEPER };
const ECHO: Row = Row { name: "echo", tool: "echo.sh", ..SLEEPER };
const ROWS: &[Row] = &[SLEEPER, OPEN, LATE, FAILS, LEAKS, HOPS, ECHO];

/// The orphans of one test must not be taken for those of another.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A call in flight.
fn start(stage: &Stage, row: &Row) -> Tracked {
    let mut command = stage.command(row);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Tracked::spawn(&mut command).expect("the binary starts")
}

/// The same, once its tool runs: three sleepers, one of them stopped.
fn started(stage: &Stage, row: &Row) -> Tracked {
    let call = start(stage, row);
    let sleepers = || descendants(call.pid()).iter().filter(|(_, name)| name == "sleep" || name == "sh").count();
    assert!(left::soon(|| sleepers() >= 4), "the tool did not start: {:?}", descendants(call.pid()));
    call
}

/// A number below `most`, different each time.
fn random(most: u64) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish() % most
}

#[test]
fn nothing_is_left_when_the_envelope_is_there() {
    needs!(needs::has("gcc"), "gcc is not installed");
    let _turn = turn();
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        for (row, reason) in [(ECHO, ""), (FAILS, "undeclared_exit"), (LEAKS, ""), (LATE, "timeout"), (HOPS, "timeout")]
        {
            let answer = stage.play(&row);
            assert_eq!((stage.left_now(), answer.reason().as_str()), (Vec::new(), reason), "{}", row.name);
        }
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            let call = started(&stage, &SLEEPER);
            call.send(signal);
            let answer = Answer::of(call.output().expect("it ends"), Duration::ZERO);
            answer.expect("call_error", "cancelled");
            assert_eq!((stage.left_now(), answer.signal), (Vec::new(), Some(signal as i32)));
        }
    }
}

#[test]
fn a_runner_that_is_killed_at_any_moment_leaves_nothing_to_run() {
    needs!(needs::has("gcc"), "gcc is not installed");
    let _turn = turn();
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        for round in 0..200 {
            let mut call = start(&stage, if round % 4 == 3 { &HOPS } else { &SLEEPER });
            std::thread::sleep(Duration::from_micros(random(60_000)));
            call.child().kill().expect("it can be killed");
            call.child().wait().expect("it ends");
        }
        let begun = Instant::now();
        assert_eq!(stage.left_by_the_dead(), Vec::<String>::new());
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_runner_that_is_killed_leaves_nothing_where_no_namespace_ends_it_either() {
    let _turn = turn();
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        for _ in 0..20 {
            let mut call = started(&stage, &OPEN);
            std::thread::sleep(Duration::from_micros(random(5_000)));
            call.child().kill().expect("it can be killed");
            call.child().wait().expect("it ends");
        }
        let processes = || {
            let left = stage.left_by_the_dead();
            left.into_iter().filter(|one| one.starts_with("process")).collect::<Vec<_>>()
        };
        assert_eq!(processes(), Vec::<String>::new());
    }
}

#[test]
fn what_killed_runners_leave_goes_with_the_next_start_and_nothing_of_a_live_one_does() {
    let _turn = turn();
    let stage = Stage::new(Scene::new(), ROWS);
    let pen = stage.pen.as_ref();
    needs!(pen.is_some(), "no control group version 1 is to be had");
    let Some(pen) = pen else { return };
    for hour in [-1, 1] {
        // All at once: each start already removes what those before it left.
        let mut calls: Vec<_> = (0..4).map(|_| started(&stage, &SLEEPER)).collect();
        for call in &mut calls {
            call.child().kill().expect("it can be killed");
            call.child().wait().expect("it ends");
        }
        assert_eq!(stage.left_by_the_dead(), Vec::<String>::new());
        let dead = pen.groups();
        assert!(dead.len() >= 10, "{dead:?}");
        // However old they seem: the clock may have been set meanwhile.
        dead.iter().for_each(|group| pen::age(group, hour));
        let live = started(&stage, &SLEEPER);
        let gone = || !pen.groups().iter().any(|group| dead.contains(group));
        assert!(left::soon(gone), "{:?}", pen.groups());
        let own = pen.groups();
        assert!(!own.is_empty(), "the live call has its groups");
        stage.play(&ECHO).output();
        assert_eq!(pen.groups(), own, "the live call's groups are still there");
        live.send(SIGTERM);
        let answer = Answer::of(live.output().expect("it ends"), Duration::ZERO);
        answer.expect("call_error", "cancelled");
        assert!(answer.at("/usage/pids_peak").as_u64() >= Some(4), "{:#}", answer.json());
        assert_eq!(stage.left_now(), Vec::<String>::new());
    }
}

#[test]
fn a_launcher_that_is_killed_at_any_moment_costs_an_envelope_at_most() {
    let _turn = turn();
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        for _ in 0..40 {
            let call = start(&stage, &ECHO);
            let until = Instant::now() + Duration::from_micros(random(30_000));
            let launcher = loop {
                // The runner is what the shell and setpriv become; its first child is the launcher.
                match children(call.pid()).first().filter(|_| Instant::now() >= until) {
                    Some(pid) => break Some(*pid),
                    None if Instant::now() > until + Duration::from_secs(1) => break None,
                    None => {}
                }
            };
            if let Some(pid) = launcher {
                let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid.cast_signed()), SIGKILL);
            }
            let answer = Answer::of(call.output().expect("it ends"), Duration::ZERO);
            // Before the launch it is the host's fault, and said so; after it the call does not need it. Init may have been
            // the first child by then.
            assert!(["ok", "channel_failure"].contains(&answer.status().as_str()), "{:#}", answer.json());
            assert!(["", "internal"].contains(&answer.reason().as_str()), "{:#}", answer.json());
            // The launcher's own helpers end by themselves, in a moment.
            assert_eq!(stage.left(), Vec::<String>::new());
        }
    }
}

#[test]
fn an_init_that_is_killed_ends_the_call_with_it() {
    let _turn = turn();
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        for row in [SLEEPER, OPEN] {
            let begun = Instant::now();
            let call = started(&stage, &row);
            let init = children(call.pid()).into_iter().find(|pid| !children(*pid).is_empty()).expect("an init");
            nix::sys::signal::kill(nix::unistd::Pid::from_raw(init.cast_signed()), SIGKILL).expect("it lives");
            let answer = Answer::of(call.output().expect("it ends"), begun.elapsed());
            assert_eq!(answer.status(), "channel_failure", "{:#}", answer.json());
            assert_eq!(answer.at("/killed_by"), serde_json::Value::Null);
            assert!(answer.took < Duration::from_secs(15), "{:?}", answer.took);
            if row.profile != "open" || stage.has_group() {
                assert_eq!(stage.left(), Vec::<String>::new(), "{}", row.name);
            } else {
                // Level 0 without a group: death is best effort, and the documents say so.
                for (pid, _) in descendants(std::process::id()) {
                    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid.cast_signed()), SIGKILL);
                }
                stage.left_by_the_dead();
            }
        }
    }
}

#[test]
fn a_tool_that_cannot_be_killed_is_waited_for_no_longer_than_is_said() {
    needs!(needs::is_root(), "a freezer takes root");
    let _turn = turn();
    let freezer = Freezer::new();
    needs!(freezer.is_some(), "no freezer of control groups version 1 is to be had");
    let Some(freezer) = freezer else { return };
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        let begun = Instant::now();
        let call = started(&stage, &LATE);
        // As in uninterruptible sleep: no signal is acted on until it is let go.
        let frozen: Vec<u32> =
            descendants(call.pid()).iter().filter(|(_, name)| name == "sleep").map(|(pid, _)| *pid).collect();
        freezer.freeze(&frozen);
        let answer = Answer::of(call.output().expect("it ends"), begun.elapsed());
        answer.expect("channel_failure", "timeout");
        assert!(answer.warnings().contains(&"unreaped".to_owned()), "{:#}", answer.json());
        assert_eq!(answer.at("/killed_by"), "deadline");
        // One second, 300 ms of grace, 100 ms for init, 2 s of patience.
        assert!(answer.took > Duration::from_millis(3300) && answer.took < Duration::from_secs(9), "{:?}", answer.took);
        assert!(!stage.left_now().is_empty(), "the frozen one is still there");
        // A start in between finds a group that cannot be removed yet, and does not wait for that.
        if let Some(pen) = &stage.pen {
            pen.groups().iter().for_each(|group| pen::age(group, -1));
            let between = stage.play(&ECHO);
            between.output();
            assert!(between.took < Duration::from_secs(5), "{:?}", between.took);
            assert!(!pen.groups().is_empty());
        }
        freezer.thaw();
        assert_eq!(stage.left_by_the_dead(), Vec::<String>::new());
        if let Some(pen) = &stage.pen {
            pen.groups().iter().for_each(|group| pen::age(group, -1));
        }
        stage.play(&ECHO).output();
        assert_eq!(stage.left(), Vec::<String>::new());
    }
}

#[test]
fn a_launcher_that_cannot_be_killed_holds_nobody_up() {
    needs!(needs::is_root(), "a freezer takes root");
    let _turn = turn();
    let freezer = Freezer::new();
    needs!(freezer.is_some(), "no freezer of control groups version 1 is to be had");
    let Some(freezer) = freezer else { return };
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        let mut command = stage.command(&ECHO);
        command.args(["--timeout", "2s"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let begun = Instant::now();
        let mut call = Tracked::spawn(&mut command).expect("the binary starts");
        // Until its input is there, the call is not launched.
        assert!(left::soon(|| !children(call.pid()).is_empty()), "no launcher");
        std::thread::sleep(Duration::from_millis(200));
        freezer.freeze(&children(call.pid()));
        drop(call.child().stdin.take().map(|mut pipe| std::io::Write::write_all(&mut pipe, b"{}")));
        let answer = Answer::of(call.output().expect("it ends"), begun.elapsed());
        answer.expect("channel_failure", "timeout");
        assert_eq!(answer.at("/error/details/started"), false);
        assert!(answer.took < Duration::from_secs(8), "{:?}", answer.took);
        freezer.thaw();
        assert_eq!(stage.left(), Vec::<String>::new());
    }
}

#[test]
fn a_call_that_was_stopped_with_its_runner_dies_with_it() {
    let _turn = turn();
    for scene in Scene::everyone() {
        let stage = Stage::new(scene, ROWS);
        let call = started(&stage, &SLEEPER);
        let all: Vec<u32> = descendants(call.pid()).into_iter().map(|(pid, _)| pid).chain([call.pid()]).collect();
        let send = |signal| {
            for pid in &all {
                let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid.cast_signed()), signal);
            }
        };
        send(nix::sys::signal::Signal::SIGSTOP);
        call.send(SIGKILL);
        let _ = call.output();
        send(SIGCONT);
        assert_eq!(stage.left_by_the_dead(), Vec::<String>::new());
    }
}
