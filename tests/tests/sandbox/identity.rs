//! Who the tool is, inside and seen from outside.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use toolcell_tests::cage::{Cage, USER, Who};
use toolcell_tests::{for_both, needs};

/// The process that has taken this name; waits for it.
fn process_named(name: &str) -> u32 {
    for _ in 0..1000 {
        for entry in fs::read_dir("/proc").expect("proc").flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|pid| pid.parse().ok()) else { continue };
            if fs::read_to_string(entry.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name) {
                return pid;
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no process named {name} has appeared");
}

/// A field of /proc/PID/status.
fn field(pid: u32, name: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.expect("the field is there").trim().to_owned()
}

/// A sleeping tool with the processes around it, as the host sees them.
struct Sleeper {
    tool: u32,
    init: u32,
    runner: u32,
}

impl Sleeper {
    /// Every process that the runner has started: init, and the launcher where it still lives.
    fn helpers(&self) -> Vec<u32> {
        let entries = fs::read_dir("/proc").expect("proc").flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let runner = self.runner.to_string();
        let parent = |pid: &u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            status.lines().any(|line| line.strip_prefix("PPid:").is_some_and(|parent| parent.trim() == runner))
        };
        pids.filter(parent).collect()
    }
}

/// Looks at a sleeping tool from outside.
fn while_it_sleeps<T>(cage: &Cage, profile: &str, look: impl FnOnce(&Sleeper) -> T) -> T {
    let name = format!("pb{}{}", std::process::id(), rand());
    let act = json!({"try": "sleep", "ms": 20_000, "name": name});
    let input = cage.scene.write("sleep.json", act.to_string());
    let mut command = cage.scene.command();
    command.args(["run", "probe", "--profile", profile, "--input"]).arg(input);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts");
    let tool = process_named(&name);
    let init = field(tool, "PPid").parse().expect("a number");
    let runner = field(init, "PPid").parse().expect("a number");
    let seen = look(&Sleeper { tool, init, runner });
    let pid = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("toolcell lives");
    child.wait().expect("toolcell ends");
    seen
}

