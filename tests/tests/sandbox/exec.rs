//! Which programs can be executed.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use toolcell_tests::{binary, for_both, needs};

/// An act that executes /usr/bin/id and answers its exit code.
fn id() -> Value {
    json!({"try": "exec", "path": "/usr/bin/id"})
}

/// The loader of dynamic programs of this machine.
fn loader() -> &'static str {
    if cfg!(target_arch = "x86_64") { "/lib64/ld-linux-x86-64.so.2" } else { "/lib/ld-linux-aarch64.so.1" }
}

for_both! {
    fn strict_executes_no_other_program_and_standard_does(cage: &Cage) {
        for profile in ["open", "standard"] {
            let answer = cage.probe(profile, &id());
            assert_eq!(answer["code"], 0, "{profile}: {answer}");
        }
        assert_eq!(cage.result("strict", &id()), "EACCES");
    }

    fn without_landlock_the_mounts_still_refuse_it(cage: &Cage) {
        assert_eq!(cage.result("no-landlock", &id()), "EACCES");
    }

    fn the_loader_is_no_way_around_for_a_static_tool(cage: &Cage) {
        let by_loader = json!({"try": "exec", "path": loader(), "args": ["/usr/bin/id"]});
        assert_eq!(cage.probe("standard", &by_loader)["code"], 0);
        assert_eq!(cage.result("strict", &by_loader), "EACCES");
    }

    fn the_loader_is_no_way_around_for_a_script_either(cage: &Cage) {
        // The shell's loader has to be executable here; what it is asked to map lies on a noexec mount.
        let script = format!("#!/bin/sh\n{} /usr/bin/id >/dev/null 2>&1\necho \"{{\\\"code\\\": $?}}\"\n", loader());
        cage.scene.script("by_loader", &script, "profile = \"strict\"\n");
        let code = |profile: &str| cage.scene.run("by_loader", &json!({}), &["--profile", profile]).output()["code"].clone();
        assert_eq!(code("standard"), 0);
        assert_ne!(code("strict"), 0);
    }

    fn a_copy_in_a_writable_folder_is_not_executed(cage: &Cage) {
        for folder in ["/tmp", "/work", "/home/tool", "/dev/shm"] {
            let copy = json!({"try": "exec_copy", "from": "/usr/bin/id", "path": format!("{folder}/copy")});
            for profile in ["strict", "standard"] {
                assert_eq!(cage.result(profile, &copy), "EACCES", "{folder} under {profile}");
            }
        }
        let copy = json!({"try": "exec_copy", "from": "/usr/bin/id", "path": cage.scene.work().join("copy")});
        assert_eq!(cage.probe("open", &copy)["code"], 0);
    }

    fn strict_runs_no_code_that_is_in_memory_only(cage: &Cage) {
        let memory = json!({"try": "exec_memory", "from": "/usr/bin/id"});
        assert_eq!(cage.probe("open", &memory)["code"], 0);
        assert_eq!(cage.result("strict", &memory), "EPERM");
    }

    fn a_second_program_of_the_capability_is_refused_by_strict_only(cage: &Cage) {
        let other = cage.scene.path().join("registry/probe/other");
        fs::copy(binary("probe"), &other).expect("a copy");
        let act = |path: &str| json!({"try": "exec", "path": path, "stdin": {"try": "identity"}});
        assert_eq!(cage.probe("standard", &act("/tool/other"))["code"], 0);
        assert_eq!(cage.result("strict", &act("/tool/other")), "EACCES");
        // Itself again is no other program.
        assert_eq!(cage.probe("strict", &act("/tool-bin/probe"))["code"], 0);
    }
}

/// A copy of the probe that belongs to root and takes its owner's id on exec.
#[test]
fn a_set_uid_program_gives_no_other_id() {
    needs!(needs::is_root(), "only root can make a program set-uid root");
    let Some(cage) = toolcell_tests::cage::Cage::of(toolcell_tests::cage::Who::User, "set-uid") else { return };
    let program = cage.scene.path().join("registry/probe/suid");
    fs::copy(binary("probe"), &program).expect("a copy");
    // Making the command gives the scene away; the program is root's again only after it.
    let run = |profile: &str, path: &str| {
        let mut command = cage.scene.command();
        std::os::unix::fs::chown(&program, Some(0), Some(0)).expect("root may");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).expect("root may");
        let act = json!({"try": "exec", "path": path, "stdin": {"try": "identity"}});
        let input = cage.scene.write("input.json", act.to_string());
        let output =
            command.args(["run", "probe", "--profile", profile, "--input"]).arg(input).output().expect("it starts");
        let envelope: Value = serde_json::from_slice(&output.stdout).expect("an envelope");
        let said = envelope["output"]["stdout"].as_str().unwrap_or_else(|| panic!("{envelope:#}")).to_owned();
        serde_json::from_str::<Value>(&said).expect("the probe's answer")
    };
    assert_eq!(run("open", &program.to_string_lossy())["euid"], 0, "the control: it does give root's id");
    assert_eq!(run("standard", "/tool/suid")["euid"], 1000);
}
