//! Memory, processes and CPU, by the kernel's own counters; and what stands in for them.
use serde_json::{Value, json};
use std::time::Duration;
use toolcell_tests::needs::{has, is_root};
use toolcell_tests::{Answer, Scene, left, needs};

fn toml(limits: &str) -> String {
    format!("profile = \"standard\"\n[limits]\nwall = \"20s\"\ngrace = \"500ms\"\n{limits}\n")
}

fn py(body: &str) -> String {
    format!("#!/usr/bin/python3\nimport json, os, signal, sys, time\nsys.stdin.read()\n{body}")
}

fn sh(body: &str) -> String {
    format!("#!/bin/sh\ncat >/dev/null\n{body}")
}

fn tool(scene: &Scene, script: &str, limits: &str) -> Answer {
    scene.script("tool", script, &toml(limits));
    scene.run("tool", &json!({}), &[])
}

fn warned(answer: &Answer, code: &str) -> Value {
    let all = answer.at("/warnings");
    let one = all.as_array().into_iter().flatten().find(|one| one["code"] == code);
    one.unwrap_or_else(|| panic!("no {code}: {:#}", answer.json()))["details"].clone()
}

/// Whether calls of this process get a control group.
fn has_cgroup() -> bool {
    let scene = Scene::new();
    is_root() && scene.exec(&[], &["/bin/true"]).at("/sandbox/layers/cgroup") == "enforced"
}

#[test]
fn the_oom_killer_is_named_with_limit_and_peak() {
    needs!(has("python3"), "python3 is not installed");
    needs!(has_cgroup(), "no control group is to be had");
    let answer = tool(&Scene::new(), &py("a = []\nwhile True: a.append(b'm' * 10_000_000)\n"), "memory = \"64MiB\"");
    answer.expect("channel_failure", "out_of_memory");
    assert_eq!(
        (answer.at("/killed_by"), answer.at("/exit/signal"), answer.code),
        (json!("memory"), json!("SIGKILL"), Some(69))
    );
    assert_eq!(answer.at("/error/details/limit_bytes"), 64 << 20);
    let peak = answer.at("/usage/memory_peak_bytes").as_u64().expect("it was measured");
    assert!((48 << 20..=65 << 20).contains(&peak), "{peak}");
    assert!(answer.at("/error/details/oom_kills").as_u64() >= Some(1), "{:#}", answer.json());
}

#[test]
fn a_tool_that_lost_a_child_to_the_oom_killer_has_not_succeeded() {
    needs!(has("python3"), "python3 is not installed");
    needs!(has_cgroup(), "no control group is to be had");
    let body = "if os.fork() == 0:\n    x = bytearray(400 * 1024 * 1024)\n    for i in range(0, len(x), 4096): x[i] = 1\n    os._exit(0)\n\
                os.wait()\nprint(json.dumps({'ok': True}))\n";
    let answer = tool(&Scene::new(), &py(body), "memory = \"64MiB\"");
    answer.expect("channel_failure", "out_of_memory");
    assert_eq!((answer.at("/killed_by"), answer.at("/output")), (json!("memory"), Value::Null));
}

#[test]
fn a_tool_that_copes_with_too_little_memory_ended_by_itself() {
    needs!(has("python3"), "python3 is not installed");
    for scene in Scene::everyone() {
        let body = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))\n\
                    try:\n    x = b'm' * (1 << 30)\nexcept MemoryError:\n    sys.exit(3)\n";
        let answer = tool(&scene, &py(body), "memory = \"256MiB\"");
        answer.expect("channel_failure", "undeclared_exit");
        assert_eq!((answer.at("/exit/code"), answer.at("/killed_by")), (json!(3), Value::Null));
    }
}

#[test]
fn files_in_tmp_are_charged_and_swap_is_none() {
    needs!(has_cgroup(), "no control group is to be had");
    let body = "head -c 200000000 /dev/zero > /tmp/big; echo \"{\\\"rc\\\":$?}\"\n";
    let answer = tool(&Scene::new(), &sh(body), "memory = \"128MiB\"\ntmp = \"64MiB\"");
    assert_eq!(answer.output(), json!({"rc": 1}));
    let details = warned(&answer, "tmp_full");
    assert_eq!(details["limit_bytes"], 64 << 20);
    let peak = answer.at("/usage/memory_peak_bytes").as_u64().expect("it was measured");
    assert!(peak > 60 << 20, "{peak}");
}

