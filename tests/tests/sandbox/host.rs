//! The host's own knobs, and what the envelope says of the layers.

use serde_json::json;
use toolcell_tests::cage::{Cage, Who};
use toolcell_tests::{for_both, needs};

for_both! {
    fn the_knobs_of_the_kernel_cannot_be_turned(cage: &Cage) {
        let files = ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/proc/sys/net/ipv4/ip_forward"];
        for path in files {
            let result = cage.result("strict", &json!({"try": "open_to_write", "path": path}));
            assert!(["EACCES", "ENOENT", "EROFS", "EPERM"].contains(&result.as_str()), "{path}: {result}");
        }
        assert_eq!(cage.result("strict", &json!({"try": "stat", "path": files[0]})), "ok", "the control: it is there");
        let own = json!({"try": "open_to_write", "path": "/proc/self/coredump_filter"});
        assert_eq!(cage.result("open", &own), "ok", "the control: the act itself works");
        let knob = cage.result("open", &json!({"try": "open_to_write", "path": files[0]}));
        assert_eq!(knob, if cage.who == Who::Root { "ok" } else { "EACCES" });
    }

    fn the_files_of_control_groups_are_not_there(cage: &Cage) {
        let list = json!({"try": "list", "path": "/sys/fs/cgroup"});
        needs!(cage.result("open", &list) == "ok", "no control groups are mounted");
        cage.denied(&list, "ENOENT");
    }

    fn the_tool_sees_its_own_control_group_as_the_root(cage: &Cage) {
        let text = cage.probe("strict", &json!({"try": "read", "path": "/proc/self/cgroup"}))["text"].as_str().expect("text").to_owned();
        assert!(text.lines().all(|line| line.ends_with(":/")), "{text}");
    }

    fn the_envelope_says_what_was_enforced(cage: &Cage) {
        let answer = cage.call("strict", &json!({"try": "identity"}));
        let layers = answer.at("/sandbox/layers");
        let layers = layers.as_object().expect("an object");
        assert_eq!(layers.len(), 16, "{layers:?}");
        let others: Vec<_> = layers.iter().filter(|(_, state)| *state != "enforced").map(|(name, _)| name.as_str()).collect();
        if cage.who == Who::Root || !needs::is_root() {
            let want = if others.is_empty() { 3 } else { 2 };
            assert_eq!(answer.at("/sandbox/level"), want, "{layers:?}");
            assert!(others.iter().all(|name| *name == "cgroup"), "{layers:?}");
            return;
        }
        // Nobody delegates a control group to uid 65534.
        assert_eq!(others, ["cgroup"], "{layers:?}");
        assert_eq!(layers["cgroup"], "missing");
        assert_eq!(answer.at("/sandbox/level"), 2);
        let warnings = answer.at("/warnings");
        let named = warnings.as_array().into_iter().flatten().any(|one| one["code"] == "layer_degraded" && one.to_string().contains("cgroup"));
        assert!(named, "{warnings:#}");
    }

    fn open_is_level_zero_and_says_which_layers_are_off(cage: &Cage) {
        let answer = cage.call("open", &json!({"try": "identity"}));
        assert_eq!(answer.at("/sandbox/level"), 0);
        assert_eq!(answer.at("/sandbox/profile"), "open");
        for layer in ["root", "landlock", "seccomp", "pid_ns", "net_ns", "user_ns"] {
            assert_eq!(answer.at(&format!("/sandbox/layers/{layer}")), "off", "{layer}");
        }
    }

    fn python_makes_processes_that_share_memory(cage: &Cage) {
        needs!(needs::has("python3"), "no python3 in /usr");
        let script = "#!/usr/bin/env python3\nimport json, multiprocessing as mp, sys\ndef f(x): return x * x\nif __name__ == '__main__':\n    sys.stdin.read()\n    with mp.Pool(2) as p: print(json.dumps({'r': p.map(f, [1, 2, 3])}))\n";
        cage.scene.script("pool", script, "profile = \"strict\"\n");
        for profile in ["strict", "standard"] {
            let answer = cage.scene.run("pool", &json!({}), &["--profile", profile]);
            assert_eq!(answer.output(), json!({"r": [1, 4, 9]}), "{profile}");
        }
    }
}

#[test]
fn a_level_that_is_not_to_be_had_is_refused_before_anything_runs() {
    needs!(needs::is_root(), "only uid 65534, which nobody delegates to, surely lacks a control group");
    let cage = Cage::of(Who::User, "level").expect("no one needs rights for it");
    let run = |level: &str| cage.scene.run("probe", &json!({"try": "identity"}), &["--min-level", level]);
    run("3").expect("channel_failure", "sandbox_unavailable");
    assert_eq!(run("2").status(), "ok");
}
