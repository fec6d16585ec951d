//! A thousand calls of one resident process: in a row, and as many as are allowed at once.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};
use toolcell::cell::client::{Launcher, Seed};
use toolcell::config::{Config, Sources};
use toolcell::envelope::Envelope;
use toolcell::host::Host;
use toolcell::resolve::{Input, Tighten};
use toolcell::runner::{Identity, Request, Runner, What};
use toolcell_tests::hostile::row::LONG;
use toolcell_tests::hostile::tracked::children;
use toolcell_tests::hostile::{ROW, Row, Stage, pen};
use toolcell_tests::{Scene, binary, left, needs};

const ECHO: Row = Row { case: "C14", name: "echo", tool: "echo.sh", limits: LONG, ..ROW };
const FAILS: Row = Row { name: "fails", tool: "exit.sh", args: &["66"], ..ECHO };
const LEAKS: Row = Row { name: "leaks", tool: "early.c", ..ECHO };
const CRASHES: Row = Row { name: "crashes", tool: "raise.c", args: &["self", "11"], ..ECHO };
const SLEEPS: Row = Row { name: "sleeps", tool: "nap.c", args: &["600000"], ..ECHO };
const ROWS: &[Row] = &[ECHO, FAILS, LEAKS, CRASHES, SLEEPS];

/// What is asked for, and what has to come back.
#[derive(Clone, Copy)]
enum Kind {
    Ok,
    NoData,
    Leaks,
    Crash,
    Timeout,
    Cancelled,
    Unknown,
    Refused,
}

/// The last two take their time, and are seldom asked for.
const KINDS: [(Kind, &str, &str, &str); 8] = [
    (Kind::Ok, "c14_echo", "{}", ""),
    (Kind::NoData, "c14_fails", "{}", "no_data"),
    (Kind::Crash, "c14_crashes", "{}", "crashed"),
    (Kind::Cancelled, "c14_sleeps", "{}", "cancelled"),
    (Kind::Unknown, "c14_nothing", "{}", "unknown_capability"),
    (Kind::Refused, "c14_echo", "{} {}", "invalid_input_json"),
    (Kind::Leaks, "c14_leaks", "{}", ""),
    (Kind::Timeout, "c14_sleeps", "{}", "timeout"),
];

/// A resident runner.
struct Resident {
    runner: Runner,
    launcher: Launcher,
}

impl Resident {
    /// Needs a tokio runtime.
    fn new(stage: &Stage) -> Self {
        let root = stage.scene.path();
        let sources = Sources {
            config: Some(root.join("config/toolcell/toolcell.toml")),
            registry: Some(stage.scene.registry().into_os_string()),
            env: &|_| None,
            cwd: stage.scene.work(),
            uid: nix::unistd::geteuid().as_raw(),
        };
        let config = Config::load(&sources).expect("the config");
        let host = Host::detect(config.identity);
        let bin_dir = binary("toolcell").parent().map(PathBuf::from).expect("a folder");
        let runner = Runner { config, host, cwd: stage.scene.work(), bin_dir };
        let launcher = Launcher::new(Seed::execute(&binary("toolcell")).expect("a launcher")).expect("the launcher");
        Self { runner, launcher }
    }

    /// One call. `cancel_after`: how long a cancelled one runs.
    async fn call(&self, number: usize, cancel_after: Duration) -> (&'static str, Envelope) {
        let (kind, reference, input, reason) = KINDS[if number % 40 < KINDS.len() { number % 8 } else { number % 6 }];
        let (cancel, cancelled) = watch::channel(false);
        let wall = matches!(kind, Kind::Timeout).then(|| "120ms".parse().expect("a time"));
        let request = Request {
            what: What::Capability {
                reference: reference.to_owned(),
                input: Input { bytes: Some(input.as_bytes().to_vec()), set: Vec::new() },
            },
            tighten: Tighten { wall, ..Tighten::default() },
            identity: Identity::default(),
            out: None,
            accepted: Instant::now(),
            patience: None,
        };
        let call = self.runner.call(&self.launcher, request, None, cancelled);
        let cancels = async {
            if matches!(kind, Kind::Cancelled) {
                tokio::time::sleep(cancel_after).await;
                let _ = cancel.send(true);
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            envelope = call => (reason, envelope),
            () = cancels => unreachable!("it waits for ever"),
        }
    }

    fn descriptors(&self) -> (usize, usize) {
        let count = |pid: u32| left::names(std::path::Path::new(&format!("/proc/{pid}/fd"))).len();
        let launcher = children(std::process::id()).first().map_or(0, |pid| count(*pid));
        (count(std::process::id()), launcher)
    }
}

fn expect(reason: &str, envelope: &Envelope) {
    let have = envelope.error.as_ref().map_or("", |error| error.reason.as_str());
    assert_eq!(have, reason, "{}", envelope.to_json(true));
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Descriptors are those of the process, so one test at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The groups of calls that nobody uses, where this process makes them.
fn groups() -> Vec<PathBuf> {
    let place = toolcell::cgroup::Place::find();
    let bases = place.as_ref().map(toolcell::cgroup::Place::bases).unwrap_or_default();
    bases.into_iter().flat_map(pen::groups_in).collect()
}

#[test]
fn a_thousand_calls_in_a_row_leave_nothing_and_no_descriptor_more() {
    needs!(needs::has("gcc"), "gcc is not installed");
    let _turn = turn();
    let stage = Stage::new(Scene::new(), ROWS);
    runtime().block_on(async {
        let resident = Resident::new(&stage);
        for number in 0..2 * KINDS.len() {
            let (reason, envelope) = resident.call(number, Duration::from_millis(60)).await;
            expect(reason, &envelope);
        }
        let before = resident.descriptors();
        let of_others = groups();
        for number in 0..1000 {
            // Cancelled at a moment of its own: before the launch, while it is under way, and after it.
            let (reason, envelope) = resident.call(number, Duration::from_micros(number as u64 * 20)).await;
            expect(reason, &envelope);
        }
        assert_eq!(resident.descriptors(), before, "descriptors of this process and of its launcher");
        // Others use toolcell on this machine too: their groups come and go.
        assert!(left::soon(|| groups().len() <= of_others.len() + 30), "{} groups", groups().len());
        assert_eq!(children(std::process::id()).len(), 1, "the launcher alone");
    });
    assert_eq!(children(std::process::id()), Vec::<u32>::new());
}

#[test]
fn a_thousand_calls_at_once_are_all_answered_rightly_and_leave_nothing() {
    needs!(needs::has("gcc"), "gcc is not installed");
    let _turn = turn();
    let stage = Stage::new(Scene::new(), ROWS);
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime(), async {
        let resident = Rc::new(Resident::new(&stage));
        expect("", &resident.call(0, Duration::ZERO).await.1);
        let before = resident.descriptors();
        let places = Rc::new(Semaphore::new(64));
        let calls: Vec<_> = (0..1000)
            .map(|number| {
                let (resident, places) = (resident.clone(), places.clone());
                tokio::task::spawn_local(async move {
                    let _place = places.acquire().await.expect("it is open");
                    let (reason, envelope) = resident.call(number, Duration::from_micros(number as u64 * 30)).await;
                    expect(reason, &envelope);
                })
            })
            .collect();
        for call in calls {
            call.await.expect("every call is answered as it has to be");
        }
        let after = resident.descriptors();
        // The launcher keeps at most 64 maps of owners, one for each id that calls have at a time.
        assert!(after.0 <= before.0 && after.1 <= before.1 + 64, "{before:?} became {after:?}");
        assert_eq!(children(std::process::id()).len(), 1, "the launcher alone");
    });
}
