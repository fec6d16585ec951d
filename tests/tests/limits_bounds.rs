//! Files, scratch space, descriptors and flags: what is asked for, what is given, what is said.
use serde_json::{Value, json};
use std::time::Duration;
use toolcell_tests::{Answer, Scene};

fn toml(limits: &str) -> String {
    format!("profile = \"standard\"\n[limits]\nwall = \"20s\"\n{limits}\n")
}

fn tool(scene: &Scene, body: &str, limits: &str) -> Answer {
    scene.script("tool", &format!("#!/bin/bash\ncat >/dev/null\n{body}"), &toml(limits));
    scene.run("tool", &json!({}), &[])
}

/// The messages of the limit_clamped warnings.
fn clamped(answer: &Answer) -> Vec<String> {
    let all = answer.at("/warnings");
    let cut = all.as_array().into_iter().flatten().filter(|one| one["code"] == "limit_clamped");
    cut.map(|one| one["message"].as_str().unwrap_or_default().split(':').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_file_that_grows_too_large_is_its_own_reason() {
    for scene in Scene::everyone() {
        let answer =
            tool(&scene, "exec head -c 30000000 /dev/zero > /tmp/big\n", "file_size = \"10MiB\"\ntmp = \"64MiB\"");
        answer.expect("channel_failure", "file_size_limit");
        assert_eq!((answer.at("/exit/signal"), answer.at("/killed_by")), (json!("SIGXFSZ"), Value::Null));
        assert_eq!(answer.at("/error/details/limit_bytes"), 10 << 20);
        let plan = scene.toolcell(&["plan", "tool"], b"{}");
        assert_eq!(plan.at("/limits/file_size"), 10 << 20);
    }
}

#[test]
fn a_full_scratch_space_is_said_whether_by_bytes_or_by_inodes() {
    for scene in Scene::everyone() {
        let bytes = tool(&scene, "head -c 30000000 /dev/zero > /tmp/big; echo \"{\\\"rc\\\":$?}\"\n", "tmp = \"8MiB\"");
        assert_eq!(bytes.output(), json!({"rc": 1}));
        assert!(bytes.warnings().contains(&"tmp_full".to_owned()), "{:#}", bytes.json());
        let body = "n=0; while [ $n -lt 500 ] && : > /home/tool/$n; do n=$((n+1)); done 2>/dev/null; echo \"{\\\"n\\\":$n}\"\n";
        let inodes = tool(&scene, body, "tmp_inodes = 100");
        let made = inodes.output()["n"].as_u64().expect("a number");
        assert!((50..=100).contains(&made), "{made}");
        assert!(inodes.warnings().contains(&"tmp_full".to_owned()), "{:#}", inodes.json());
        let neither = tool(&scene, "echo x > /tmp/small; echo '{}'\n", "tmp = \"8MiB\"");
        neither.output();
        assert!(!neither.warnings().contains(&"tmp_full".to_owned()));
    }
}

#[test]
fn the_writable_folders_share_one_limit() {
    let body = "for d in /tmp /work /home/tool /dev/shm; do head -c 5000000 /dev/zero > $d/x 2>/dev/null && echo -n y || echo -n n; done > /tmp/r 2>&1\n\
                r=$(cat /tmp/r); echo \"{\\\"r\\\":\\\"$r\\\"}\"\n";
    let answer = tool(&Scene::new(), body, "tmp = \"12MiB\"");
    assert_eq!(answer.output(), json!({"r": "yynn"}));
}

#[test]
fn descriptors_are_limited() {
    for scene in Scene::everyone() {
        let body = "n=0; while exec {fd}</dev/null; do n=$((n+1)); [ $n -gt 200 ] && break; done 2>/dev/null; echo \"{\\\"n\\\":$n,\\\"limit\\\":$(ulimit -n)}\"\n";
        let answer = tool(&scene, body, "open_files = 32");
        assert_eq!(answer.output()["limit"], 32);
        let opened = answer.output()["n"].as_u64().expect("a number");
        assert!((15..32).contains(&opened), "{opened}");
    }
}

#[test]
fn core_dumps_are_off() {
    for scene in Scene::everyone() {
        let answer = tool(&scene, "echo \"{\\\"core\\\":$(ulimit -c)}\"; \n", "");
        assert!(answer.output()["core"].as_u64() <= Some(1), "{:#}", answer.json());
        let crash = tool(&scene, "cd /work; kill -SEGV $$\n", "");
        crash.expect("channel_failure", "crashed");
    }
}

#[test]
fn the_wall_clock_is_kept_and_flags_may_shorten_it() {
    let scene = Scene::new();
    scene.script("tool", "#!/bin/sh\nexec sleep 60\n", &toml("grace = \"200ms\""));
    let answer = scene.run("tool", &json!({}), &["--timeout", "700ms"]);
    answer.expect("channel_failure", "timeout");
    assert_eq!(answer.at("/error/details/limit_ms"), 700);
    assert!(answer.took > Duration::from_millis(690) && answer.took < Duration::from_secs(6), "{:?}", answer.took);
    let wall = answer.at("/usage/wall_ms").as_u64().expect("it was measured");
    assert!((690..6000).contains(&wall), "{wall}");
}

#[test]
fn what_a_tool_asks_beyond_its_profile_is_cut_and_said_by_name() {
    let scene = Scene::new();
    let limits = "memory = \"64GiB\"\ncpu = 8\npids = 1000\nopen_files = 100000\nfile_size = \"1TiB\"\ntmp = \"300MiB\"\n\
                  tmp_inodes = 1000000\nstdout = \"1GiB\"\nstderr = \"1GiB\"\nout = \"1GiB\"\ngrace = \"1m\"";
    let answer = tool(&scene, "echo '{}'\n", limits);
    assert_eq!(answer.output(), json!({}));
    let mut names = clamped(&answer);
    names.sort();
    let all =
        ["cpu", "file_size", "grace", "memory", "open_files", "out", "pids", "stderr", "stdout", "tmp", "tmp_inodes"];
    assert_eq!(names, all);
    let plan = scene.toolcell(&["plan", "tool"], b"{}");
    let limits = plan.at("/limits");
    assert_eq!((&limits["pids"], &limits["cpu"], &limits["memory"]), (&json!(64), &json!(1.0), &json!(2_u64 << 30)));
}

#[test]
fn flags_tighten_and_never_loosen() {
    let scene = Scene::new();
    scene.script("tool", "#!/bin/sh\necho '{}'\n", &toml("memory = \"128MiB\"\npids = 20\ncpu = 0.5"));
    let flags = ["--memory", "64MiB", "--pids", "10", "--cpu", "0.25", "--timeout", "5s"];
    let limits = scene.toolcell(&[&["plan", "tool"][..], &flags].concat(), b"{}").at("/limits");
    assert_eq!(
        (&limits["memory"], &limits["pids"], &limits["cpu"], &limits["wall_ms"]),
        (&json!(64 << 20), &json!(10), &json!(0.25), &json!(5000))
    );
    assert_eq!(limits["tmp"], 32 << 20, "half of memory");
    let more = ["--memory", "256MiB", "--pids", "30", "--cpu", "0.75", "--timeout", "25s"];
    let limits = scene.toolcell(&[&["plan", "tool"][..], &more].concat(), b"{}").at("/limits");
    assert_eq!(
        (&limits["memory"], &limits["pids"], &limits["cpu"], &limits["wall_ms"]),
        (&json!(128 << 20), &json!(20), &json!(0.5), &json!(20_000))
    );
    let answer = scene.run("tool", &json!({}), &flags);
    answer.output();
    assert_eq!(clamped(&answer), Vec::<String>::new());
    let mut loose = clamped(&scene.run("tool", &json!({}), &more));
    loose.sort();
    assert_eq!(loose, ["cpu", "memory", "pids", "wall"], "what a flag asks for beyond tool.toml was cut too");
}

#[test]
fn usage_says_null_where_nothing_was_measured() {
    for scene in Scene::everyone() {
        let answer = tool(&scene, "echo '{}'; echo abc >&2\n", "");
        let usage = answer.at("/usage");
        assert_eq!((&usage["stdout_bytes"], &usage["stderr_bytes"]), (&json!(3), &json!(4)));
        assert!(usage["wall_ms"].as_u64() > Some(0) && usage["cpu_ms"].is_u64(), "{usage}");
        let measured = answer.at("/sandbox/layers/cgroup") == "enforced";
        assert_eq!((usage["memory_peak_bytes"].is_u64(), usage["pids_peak"].is_u64()), (measured, measured), "{usage}");
        let refused = scene.run("no_such", &json!({}), &[]);
        assert_eq!(refused.at("/usage/cpu_ms"), Value::Null);
        assert_eq!(refused.at("/usage/stdout_bytes"), Value::Null);
    }
}
