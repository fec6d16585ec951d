//! Flags beside a planned Call tighten it, as they tighten every other call; none is silently ignored.
use serde_json::{Value, json};
use std::time::Duration;
use toolcell_tests::{Answer, Scene, needs, needs::is_root};

/// A planned Call of a tool that sleeps three seconds.
fn planned(scene: &Scene) {
    let toml = "command = [\"/bin/sleep\", \"3\"]\nprofile = \"standard\"\nstdin = \"none\"\nstdout = \"text\"\n\
                [limits]\ngrace = \"200ms\"\n";
    scene.capability("sleeper", &json!({}), toml);
    let plan = scene.toolcell(&["plan", "sleeper"], b"{}");
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    scene.write("work/call.json", plan.stdout);
}

fn execute(scene: &Scene, flags: &[&str]) -> Answer {
    scene.toolcell(&[&["exec", "--call", "call.json"], flags].concat(), b"")
}

#[test]
fn a_shorter_deadline_holds_for_a_planned_call_too() {
    let scene = Scene::new();
    planned(&scene);
    let answer = execute(&scene, &["--timeout", "500ms"]);
    answer.expect("channel_failure", "timeout");
    assert_eq!(answer.at("/error/details/limit_ms"), 500);
    assert!(answer.took < Duration::from_secs(3), "{:?}", answer.took);
}

#[test]
fn a_layer_demanded_for_a_planned_call_is_demanded() {
    needs!(is_root(), "becoming an ordinary user takes root");
    let scene = Scene::new().as_uid(65534);
    planned(&scene);
    let free = execute(&scene, &[]);
    assert_eq!(free.status(), "ok", "{:#}", free.json());
    needs!(free.at("/sandbox/layers/cgroup") != "enforced", "this user has a control group");
    for flags in [&["--require", "cgroup"][..], &["--require", "all"], &["--min-level", "3"]] {
        let answer = execute(&scene, flags);
        answer.expect("channel_failure", "sandbox_unavailable");
        assert_eq!(answer.at("/attempts"), 0, "{flags:?}");
    }
}

#[test]
fn what_cannot_be_changed_about_a_planned_call_is_refused_and_not_ignored() {
    let scene = Scene::new();
    planned(&scene);
    for flags in [&["--profile", "strict"][..], &["--workspace", "."]] {
        let answer = execute(&scene, flags);
        assert_eq!((answer.status().as_str(), answer.at("/attempts")), ("call_error", json!(0)), "{flags:?}");
        assert_ne!(answer.at("/error"), Value::Null);
    }
}
