//! What `plan` prints is what is executed, and a Call from a file gets no more than its caller.
use serde_json::{Value, json};
use toolcell_tests::{Answer, Scene};

const STANDARD: &str = "profile = \"standard\"\n";

/// A scene with a tool that says what it is given, and its planned Call.
fn planned(scene: &Scene, flags: &[&str]) -> Value {
    scene.script(
        "tool",
        "#!/bin/sh\nread -r all\nprintf '{\"in\":%s,\"pids\":%s}' \"$all\" \"$(ulimit -n)\"\n",
        "profile = \"standard\"\nsecrets = []\n[limits]\nwall = \"20s\"\nopen_files = 64\n[files]\nin = [\"/file\"]\n",
    );
    scene.write("work/f.txt", "words");
    let plan = scene.toolcell(&[&["plan", "tool"], flags].concat(), b"{\"file\":\"f.txt\",\"n\":18446744073709551616}");
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    plan.json()
}

fn execute(scene: &Scene, call: &Value) -> Answer {
    scene.write("work/call.json", call.to_string());
    scene.toolcell(&["exec", "--call", "call.json"], b"")
}

#[test]
fn a_planned_call_is_executed_with_the_same_answer() {
    for scene in Scene::everyone() {
        let call = planned(&scene, &[]);
        let direct = scene.toolcell(&["run", "tool"], b"{\"file\":\"f.txt\",\"n\":18446744073709551616}");
        let again = execute(&scene, &call);
        assert_eq!(again.output(), direct.output());
        assert!(String::from_utf8_lossy(&again.stdout).contains("18446744073709551616"));
        for part in ["/capability", "/status", "/exit", "/sandbox"] {
            assert_eq!(again.at(part), direct.at(part), "{part}");
        }
        assert_eq!(again.warnings(), direct.warnings());
    }
}

#[test]
fn planning_twice_prints_the_same_bytes_and_starts_nothing() {
    let scene = Scene::new();
    scene.script("mark", "#!/bin/sh\ntouch /work/started\n", STANDARD);
    let first = scene.toolcell(&["plan", "mark"], b"{}");
    assert_eq!(first.stdout, scene.toolcell(&["plan", "mark"], b"{}").stdout);
    assert_eq!(first.at("/secrets"), json!([]));
    assert!(!String::from_utf8_lossy(&first.stdout).contains("call_id"));
    // Flags of `run` that are no part of a Call are taken, and change nothing.
    let named = scene.toolcell(&["plan", "mark", "--call-id", "x", "--as", "me", "--out", "there"], b"{}");
    assert_eq!(named.stdout, first.stdout);
    assert!(!scene.work().join("there").exists());
}

#[test]
fn a_tightened_plan_stays_tight_and_may_be_tightened_by_hand() {
    let scene = Scene::new();
    let call = planned(&scene, &["--timeout", "3s", "--pids", "9", "--require", "landlock"]);
    assert_eq!((&call["limits"]["wall_ms"], &call["limits"]["pids"]), (&json!(3000), &json!(9)));
    execute(&scene, &call).output();
    let mut tighter = call;
    tighter["limits"]["open_files"] = json!(50);
    assert_eq!(execute(&scene, &tighter).output()["pids"], 50);
}

