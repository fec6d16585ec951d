//! Other processes, inside and outside.

use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use toolcell_tests::cage::{Cage, USER, Who};
use toolcell_tests::{for_both, needs};

/// A process outside that belongs to whoever calls toolcell, and ends with the test.
struct Victim(Child);

impl Victim {
    fn of(cage: &Cage) -> Self {
        let mut command = if cage.who == Who::User && needs::is_root() {
            let mut command = Command::new("setpriv");
            command.args([
                format!("--reuid={USER}"),
                format!("--regid={USER}"),
                "--clear-groups".into(),
                "sleep".into(),
            ]);
            command
        } else {
            Command::new("sleep")
        };
        let child = command.arg("60").stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("sleep starts");
        let victim = Self(child);
        // setpriv has to be done: until then it is another program, of root's.
        for _ in 0..500 {
            let comm = std::fs::read_to_string(format!("/proc/{}/comm", victim.pid())).unwrap_or_default();
            if comm.trim() == "sleep" {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        victim
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn lives(&mut self) -> bool {
        self.0.try_wait().is_ok_and(|status| status.is_none())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

for_both! {
    fn a_process_outside_cannot_be_signalled(cage: &Cage) {
        let victim = Victim::of(cage);
        cage.denied(&json!({"try": "signal", "pid": victim.pid()}), "ESRCH");
    }

    fn a_process_outside_can_neither_be_traced_nor_read(cage: &Cage) {
        let victim = Victim::of(cage);
        cage.denied(&json!({"try": "trace", "pid": victim.pid()}), "EPERM");
        let read = json!({"try": "read_memory", "pid": victim.pid()});
        assert_eq!(cage.result("open", &read), "EFAULT", "the control: the memory may be read, the address is not mapped");
        assert_eq!(cage.result("strict", &read), "EPERM");
        // Nor without the filter: the pid means nothing inside.
        assert_eq!(cage.result("no-seccomp", &json!({"try": "trace", "pid": victim.pid()})), "ESRCH");
        assert_eq!(cage.result("no-seccomp", &read), "ESRCH");
    }

    fn the_files_of_a_process_outside_are_not_there(cage: &Cage) {
        let victim = Victim::of(cage);
        cage.denied(&json!({"try": "read", "path": format!("/proc/{}/environ", victim.pid())}), "ENOENT");
        cage.denied(&json!({"try": "list", "path": format!("/proc/{}/fd", victim.pid())}), "ENOENT");
    }

    fn killing_everything_ends_only_what_is_inside(cage: &Cage) {
        // Never under `open`: there it would end the machine. That it kills at all is shown by a child inside.
        let mut victim = Victim::of(cage);
        let answer = cage.probe("strict", &json!({"try": "kill_all"}));
        assert_eq!(answer, json!({"result": "ok", "child": "SIGKILL"}));
        assert!(victim.lives());
    }

    fn a_child_is_traced_only_where_the_filter_is_off(cage: &Cage) {
        cage.denied_unlike("no-seccomp", "strict", &json!({"try": "trace_child"}), "EPERM");
        cage.denied_unlike("no-seccomp", "standard", &json!({"try": "trace_child"}), "EPERM");
    }

    fn the_init_of_the_call_is_shut_even_without_the_filter(cage: &Cage) {
        // The control: the same files of itself.
        for file in ["environ", "mem", "maps"] {
            let own = cage.result("no-seccomp", &json!({"try": "read", "path": format!("/proc/self/{file}")}));
            let want = if file == "mem" { "EIO" } else { "ok" };
            assert_eq!(own, want, "/proc/self/{file}");
        }
        for profile in ["strict", "standard", "no-seccomp", "no-landlock"] {
            for file in ["environ", "mem", "maps", "fd", "root", "cwd", "exe"] {
                let act = if ["environ", "mem", "maps"].contains(&file) { "read" } else { "list" };
                let result = cage.result(profile, &json!({"try": act, "path": format!("/proc/1/{file}")}));
                assert!(["EACCES", "EPERM", "ENOENT"].contains(&result.as_str()), "/proc/1/{file} under {profile}: {result}");
            }
        }
        for act in ["trace", "read_memory"] {
            assert_eq!(cage.result("no-seccomp", &json!({"try": act, "pid": 1})), "EPERM", "{act}");
        }
    }

    fn the_init_of_the_call_cannot_be_signalled(cage: &Cage) {
        cage.denied_unlike("no-landlock", "strict", &json!({"try": "signal", "pid": 1}), "EPERM");
        cage.denied_unlike("no-landlock", "standard", &json!({"try": "signal", "pid": 1}), "EPERM");
    }

    fn an_init_without_handlers_outlives_every_signal_from_inside(cage: &Cage) {
        // Without Landlock's scope kill(2) succeeds, and still nothing comes of it.
        let script = "#!/bin/sh\ncat >/dev/null\nn=0\nfor s in 1 2 3 6 9 11 15 19 20; do kill -$s 1 && n=$((n+1)); done\necho $n\n";
        cage.scene.script("signals", script, "profile = \"no-landlock\"\n");
        let answer = cage.scene.run("signals", &json!({}), &[]);
        assert_eq!(answer.output(), json!(9));
    }

    fn only_the_processes_of_the_call_are_seen(cage: &Cage) {
        let seen = |answer: &Value| answer["pids"].as_array().map_or(0, Vec::len);
        let inside = cage.probe("strict", &json!({"try": "processes"}));
        assert!((1..=2).contains(&seen(&inside)), "{inside}");
        let outside = cage.probe("open", &json!({"try": "processes"}));
        assert!(seen(&outside) > 2, "{outside}");
    }

    fn a_crash_leaves_no_core(cage: &Cage) {
        let answer = cage.probe("strict", &json!({"try": "crash_child"}));
        assert_eq!(answer, json!({"signal": "SIGABRT", "dumped": false, "cores": [], "result": "ok"}));
        let answer = cage.probe("open", &json!({"try": "crash_child"}));
        assert_eq!(answer["dumped"], false, "{answer}");
        cage.call("strict", &json!({"try": "abort"})).expect("channel_failure", "crashed");
    }
}

/// The control of [`a_crash_leaves_no_core`]: the same crash without a limit.
#[test]
fn the_same_crash_outside_leaves_a_core() {
    let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
    let plain = !pattern.starts_with(['|', '@', '/']);
    needs!(plain && toolcell_tests::cage::may_dump_core(), "cores are not written to the working directory here");
    let Some(cage) = Cage::of(Who::User, "core") else { return };
    let answer = cage.bare(&json!({"try": "crash_child"}));
    assert_eq!(answer["dumped"], true, "{answer}");
}