#[test]
fn forks_beyond_the_limit_are_refused_and_counted() {
    needs!(has_cgroup(), "no control group is to be had");
    needs!(has("python3"), "python3 is not installed");
    let body = "n = 0\ntry:\n    while n < 100:\n        if os.fork() == 0:\n            time.sleep(30); os._exit(0)\n        n += 1\n\
                except OSError as e:\n    pass\nprint(json.dumps({'forked': n}))\n";
    let answer = tool(&Scene::new(), &py(body), "pids = 8");
    let forked = answer.output()["forked"].as_u64().expect("a number");
    assert_eq!(forked, 7, "the tool itself is the eighth");
    assert_eq!(warned(&answer, "pids_limit_hit")["limit"], 8);
    assert_eq!(answer.at("/usage/pids_peak"), 8);
    assert_eq!(warned(&answer, "leaked_processes")["count"], 7);
}

#[test]
fn a_fork_bomb_stays_inside_its_limit_and_is_ended() {
    needs!(has_cgroup(), "no control group is to be had: a fork bomb is only tried under pids.max");
    let scene = Scene::new();
    let marker = left::marker();
    // Every bomb carries the marker as its argument, so that it could be found.
    scene.script(
        "tool",
        &sh(&format!("exec sh -c 'f() {{ f | f & }}; f; sleep 30' {marker} {marker}\n")),
        "profile = \"standard\"\n[limits]\nwall = \"2s\"\ngrace = \"500ms\"\npids = 32\n",
    );
    let answer = scene.run("tool", &json!({}), &[]);
    assert_eq!(answer.status(), "channel_failure", "{:#}", answer.json());
    assert!(warned(&answer, "pids_limit_hit")["hits"].as_u64() >= Some(1));
    assert!(answer.at("/usage/pids_peak").as_u64() <= Some(32));
    assert!(answer.took < Duration::from_secs(15), "{:?}", answer.took);
    assert_eq!(left::alive(&marker), Vec::<u32>::new());
}

#[test]
fn children_of_the_first_instant_are_counted_and_ended_too() {
    for scene in Scene::everyone() {
        let marker = left::marker();
        let forks = format!("sleep {marker} <&- >&- 2>&- & ").repeat(8);
        scene.script("tool", &format!("#!/bin/sh\n{forks}\necho '{{\"ok\":true}}'\n"), &toml("pids = 20"));
        for _ in 0..15 {
            let answer = scene.run("tool", &json!({}), &[]);
            assert_eq!(answer.output(), json!({"ok": true}));
            assert_eq!(left::alive(&marker), Vec::<u32>::new());
        }
    }
}

#[test]
fn a_cpu_share_is_kept_and_its_cost_is_said() {
    needs!(has_cgroup(), "no control group is to be had");
    let body = "i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done\necho '{\"ok\":true}'\n";
    let answer = tool(&Scene::new(), &sh(body), "cpu = 0.2");
    assert_eq!(answer.output(), json!({"ok": true}));
    let details = warned(&answer, "throttled");
    let (stopped, wall) = (details["throttled_ms"].as_u64(), details["wall_ms"].as_u64());
    assert!(stopped > Some(100) && stopped <= wall, "{details}");
    assert_eq!(details["cpu"], 0.2);
    let (cpu, wall) =
        (answer.at("/usage/cpu_ms").as_u64().unwrap_or(0), answer.at("/usage/wall_ms").as_u64().unwrap_or(0));
    assert!(cpu * 2 < wall, "{cpu} of {wall} ms");
}