/// Every way to ask for more than was planned: the section that is to be named, the place, and what is put there.
fn tamperings(call: &Value) -> Vec<(&'static str, &'static str, Value)> {
    let with = |pointer: &str, more: Value| {
        let mut list = call.pointer(pointer).cloned().unwrap_or_else(|| json!([]));
        list.as_array_mut().expect("a list").push(more);
        list
    };
    let bind =
        json!({"source": "/etc", "target": "/more", "writable": true, "exec": true, "recursive": true, "owner": null});
    let mut writable = call["mounts"]["binds"].clone();
    for bind in writable.as_array_mut().expect("a list") {
        bind["writable"] = json!(true);
    }
    let mut require = call["require"].clone();
    require["landlock"] = json!("best_effort");
    vec![
        ("mounts", "/mounts/binds", with("/mounts/binds", bind)),
        ("mounts", "/mounts/binds", writable),
        ("mounts", "/mounts/private_root", json!(false)),
        ("mounts", "/mounts/devices", with("/mounts/devices", json!("/dev/kmsg"))),
        ("limits", "/limits/wall_ms", json!(25_000)),
        ("limits", "/limits/memory", json!(4_u64 << 30)),
        ("limits", "/limits/cpu", json!(2.0)),
        ("limits", "/limits/pids", json!(65)),
        ("limits", "/limits/leak_window_ms", json!(60_000)),
        ("limits", "/limits/out", json!(1_u64 << 40)),
        ("secrets", "/secrets", json!([{"name": "API_KEY", "from": {"file": "/etc/shadow"}}])),
        ("namespaces", "/namespaces/net", json!(false)),
        ("namespaces", "/namespaces/user", json!(false)),
        ("namespaces", "/namespaces/uid", json!(0)),
        ("landlock", "/landlock", Value::Null),
        ("landlock", "/landlock/rules", with("/landlock/rules", json!({"path": "/", "access": ["read", "write"]}))),
        ("seccomp", "/seccomp", Value::Null),
        ("seccomp", "/seccomp/families", json!(["unix", "inet", "inet6", "netlink_route"])),
        ("require", "/require", require),
        ("program", "/program", json!("/bin/sh")),
        ("argv", "/argv", json!(["/bin/sh", "-c", "id"])),
        ("env", "/env/TOOLCELL_OUT", json!("x")),
        ("env", "/env/TRACEPARENT", json!("x")),
    ]
}

/// Ways to have the capability's own program do, or seem to do, something else.
fn forgeries(call: &Value) -> Vec<(&'static str, &'static str, Value)> {
    let mut argv = call["argv"].clone();
    argv.as_array_mut().expect("a list").push(json!("--more"));
    vec![
        ("argv", "/argv", argv),
        ("env", "/env/LD_PRELOAD", json!("/tool/x.so")),
        ("env", "/env/BASH_ENV", json!("/tool/x")),
        ("env", "/env/OTEL_TRACEPARENT", json!("x")),
        ("env", "/env/PATH", json!("/in/0")),
        ("cwd", "/cwd", json!("/etc")),
        ("out_dir", "/out_dir", json!("/etc")),
        ("contract", "/contract/output_schema", json!(true)),
        ("contract", "/contract/exit_codes", json!({"1": {"status": "ok"}})),
        ("contract", "/contract/retry", json!({"max": 1000, "backoff_ms": 1, "max_backoff_ms": 1})),
        ("stdio", "/stdio/stdout", json!("text")),
    ]
}

fn place<'a>(call: &'a mut Value, pointer: &str) -> &'a mut Value {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    &mut call.pointer_mut(parent).expect("it is there")[name]
}

#[test]
fn a_call_that_asks_for_more_rights_is_refused_and_the_section_named() {
    let scene = Scene::new();
    let call = planned(&scene, &[]);
    assert_refused(&scene, &call, tamperings(&call));
}

#[test]
fn a_call_that_forges_the_tools_command_or_contract_is_refused_and_the_section_named() {
    let scene = Scene::new();
    let call = planned(&scene, &[]);
    assert_refused(&scene, &call, forgeries(&call));
}

fn assert_refused(scene: &Scene, call: &Value, changes: Vec<(&str, &str, Value)>) {
    let mut taken = Vec::new();
    for (section, pointer, value) in changes {
        let mut other = call.clone();
        *place(&mut other, pointer) = value.clone();
        let answer = execute(scene, &other);
        if answer.reason() != "not_permitted" || !answer.at("/error/message").to_string().contains(section) {
            taken.push(format!(
                "{pointer} = {value}: {} {} {}",
                answer.status(),
                answer.reason(),
                answer.at("/error/message")
            ));
        }
    }
    assert!(taken.is_empty(), "{}", taken.join("\n"));
}

