//! Floods: the runner's own memory does not grow with what a tool says. Alone in its file, because what is measured is
//! the highest memory of all processes this test has waited for.
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;
use std::time::Duration;
use toolcell_tests::Scene;

/// The highest resident memory of any process waited for so far, bytes.
fn peak() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).expect("it can be asked").max_rss() * 1024
}

#[test]
fn floods_on_stdout_and_stderr_end_at_their_limits_and_cost_the_runner_little() {
    for scene in Scene::everyone() {
        let toml = "profile = \"standard\"\n[limits]\nwall = \"25s\"\nstdout = \"4MiB\"\nstderr = \"64KiB\"\n";
        scene.script(
            "stdout",
            "#!/bin/sh\ncat >/dev/null\nexec yes '{\"k\":\"0123456789012345678901234567890123456789\"}'\n",
            toml,
        );
        let stdout = scene.run("stdout", &json!({}), &[]);
        stdout.expect("channel_failure", "output_limit");
        assert_eq!(
            (stdout.at("/killed_by"), stdout.at("/error/details/limit_bytes")),
            (json!("output_limit"), json!(4 << 20))
        );
        assert!(stdout.took < Duration::from_secs(15), "{:?}", stdout.took);
        assert!(stdout.stdout.len() < 100_000, "an envelope of {} bytes", stdout.stdout.len());

        scene.script(
            "stderr",
            "#!/bin/sh\ncat >/dev/null\necho '{\"ok\":true}'\nexec >&-\nhead -c 1000000000 /dev/zero >&2\n",
            toml,
        );
        let stderr = scene.run("stderr", &json!({}), &[]);
        assert_eq!(stderr.output(), json!({"ok": true}));
        assert_eq!(stderr.at("/usage/stderr_bytes"), 1_000_000_000);
        assert_eq!(stderr.at("/stderr/truncated"), true);
        assert!(stderr.stdout.len() < 1_000_000, "an envelope of {} bytes", stderr.stdout.len());

        if scene.calls_as_root() {
            // However fast it is, it is either drained or ended; what counts is what it costs.
            scene.script("flood", "#!/bin/sh\ncat >/dev/null\necho '{}'\nhead -c 10737418240 /dev/zero >&2\n", toml);
            let flood = scene.run("flood", &json!({}), &[]);
            assert!(["ok", "channel_failure"].contains(&flood.status().as_str()), "{:#}", flood.json());
            assert!(flood.at("/usage/stderr_bytes").as_u64() > Some(1 << 30), "{:#}", flood.json());
        }
        scene.script("both", "#!/bin/sh\ncat >/dev/null\nyes e >&2 &\nexec yes o\n", toml);
        scene.run("both", &json!({}), &[]).expect("channel_failure", "output_limit");
    }
    assert!(peak() < 64 << 20, "{} MiB", peak() >> 20);
}