#[test]
fn without_a_control_group_limits_by_process_stand_in_and_that_is_said() {
    needs!(is_root(), "becoming an ordinary user takes root");
    needs!(has("python3"), "python3 is not installed");
    let scene = Scene::new().as_uid(65534);
    let body = "import resource\nr = lambda n: resource.getrlimit(n)[0]\nprint(json.dumps({'data': r(resource.RLIMIT_DATA), 'nproc': r(resource.RLIMIT_NPROC)}))\n";
    let answer = tool(&scene, &py(body), "memory = \"128MiB\"\npids = 12");
    needs!(answer.at("/sandbox/layers/cgroup") != "enforced", "this user has a control group");
    assert_eq!(answer.output()["data"], 128 << 20);
    let layers: Vec<Value> = answer
        .at("/warnings")
        .as_array()
        .into_iter()
        .flatten()
        .filter(|one| one["code"] == "layer_degraded")
        .map(|one| one["details"]["layer"].clone())
        .collect();
    assert!(layers.contains(&json!("cgroup")), "{:#}", answer.json());
    assert_eq!(warned(&answer, "limit_degraded"), json!({"limits": ["memory", "pids", "cpu"], "by": "rlimits"}));
    assert_eq!(answer.at("/sandbox/level"), 2);
    let greedy = tool(
        &scene,
        &py("try:\n    x = b'm' * (1 << 29)\nexcept MemoryError:\n    print('{\"refused\":true}')\n"),
        "memory = \"128MiB\"",
    );
    assert_eq!(greedy.output(), json!({"refused": true}));
}

#[test]
fn forks_are_limited_without_a_control_group_too() {
    needs!(is_root(), "becoming an ordinary user takes root");
    needs!(has("python3"), "python3 is not installed");
    let scene = Scene::new().as_uid(65534);
    let body = "n = 0\ntry:\n    while n < 60:\n        if os.fork() == 0:\n            time.sleep(30); os._exit(0)\n        n += 1\n\
                except OSError as e:\n    pass\nprint(json.dumps({'forked': n}))\n";
    let answer = tool(&scene, &py(body), "pids = 12");
    let forked = answer.output()["forked"].as_u64().expect("a number");
    assert!(forked <= 12, "{forked} forks under a limit of 12");
}

#[test]
fn a_layer_that_has_to_be_whole_and_is_not_stops_the_call_with_the_way_out() {
    needs!(is_root(), "becoming an ordinary user takes root");
    let scene = Scene::new().as_uid(65534);
    scene.script("tool", &sh("touch /tmp/x\necho '{}'\n"), "profile = \"standard\"\n");
    let free = scene.run("tool", &json!({}), &[]);
    needs!(free.at("/sandbox/layers/cgroup") != "enforced", "this user has a control group");
    let doctor = scene.toolcell(&["doctor"], b"");
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert_eq!(text.matches("hint: delegate a control group (systemd-run --user --scope").count(), 1, "{text}");
    for flags in
        [&["--require", "cgroup"][..], &["--require", "all"], &["--require", "landlock,cgroup"], &["--min-level", "3"]]
    {
        let answer = scene.run("tool", &json!({}), flags);
        answer.expect("channel_failure", "sandbox_unavailable");
        assert_eq!(
            (answer.at("/attempts"), answer.at("/error/origin"), answer.code),
            (json!(0), json!("host"), Some(69)),
            "{flags:?}"
        );
        assert!(
            answer.at("/error/hint").to_string().contains("cgroup")
                || answer.at("/error/hint").to_string().contains("control group"),
            "{:#}",
            answer.json()
        );
    }
    for flags in [&["--min-level", "2"][..], &["--require", "landlock,seccomp,user_ns"]] {
        assert_eq!(scene.run("tool", &json!({}), flags).output(), json!({}), "{flags:?}");
    }
}

#[test]
fn with_everything_to_be_had_the_strictest_demand_is_met() {
    needs!(has_cgroup(), "no control group is to be had");
    let scene = Scene::new();
    scene.script("tool", &sh("echo '{}'\n"), "profile = \"standard\"\n");
    for flags in [&["--require", "all"][..], &["--min-level", "3"], &["--require", "cgroup,proc,landlock"]] {
        let answer = scene.run("tool", &json!({}), flags);
        assert_eq!(answer.output(), json!({}), "{flags:?}");
        assert_eq!(answer.at("/sandbox/level"), 3);
    }
    scene.config("[[grant]]\ncapability = \"*\"\nprofiles = [\"open\"]\n");
    let open = scene.run("tool", &json!({}), &["--profile", "open", "--min-level", "1"]);
    open.expect("channel_failure", "sandbox_unavailable");
}
