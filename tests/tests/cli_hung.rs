//! A file system that does not answer: whatever a call has to read, the envelope comes in time.
use serde_json::json;
use std::fs::File;
use std::time::Duration;
use toolcell_tests::needs::{has, is_root};
use toolcell_tests::{Answer, Scene, binary, finish, needs};

/// Calls toolcell in a mount namespace of its own, where `hung` below the scene is a FUSE mount that nobody serves.
fn beside_a_hung_mount(scene: &Scene, args: &[&str]) -> Answer {
    let hung = scene.path().join("hung");
    std::fs::create_dir_all(&hung).expect("a folder can be made");
    let script = "exec 3<>/dev/fuse\nmount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 hung \"$1\" || exit 9\n\
                  shift\nexec \"$@\"\n";
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(&hung).arg(binary("toolcell")).args(args);
    let like = scene.command();
    for (name, value) in like.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    finish(command.current_dir(scene.work()), b"")
}

fn can_mount() -> bool {
    is_root() && has("unshare") && has("mount") && File::options().read(true).write(true).open("/dev/fuse").is_ok()
}

fn scene() -> Scene {
    let scene = Scene::new();
    scene.script("cat", "#!/bin/sh\ncat\n", "profile = \"standard\"\n[limits]\ngrace = \"500ms\"\n");
    scene
}

#[test]
fn whatever_is_read_from_it_the_call_ends_at_its_deadline() {
    needs!(can_mount(), "no FUSE mount can be made here");
    let scene = scene();
    let hung = scene.path().join("hung").to_string_lossy().into_owned();
    let inside = format!("{hung}/file");
    let cases: [&[&str]; 4] = [
        &["run", "cat", "--timeout", "1s", "--registry", &hung],
        &["run", "cat", "--timeout", "1s", "--config", &inside],
        &["run", "cat", "--timeout", "1s", "--out", &inside],
        &["exec", "--timeout", "1s", "--workspace", &hung, "--", "true"],
    ];
    for args in cases {
        let answer = beside_a_hung_mount(&scene, args);
        answer.expect("channel_failure", "timeout");
        assert_eq!((answer.at("/error/origin"), answer.at("/attempts")), (json!("host"), json!(0)), "{args:?}");
        assert!(answer.took < Duration::from_secs(15), "{args:?}: {:?}", answer.took);
    }
}

#[test]
fn an_input_that_lies_there_is_awaited_as_one_that_never_ends() {
    needs!(can_mount(), "no FUSE mount can be made here");
    let scene = scene();
    let inside = scene.path().join("hung/file").to_string_lossy().into_owned();
    let answer = beside_a_hung_mount(&scene, &["run", "cat", "--timeout", "1s", "--input", &inside]);
    assert!(["timeout", "usage"].contains(&answer.reason().as_str()), "{:#}", answer.json());
    assert!(answer.took < Duration::from_secs(15), "{:?}", answer.took);
}

#[test]
fn without_the_hung_mount_the_same_calls_are_answered() {
    let scene = scene();
    let registry = scene.registry().to_string_lossy().into_owned();
    scene.run("cat", &json!({"a": 1}), &["--timeout", "5s", "--registry", &registry, "--out", "new"]).output();
}
