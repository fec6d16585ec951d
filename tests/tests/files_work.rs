//! The caller's folders: writable as a workspace, read-only for exec, and never littered.
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use toolcell_tests::{Scene, left};

const GRANT: &str = "[[grant]]\ncapability = \"*\"\nprofiles = [\"workspace\"]\n";

/// Every path below a folder with its size.
fn tree(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for name in left::names(folder) {
        let path = folder.join(name);
        let meta = std::fs::symlink_metadata(&path).expect("it is there");
        found.push((path.clone(), if meta.is_dir() { 0 } else { meta.len() }));
        if meta.is_dir() {
            found.extend(tree(&path));
        }
    }
    found
}

#[test]
fn what_a_tool_writes_into_the_workspace_belongs_to_the_caller() {
    for scene in Scene::everyone() {
        scene.config(GRANT);
        scene.write("work/ws/old", "old");
        scene.script("tool", "#!/bin/sh\ncat >/dev/null\nset -e\necho new > /work/new; mkdir -p sub/a sub/b; echo x > sub/a/t\n\
            mv sub/a/t sub/b/t; mkdir sub/c; mv sub/c sub/a/c; echo changed > old; pwd >&2; echo \"$TOOLCELL_OUT\" >&2; echo '{}'\n",
            "profile = \"workspace\"\n");
        let answer = scene.run("tool", &json!({}), &["--workspace", "ws"]);
        answer.output();
        assert_eq!(answer.at("/stderr/text"), "/work\n/home/tool/out\n");
        let ws = scene.work().join("ws");
        assert_eq!(left::names(&ws), ["new", "old", "sub"]);
        assert_eq!(std::fs::read_to_string(ws.join("old")).expect("it is there"), "changed\n");
        let caller = std::fs::metadata(&ws).expect("it is there").uid();
        for path in ["new", "old", "sub", "sub/b/t", "sub/a/c"] {
            assert_eq!(std::fs::metadata(ws.join(path)).expect("it is there").uid(), caller, "{path}");
        }
    }
}

#[test]
fn a_workspace_takes_a_profile_that_has_one_and_a_folder_that_is_one() {
    let scene = Scene::new();
    scene.config(GRANT);
    scene.write("work/file", "x");
    scene.script("tool", "#!/bin/sh\ncat\n", "profile = \"workspace\"\n");
    scene.script("plain", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    for folder in ["none", "file", "/", "/proc", "/sys", "/dev"] {
        let answer = scene.run("tool", &json!({}), &["--workspace", folder]);
        answer.expect("call_error", "usage");
        assert_eq!(answer.at("/attempts"), 0, "{folder}");
    }
    let home = scene.path().join("home");
    scene.run("tool", &json!({}), &["--workspace", home.to_str().expect("UTF-8")]).expect("call_error", "usage");
    std::os::unix::fs::symlink(&home, scene.work().join("link")).expect("it can be made");
    scene.run("tool", &json!({}), &["--workspace", "link"]).expect("call_error", "usage");
    scene.run("plain", &json!({}), &["--workspace", "."]).expect("call_error", "usage");
    let without = scene.run("tool", &json!({}), &[]);
    assert_ne!(without.status(), "channel_failure", "{:#}", without.json());
}

#[test]
fn exec_shows_the_working_directory_read_only() {
    for scene in Scene::everyone() {
        scene.write("work/f", "words");
        let before = tree(&scene.work());
        let answer =
            scene.exec(&[], &["/bin/sh", "-c", "pwd; cat f; echo x > g || echo refused; rm -f f || echo refused"]);
        assert_eq!(answer.output()["text"], "/work\nwordsrefused\nrefused\n");
        assert_eq!((answer.at("/capability"), answer.at("/sandbox/profile")), (Value::Null, json!("standard")));
        assert_eq!(tree(&scene.work()), before);
    }
}

#[test]
fn exec_may_be_given_a_workspace() {
    for scene in Scene::everyone() {
        std::fs::create_dir(scene.work().join("ws")).expect("it can be made");
        let answer = scene.exec(&["--workspace", "ws"], &["/bin/sh", "-c", "echo x > /work/new; ls /work"]);
        assert_eq!(answer.output(), json!({"text": "new\n"}));
        assert_eq!(answer.at("/sandbox/profile"), "workspace");
        assert_eq!(std::fs::read_to_string(scene.work().join("ws/new")).expect("it is there"), "x\n");
    }
}

#[test]
fn exec_refuses_to_show_everything() {
    let scene = Scene::new();
    for folder in
        [Path::new("/"), &scene.path().join("home"), Path::new("/proc"), Path::new("/sys/fs"), Path::new("/dev")]
    {
        let mut command = scene.command();
        command.current_dir(folder).args(["exec", "--", "/bin/true"]);
        let answer = toolcell_tests::finish(&mut command, b"");
        answer.expect("call_error", "usage");
        assert_eq!((answer.at("/attempts"), answer.code), (json!(0), Some(64)), "{}", folder.display());
        assert!(answer.at("/error/hint").is_string());
    }
}

#[test]
fn a_working_directory_that_is_gone_is_bad_usage() {
    let scene = Scene::new();
    let gone = scene.path().join("gone");
    std::fs::create_dir(&gone).expect("it can be made");
    let mut command = std::process::Command::new("/bin/sh");
    let env = scene.command();
    command.env_clear().envs(env.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(&gone);
    command.args(["-c", "rmdir \"$PWD\"; exec \"$0\" exec -- /bin/true"]).arg(toolcell_tests::binary("toolcell"));
    let answer = toolcell_tests::finish(&mut command, b"");
    answer.expect("call_error", "usage");
}

#[test]
fn no_ghost_files_appear_in_the_callers_folders() {
    for scene in Scene::everyone() {
        scene.config(GRANT);
        scene.write("work/f", "words");
        scene.write("home/.profile", "x");
        let marker = left::marker();
        scene.script("quick", "#!/bin/sh\ncat\n", "profile = \"workspace\"\n[files]\nin = [\"/file\"]\n");
        scene.script(
            "slow",
            &format!("#!/bin/sh\ncat >/dev/null\nexec sleep {marker}\n"),
            "profile = \"workspace\"\n[files]\nin = [\"/file\"]\n",
        );
        let before = (tree(&scene.work()), tree(&scene.registry()), tree(&scene.path().join("home")));
        scene.run("quick", &json!({"file": "f"}), &["--workspace", "."]).output();
        scene.exec(&[], &["/bin/true"]).output();
        let mut command = scene.command();
        command
            .args(["run", "slow", "--workspace", ".", "--set", "/file=f"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        assert!(left::soon(|| !left::alive(&marker).is_empty()), "it did not start");
        child.kill().expect("it lives");
        child.wait().expect("it ends");
        assert!(left::soon(|| left::alive(&marker).is_empty()), "it lives on");
        assert_eq!((tree(&scene.work()), tree(&scene.registry()), tree(&scene.path().join("home"))), before);
        let mounts = std::fs::read_to_string("/proc/mounts").expect("it can be read");
        assert!(!mounts.contains(scene.path().to_str().expect("UTF-8")), "a mount was left on the host");
    }
}
