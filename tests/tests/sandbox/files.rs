//! Files, folders and devices.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use toolcell_tests::for_both;

/// A path that is removed when the test is over.
struct Removed(std::path::PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Answers of the act `write_many`, by path.
fn written(answer: &Value, path: &str) -> String {
    answer[path].as_str().unwrap_or_default().to_owned()
}

for_both! {
    fn a_file_that_no_profile_names_cannot_be_read(cage: &Cage) {
        let secret = cage.scene.write("outside/secret", "s3cret");
        let open = cage.probe("open", &json!({"try": "read", "path": secret}));
        assert_eq!(open["text"], "s3cret");
        cage.denied(&json!({"try": "read", "path": secret}), "ENOENT");
        cage.denied(&json!({"try": "stat", "path": secret}), "ENOENT");
        cage.denied(&json!({"try": "list", "path": secret.parent()}), "ENOENT");
    }

    fn the_passwords_of_the_host_are_not_there(cage: &Cage) {
        cage.denied(&json!({"try": "stat", "path": "/etc/shadow"}), "ENOENT");
        let inside = cage.probe("strict", &json!({"try": "read", "path": "/etc/passwd"}));
        let text = inside["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("tool:x:1000:1000:") && !text.contains("root"), "{text}");
        let host = cage.probe("open", &json!({"try": "read", "path": "/etc/passwd"}));
        assert!(host["text"].as_str().unwrap_or_default().contains("root:"), "{host}");
    }

    fn the_root_holds_what_the_profile_names_and_nothing_else(cage: &Cage) {
        let names = cage.probe("strict", &json!({"try": "list", "path": "/"}))["names"].clone();
        let known = ["bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "tmp", "tool", "tool-bin", "usr", "work"];
        let extra: Vec<&Value> = names.as_array().into_iter().flatten().filter(|name| !known.iter().any(|one| *name == one)).collect();
        assert!(extra.is_empty(), "{extra:?}");
        assert!(names.as_array().is_some_and(|names| names.contains(&json!("usr"))), "{names}");
        for folder in ["/root", "/run", "/sys", "/var", "/boot", "/opt"] {
            assert_eq!(cage.result("strict", &json!({"try": "list", "path": folder})), "ENOENT", "{folder}");
        }
    }

    fn the_root_holds_no_more_than_landlock_lets_be_read(cage: &Cage) {
        // The mounts alone let /etc be listed; so does the domain: the same list with and without it.
        let list = json!({"try": "list", "path": "/etc"});
        assert_eq!(cage.probe("strict", &list), cage.probe("no-landlock", &list));
    }

    fn only_the_scratch_folders_can_be_written(cage: &Cage) {
        let allowed = ["/tmp/x", "/work/x", "/home/tool/x", "/dev/shm/x"];
        let refused = [
            "/x", "/usr/x", "/usr/bin/x", "/usr/lib/x", "/usr/local/x", "/etc/x", "/tool/x", "/tool-bin/x", "/dev/x", "/proc/x", "/home/x",
        ];
        let paths: Vec<&str> = allowed.iter().chain(&refused).copied().collect();
        for profile in ["strict", "standard"] {
            let answer = cage.probe(profile, &json!({"try": "write_many", "paths": paths}));
            for path in allowed {
                assert_eq!(written(&answer, path), "ok", "{path} under {profile}");
            }
            for path in refused {
                let errno = written(&answer, path);
                let want: &[&str] = if path == "/proc/x" { &["ENOENT", "EACCES"] } else { &["EROFS"] };
                assert!(want.contains(&errno.as_str()), "{path} under {profile}: {errno}");
            }
        }
    }

    fn the_tools_own_program_and_the_devices_cannot_be_replaced(cage: &Cage) {
        assert_eq!(cage.result("strict", &json!({"try": "open_to_write", "path": "/dev/null"})), "ok");
        for path in ["/tool-bin/probe", "/tool/capability.json", "/etc/passwd", "/etc/hosts"] {
            let errno = cage.result("strict", &json!({"try": "open_to_write", "path": path}));
            // A program that runs is busy before anything else is looked at.
            assert!(["EROFS", "EACCES", "ETXTBSY"].contains(&errno.as_str()), "{path}: {errno}");
        }
    }

    fn an_input_file_can_be_read_and_not_written(cage: &Cage) {
        cage.scene.write("work/data/in.txt", "given");
        let tool = "command = [\"probe\"]\nprofile = \"strict\"\n[files]\nin = [\"/path\"]\n";
        cage.scene.capability("reader", &json!({}), tool);
        let run = |act: &Value| cage.scene.run("reader", act, &[]).output();
        assert_eq!(run(&json!({"try": "read", "path": "data/in.txt"}))["text"], "given");
        let answer = run(&json!({"try": "open_to_write", "path": "data/in.txt"}));
        assert!(["EROFS", "EACCES"].iter().any(|errno| answer["result"] == *errno), "{answer}");
        let answer = run(&json!({"try": "write_many", "path": "data", "paths": ["/in/0/data/x", "/in/x", "/tmp/x"]}));
        assert_eq!(answer, json!({"/in/0/data/x": "EROFS", "/in/x": "EROFS", "/tmp/x": "ok", "result": "ok"}));
        assert_eq!(fs::read_to_string(cage.scene.work().join("data/in.txt")).expect("still there"), "given");
    }

    fn files_and_folders_move_across_the_folders_of_one_tree(cage: &Cage) {
        for folder in ["/work", "/tmp", "/home/tool"] {
            assert_eq!(cage.result("strict", &json!({"try": "rename", "path": folder})), "ok", "{folder}");
        }
    }

    fn the_expected_devices_work_and_no_other_is_there(cage: &Cage) {
        let found = cage.probe("strict", &json!({"try": "devices"}));
        let want = json!({
            "null write": "ok", "null read": 0, "zero": true, "full": "ENOSPC", "random": "ok", "urandom": true, "tty": "ENXIO", "result": "ok",
        });
        assert_eq!(found, want);
        let names = cage.probe("strict", &json!({"try": "list", "path": "/dev"}))["names"].clone();
        assert_eq!(names, json!(["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"]));
        let host = cage.probe("open", &json!({"try": "list", "path": "/dev"}))["names"].clone();
        assert!(host.as_array().is_some_and(|names| names.len() > 11), "{host}");
    }

    fn no_device_can_be_made_but_a_fifo_can(cage: &Cage) {
        let at = |kind: &str| json!({"try": kind, "path": "/tmp/made"});
        assert_eq!(cage.result("strict", &at("make_fifo")), "ok");
        let errno = cage.result("strict", &at("make_device"));
        assert!(["EPERM", "EACCES"].contains(&errno.as_str()), "{errno}");
    }

    fn a_fifo_and_a_missing_path_in_a_profile_do_not_stop_the_other_rules(cage: &Cage) {
        // Not below /tmp, where the tool has a folder of its own.
        let fifo = Removed(format!("/var/tmp/toolcell-{}-{:?}", std::process::id(), cage.who).into());
        let secret = cage.scene.write("outside/secret", "s3cret");
        nix::unistd::mkfifo(&fifo.0, nix::sys::stat::Mode::from_bits_truncate(0o644)).expect("a FIFO can be made");
        let rule = |path: &str| format!("[[filesystem.read]]\npath = \"{path}\"\nwhy = \"a test\"\n");
        let rules = rule(&fifo.0.to_string_lossy()) + &rule("/lib64-that-is-nowhere");
        cage.profile("odd", &format!("extends = \"strict\"\n{rules}"));
        let answer = cage.call("odd", &json!({"try": "read", "path": secret}));
        assert_eq!(answer.output()["result"], "ENOENT");
        assert_eq!(answer.warnings().iter().filter(|code| *code == "profile_path_missing").count(), 1, "{:?}", answer.warnings());
        assert_eq!(cage.result("odd", &json!({"try": "stat", "path": fifo.0})), "ok");
    }

    fn landlock_alone_keeps_files_shut_where_there_is_no_root_of_its_own(cage: &Cage) {
        // Level 1: what is left where no namespaces can be made.
        let layers = ["user_ns", "mount_ns", "pid_ns", "net_ns", "ipc_ns", "uts_ns", "cgroup_ns", "root", "proc", "capabilities"];
        let off = layers.map(|layer| format!("{layer} = \"off\"\n")).concat();
        cage.profile("no-root", &format!("extends = \"strict\"\n[network]\nmode = \"host\"\n[require]\n{off}"));
        cage.profile("no-root-no-landlock", &format!("extends = \"strict\"\n[network]\nmode = \"host\"\n[require]\n{off}landlock = \"off\"\n"));
        let secret = cage.scene.write("outside/secret", "s3cret");
        cage.denied_unlike("no-root-no-landlock", "no-root", &json!({"try": "read", "path": secret}), "EACCES");
        cage.denied_unlike("no-root-no-landlock", "no-root", &json!({"try": "list", "path": "/var"}), "EACCES");
        let id = json!({"try": "exec", "path": "/usr/bin/id"});
        cage.denied_unlike("no-root-no-landlock", "no-root", &id, "EACCES");
    }

    fn no_set_uid_program_can_be_left_in_the_workspace(cage: &Cage) {
        // Outside it would belong to the caller: a program that gives whoever starts it the caller's rights.
        let act = |path: &str| json!({"try": "make_set_uid", "path": path});
        let outside = cage.scene.work().join("open");
        assert_eq!(cage.probe("open", &act(&outside.to_string_lossy()))["mode"], 0o6755, "the control");
        let folder = cage.scene.path().join("shared");
        fs::create_dir(&folder).expect("a folder");
        let flags = ["--profile", "workspace", "--workspace", &folder.to_string_lossy()];
        let answer = cage.scene.run("probe", &act("/work/planted"), &flags).output();
        let mode = fs::metadata(folder.join("planted")).map_or(0, |file| file.permissions().mode());
        assert_eq!(mode & 0o6000, 0, "{mode:o} is on the host; the tool was answered {answer}");
    }

    fn nothing_of_a_call_is_left_in_the_callers_folders(cage: &Cage) {
        let list = || {
            let mut names: Vec<_> = fs::read_dir(cage.scene.work()).expect("a folder").flatten().map(|entry| entry.path()).collect();
            names.sort();
            names
        };
        cage.scene.write("work/own", "x");
        let before = list();
        assert_eq!(cage.result("strict", &json!({"try": "rename", "path": "/work"})), "ok");
        assert_eq!(cage.scene.exec(&[], &["true"]).status(), "ok");
        assert_eq!(list(), before);
    }
}