/// A number that no other test of this process has had.
fn rand() -> u32 {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// The environment of launcher and init, as the same user sees it through an `open` tool; root sees all.
fn seen_environment(cage: &Cage, pid: u32) -> Value {
    cage.probe("open", &json!({"try": "read", "path": format!("/proc/{pid}/environ")}))
}

for_both! {
    fn the_tool_is_an_ordinary_user_inside(cage: &Cage) {
        for profile in ["strict", "standard", "network"] {
            let inside = cage.probe(profile, &json!({"try": "identity"}));
            assert_eq!((&inside["uid"], &inside["euid"], &inside["gid"]), (&json!(1000), &json!(1000), &json!(1000)), "{profile}");
            assert_eq!(inside["host"], "toolcell", "{profile}");
        }
        let own = if cage.who == Who::Root { 0 } else { nix::unistd::geteuid().as_raw() };
        let own = if cage.who == Who::User && needs::is_root() { USER } else { own };
        assert_eq!(cage.probe("open", &json!({"try": "identity"}))["uid"], own);
    }

    fn the_tool_has_no_capability_and_can_gain_none(cage: &Cage) {
        let inside = cage.probe("strict", &json!({"try": "identity"}));
        let status = &inside["status"];
        for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert_eq!(status[set], "0000000000000000", "{set}");
        }
        assert_eq!(status["NoNewPrivs"], "1");
        assert_eq!(status["Seccomp"], "2");
        let free = &cage.probe("open", &json!({"try": "identity"}))["status"];
        assert_eq!(free["NoNewPrivs"], "0", "the control");
        assert_ne!(free["CapBnd"], "0000000000000000", "the control");
        assert_eq!(free["Seccomp"], "0", "the control");
    }

    fn the_tool_has_a_session_of_its_own_and_no_core_limit_but_one(cage: &Cage) {
        for profile in ["strict", "open"] {
            let inside = cage.probe(profile, &json!({"try": "identity"}));
            assert_eq!(inside["leads_session"], true, "{profile}");
            assert_eq!(inside["core"], json!([1, 1]), "{profile}");
        }
        assert_eq!(cage.bare(&json!({"try": "identity"}))["leads_session"], false, "the control");
    }

    fn no_mount_inside_honours_set_uid_or_devices(cage: &Cage) {
        let text = cage.probe("strict", &json!({"try": "mounts"}))["text"].as_str().expect("text").to_owned();
        assert!(text.lines().count() > 5, "{text}");
        for line in text.lines() {
            let options: Vec<&str> = line.split(' ').nth(5).unwrap_or_default().split(',').collect();
            let point = line.split(' ').nth(4).unwrap_or_default();
            assert!(options.contains(&"nosuid"), "{line}");
            assert!(options.contains(&"nodev") || point.starts_with("/dev/"), "{line}");
        }
        assert!(text.lines().any(|line| line.contains(" /proc ") && line.contains("hidepid=")), "{text}");
    }

    fn outside_the_tool_has_an_id_of_its_own_where_the_caller_is_root(cage: &Cage) {
        let owner = |pid: u32| fs::metadata(format!("/proc/{pid}/environ")).expect("it lives").uid();
        let (tool, own, init) =
            while_it_sleeps(cage, "strict", |cell| (field(cell.tool, "Uid"), owner(cell.tool), owner(cell.init)));
        let ids: Vec<u32> = tool.split_whitespace().filter_map(|id| id.parse().ok()).collect();
        assert!(ids.iter().all(|id| *id == ids[0]), "{tool}");
        match cage.who {
            Who::Root => assert!((1_900_000_000..1_900_065_536).contains(&ids[0]), "{tool}"),
            Who::User if needs::is_root() => assert_eq!(ids[0], USER),
            Who::User => assert_eq!(ids[0], nix::unistd::geteuid().as_raw()),
        }
        // The files of a process whose memory is shut belong to root.
        assert_eq!((own, init), (ids[0], 0), "the tool is dumpable, and init is not");
    }

    fn launcher_and_init_keep_nothing_of_the_callers_environment(cage: &Cage) {
        let canaried = Cage::of(cage.who, "canaries").expect("as before").env("RUNNER_CANARY", "c4nary");
        let (helpers, runner) = while_it_sleeps(&canaried, "strict", |cell| {
            let helpers = cell.helpers();
            assert!(helpers.contains(&cell.init), "{helpers:?}");
            let seen: Vec<Value> = helpers.into_iter().map(|pid| seen_environment(cage, pid)).collect();
            (seen, seen_environment(cage, cell.runner))
        });
        for seen in &helpers {
            assert!(!seen.to_string().contains("c4nary"), "{seen}");
        }
        // The runner shuts its memory to everyone but root.
        assert_eq!(runner.to_string().contains("c4nary"), cage.who == Who::Root, "{runner}");
        let neighbour = cage.neighbour("RUNNER_CANARY", "c4nary");
        let control = seen_environment(cage, neighbour.pid());
        assert!(control.to_string().contains("c4nary"), "the control: another process is read by the same means: {control}");
    }

    fn every_namespace_is_new_in_strict_and_none_in_open(cage: &Cage) {
        let act = json!({"try": "namespaces"});
        let (strict, network, open) = (cage.probe("strict", &act), cage.probe("network", &act), cage.probe("open", &act));
        for kind in ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"] {
            let own = fs::read_link(format!("/proc/self/ns/{kind}")).expect("a link").to_string_lossy().into_owned();
            assert_eq!(open[kind], own, "the control: {kind}");
            assert_ne!(strict[kind], own, "{kind}");
            assert_eq!(network[kind] == own, kind == "net", "{kind}");
        }
    }
}

/// Groups of the caller that open files to it.
#[test]
fn no_group_of_a_root_caller_comes_along() {
    needs!(needs::is_root(), "only root can take groups, and only root can drop them");
    let cage = Cage::of(Who::Root, "groups").expect("it is root");
    let groups = |profile: &str| {
        let input = cage.scene.write("groups.json", json!({"try": "identity"}).to_string());
        let like = cage.scene.command();
        let mut command = Command::new("setpriv");
        command.args(["--groups", "4,20"]).arg(like.get_program()).args([
            "run",
            "probe",
            "--profile",
            profile,
            "--input",
        ]);
        command.arg(input).env_clear().current_dir(cage.scene.work());
        command.envs(like.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
        let output = command.output().expect("it starts");
        let envelope: Value = serde_json::from_slice(&output.stdout).expect("an envelope");
        envelope["output"]["status"]["Groups"].as_str().unwrap_or_else(|| panic!("{envelope:#}")).to_owned()
    };
    assert_eq!(groups("open"), "4 20", "the control");
    // 65534 would be a group that has no number inside, and all its rights.
    for profile in ["strict", "standard", "network"] {
        let inside = groups(profile);
        assert!(["", "1000"].contains(&inside.as_str()), "{profile}: {inside}");
    }
}

#[test]
fn two_calls_of_root_at_once_have_two_ids() {
    needs!(needs::is_root(), "an ordinary user has one id");
    let cage = Cage::of(Who::Root, "ids").expect("it is root");
    let uid = |pid: u32| field(pid, "Uid");
    let (one, other) = while_it_sleeps(&cage, "strict", |one| {
        (uid(one.tool), while_it_sleeps(&cage, "strict", |other| uid(other.tool)))
    });
    assert_ne!(one, other);
}