#[test]
fn a_call_under_another_profile_takes_its_grant() {
    let scene = Scene::new();
    scene.config("[[grant]]\ncapability = \"tool\"\nprofiles = [\"open\", \"network\"]\n");
    let open = planned(&scene, &["--profile", "open"]);
    execute(&scene, &open).output();
    scene.config("");
    let refused = execute(&scene, &open);
    refused.expect("call_error", "not_permitted");
    let mut renamed = open;
    renamed["profile"] = json!("standard");
    execute(&scene, &renamed).expect("call_error", "not_permitted");
}

#[test]
fn a_call_is_judged_by_what_holds_now() {
    let scene = Scene::new();
    let call = planned(&scene, &[]);
    scene.capability("tool", &json!({"description": "another one"}), "command = [\"./run\"]\nprofile = \"standard\"\n");
    execute(&scene, &call).expect("call_error", "not_permitted");
    std::fs::remove_dir_all(scene.registry().join("tool")).expect("it can go");
    execute(&scene, &call).expect("call_error", "unknown_capability");
    let call = planned(&scene, &[]);
    std::fs::remove_file(scene.work().join("f.txt")).expect("it can go");
    std::os::unix::fs::symlink("/etc/passwd", scene.work().join("f.txt")).expect("it can be made");
    let moved = execute(&scene, &call);
    moved.expect("call_error", "not_permitted");
}

#[test]
fn the_input_of_a_planned_call_is_still_checked() {
    let scene = Scene::new();
    scene.script("tool", "#!/bin/sh\ncat\n", STANDARD);
    scene.capability(
        "tool",
        &json!({"input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}),
        "command = [\"./run\"]\nprofile = \"standard\"\n",
    );
    let mut call = scene.toolcell(&["plan", "tool"], b"{\"n\":1}").json();
    call["stdio"]["stdin"] = json!({"json": {"n": "no number"}});
    let answer = execute(&scene, &call);
    assert!(["input_schema", "not_permitted"].contains(&answer.reason().as_str()), "{:#}", answer.json());
}

#[test]
fn what_is_no_call_is_bad_usage() {
    let scene = Scene::new();
    let good = planned(&scene, &[]);
    let mut newer = good.clone();
    newer["schema"] = json!("toolcell.call/2");
    let mut more = good;
    more["more"] = json!(1);
    for call in [json!({}), json!([]), json!("x"), newer, more] {
        execute(&scene, &call).expect("call_error", "usage");
    }
    scene.toolcell(&["exec", "--call", "none.json"], b"").expect("call_error", "usage");
}

#[test]
fn sensitive_values_are_in_no_plan_and_reach_the_tool() {
    let scene = Scene::new();
    scene.script("tool", "#!/bin/sh\ncat\n", STANDARD);
    let schema = json!({"type": "object", "properties": {"key": {"type": "string", "writeOnly": true}, "pin": {"x-sensitive": true}, "open": {}}});
    scene.capability("tool", &json!({"input_schema": schema}), "command = [\"./run\"]\nprofile = \"standard\"\n");
    let input = json!({"key": "sk-very-secret", "pin": 481_516, "open": "seen"});
    let plan = scene.toolcell(&["plan", "tool"], input.to_string().as_bytes());
    let text = String::from_utf8_lossy(&plan.stdout).into_owned();
    assert!(!text.contains("sk-very-secret") && !text.contains("481516") && text.contains("seen"), "{text}");
    assert_eq!(plan.at("/sensitive"), json!(["/key", "/pin"]));
    let answer = scene.run("tool", &input, &[]);
    assert_eq!((answer.status().as_str(), answer.at("/exit/code")), ("ok", json!(0)), "{:#}", answer.json());
    execute(&scene, &plan.json()).expect("call_error", "usage");
}
