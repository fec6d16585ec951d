//! Want of what the host gives to each process is nobody's fault but the host's, and says what to raise.
use serde_json::json;
use std::process::Command;
use toolcell_tests::{Answer, Scene, finish, needs, needs::is_root};

/// Calls the binary from a shell that limits itself first.
fn limited(scene: &Scene, limit: &str, args: &[&str]) -> Answer {
    let plain = scene.command();
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{limit} \"$0\" \"$@\"")).arg(plain.get_program()).args(plain.get_args()).args(args);
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    finish(command.current_dir(scene.work()), b"{}")
}

fn scene() -> Scene {
    let scene = Scene::new();
    // It forks nothing itself: what it may still lack is not toolcell's to tell.
    scene.script("echo", "#!/bin/sh\nexec cat\n", "profile = \"standard\"\n");
    scene
}

/// Whether the call was made; where not, the host is to blame, and the hint names the limit.
fn was_made(answer: &Answer, named: &str) -> bool {
    if answer.status() == "ok" {
        return true;
    }
    answer.expect("channel_failure", "start_failed");
    assert_eq!((answer.at("/error/origin"), answer.code), (json!("host"), Some(69)));
    let hint = answer.at("/error/hint").to_string();
    assert!(hint.contains("raise the limit") && hint.contains(named), "{:#}", answer.json());
    false
}

#[test]
fn too_few_descriptors_are_the_hosts_shortage_wherever_they_run_out() {
    let scene = scene();
    let args = ["run", "echo"];
    let made: Vec<bool> = (4..=40)
        .map(|most| was_made(&limited(&scene, &format!("ulimit -n {most}; exec"), &args), "ulimit -n"))
        .collect();
    assert!(!made[0] && made.last() == Some(&true), "{made:?}");
    let doctor = limited(&scene, "ulimit -n 6; exec", &["doctor"]);
    assert_eq!(doctor.code, Some(69));
    assert!(doctor.stderr.contains("raise the limit on open files"), "{}", doctor.stderr);
}

#[test]
fn too_small_a_file_size_is_the_hosts_shortage() {
    let scene = scene();
    assert!(!was_made(&limited(&scene, "ulimit -f 0; exec", &["run", "echo"]), "ulimit -f"));
    assert!(was_made(&limited(&scene, "ulimit -f 100000; exec", &["run", "echo"]), ""));
}

#[test]
fn too_few_processes_are_the_hosts_shortage_wherever_they_run_out() {
    needs!(is_root(), "root is needed to call under an id that has no other processes");
    let scene = scene().as_uid(64_321);
    let made: Vec<bool> = [1, 2, 3, 4, 5, 6, 64]
        .iter()
        .map(|most| was_made(&limited(&scene, &format!("exec prlimit --nproc={most}"), &["run", "echo"]), "ulimit -u"))
        .collect();
    assert!(!made[0] && made.last() == Some(&true), "{made:?}");
}
