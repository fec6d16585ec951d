//! Secrets: where their values come from, who gets them, and where they must never be seen.
use serde_json::{Value, json};
use toolcell_tests::{Scene, left};

const TOML: &str = "profile = \"standard\"\nsecrets = [\"API_KEY\"]\n";
const VALUE: &str = "sk-test-0123456789abcdef";
const LENGTH: &str = "#!/bin/sh\ncat >/dev/null\nprintf '{\"length\":%s}' ${#API_KEY}\n";

/// A scene in which API_KEY comes from a file and is for the capabilities of this pattern.
fn scene(pattern: &str) -> Scene {
    let scene = Scene::new();
    secret(&scene, &format!("{VALUE}\n"), pattern);
    scene
}

fn secret(scene: &Scene, content: &str, pattern: &str) {
    let file = scene.write("secret", content);
    scene.config(&format!("[secrets.API_KEY]\nfile = \"{}\"\nfor = [\"{pattern}\"]\n", file.display()));
}

#[test]
fn a_secret_comes_from_a_file_and_loses_one_newline() {
    for scene in Scene::everyone() {
        for (content, length) in [("abcd\n", 4), ("abcd\n\n", 5), ("abcd", 4), ("ab cd\r\n", 6)] {
            secret(&scene, content, "tool");
            scene.script("tool", LENGTH, TOML);
            assert_eq!(scene.run("tool", &json!({}), &[]).output(), json!({"length": length}), "{content:?}");
        }
    }
}

#[test]
fn a_secret_comes_from_a_variable_of_another_name() {
    let scene = Scene::new().env("SUPPLIER_A_KEY", VALUE);
    scene.config("[secrets.API_KEY]\nenv = \"SUPPLIER_A_KEY\"\nfor = [\"to*\"]\n");
    scene.script(
        "tool",
        "#!/bin/sh\ncat >/dev/null\nprintf '{\"length\":%s,\"other\":\"%s\"}' ${#API_KEY} \"$SUPPLIER_A_KEY\"\n",
        TOML,
    );
    assert_eq!(scene.run("tool", &json!({}), &[]).output(), json!({"length": VALUE.len(), "other": ""}));
}

#[test]
fn a_secret_without_a_value_stops_the_call_before_its_start() {
    let configs = [
        String::new(),
        "[secrets.API_KEY]\nenv = \"NOT_SET\"\nfor = [\"*\"]\n".to_owned(),
        "[secrets.API_KEY]\nfile = \"/nonexistent/key\"\nfor = [\"*\"]\n".to_owned(),
        "[secrets.API_KEY]\nfile = \"/etc/hostname\"\nfor = [\"other_*\"]\n".to_owned(),
    ];
    for config in configs {
        let scene = Scene::new();
        scene.config(&config);
        scene.script("tool", LENGTH, TOML);
        let answer = scene.run("tool", &json!({}), &[]);
        answer.expect("channel_failure", "secret_missing");
        assert_eq!(
            (answer.at("/error/origin"), answer.at("/attempts"), answer.code),
            (json!("host"), json!(0), Some(69)),
            "{config}"
        );
        assert!(answer.at("/error").to_string().contains("API_KEY"), "{:#}", answer.json());
        assert!(answer.at("/error/hint").is_string());
    }
}

#[test]
fn a_secret_is_for_those_that_ask_and_are_named_only() {
    let scene = scene("fund_*");
    scene.script("fund_a", LENGTH, TOML);
    scene.script("other", LENGTH, TOML);
    scene.script("fund_silent", LENGTH, "profile = \"standard\"\n");
    assert_eq!(scene.run("fund_a", &json!({}), &[]).output(), json!({"length": VALUE.len()}));
    assert_eq!(scene.run("fund_silent", &json!({}), &[]).output(), json!({"length": 0}));
    scene.run("other", &json!({}), &[]).expect("channel_failure", "secret_missing");
    let exec = scene.exec(&[], &["/bin/sh", "-c", "printf '%s' \"$API_KEY\""]);
    assert_eq!(exec.output(), json!({"text": ""}));
}

#[test]
fn a_secret_on_stdout_withholds_the_output_in_every_form() {
    for scene in Scene::everyone() {
        for body in [
            "printf '{\"k\":\"%s\"}' \"$API_KEY\"",
            "printf '{\"%s\":1}' \"$API_KEY\"",
            "printf '{\"k\":\"'; printf '%s' \"$API_KEY\" | base64 -w0; printf '\"}'",
            "printf 'text before %s' \"$API_KEY\"; exit 3",
            "printf '{\"error\":{\"message\":\"bad key %s\"}}' \"$API_KEY\"; exit 66",
        ] {
            secret(&scene, VALUE, "*");
            scene.script("tool", &format!("#!/bin/sh\ncat >/dev/null\n{body}\n"), TOML);
            let answer = scene.run("tool", &json!({}), &[]);
            if body.contains("base64") && answer.status() == "ok" {
                // Encoded forms are beyond what is promised; the plain ones below are not.
                continue;
            }
            answer.expect("channel_failure", "secret_in_output");
            assert_eq!(answer.at("/output"), Value::Null);
            assert!(!String::from_utf8_lossy(&answer.stdout).contains(VALUE), "{:#}", answer.json());
        }
    }
}

#[test]
fn a_secret_on_stderr_is_replaced_also_where_it_was_cut() {
    let scene = scene("*");
    scene.script("tool", "#!/bin/sh\ncat >/dev/null\necho \"key is $API_KEY.\" >&2\necho '{\"ok\":true}'\n", TOML);
    let answer = scene.run("tool", &json!({}), &[]);
    assert_eq!(answer.output(), json!({"ok": true}));
    let text = answer.at("/stderr/text").as_str().unwrap_or_default().to_owned();
    assert!(text.starts_with("key is ") && text.ends_with(".\n") && !text.contains("sk-test"), "{text}");
    // The value lies across the place where the head of stderr ends, for every offset.
    scene.script("cut", "#!/bin/sh\nread -r n\ncat >/dev/null\nhead -c $n /dev/zero | tr '\\0' x >&2\nprintf '%s' \"$API_KEY\" >&2\n\
        head -c 5000 /dev/zero | tr '\\0' y >&2\nprintf '%s' \"$API_KEY\" >&2\nhead -c $n /dev/zero | tr '\\0' z >&2\necho '{\"ok\":true}'\n",
        &format!("{TOML}[limits]\nstderr = \"2KiB\"\n"));
    for offset in (1000..=1024).step_by(3) {
        let answer = scene.toolcell(&["run", "cut"], format!("{{\"a\":{offset}}}\n").as_bytes());
        answer.output();
        let text = answer.at("/stderr/text").as_str().unwrap_or_default().to_owned();
        for part in VALUE.as_bytes().windows(6) {
            let part = String::from_utf8_lossy(part).into_owned();
            assert!(!text.contains(&part), "offset {offset}: {part} of the secret is left");
        }
    }
}

#[test]
fn a_secret_is_in_no_plan_and_no_argument() {
    let scene = scene("*");
    let marker = left::marker();
    scene.script(
        "tool",
        &format!("#!/bin/sh\ncat >/dev/null\nexec sleep {marker}\n"),
        &format!("{TOML}[limits]\nwall = \"1s\"\ngrace = \"200ms\"\n"),
    );
    let plan = scene.toolcell(&["plan", "tool"], b"{}");
    assert!(!String::from_utf8_lossy(&plan.stdout).contains(VALUE));
    assert_eq!(plan.at("/secrets/0/name"), "API_KEY");
    assert_eq!(plan.at("/env/API_KEY"), Value::Null);
    let lines = std::thread::scope(|scope| {
        let call = scope.spawn(|| scene.run("tool", &json!({}), &[]));
        assert!(left::soon(|| !left::alive(&marker).is_empty()), "it did not start");
        let lines: Vec<u8> = std::fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .flat_map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default())
            .collect();
        let answer = call.join().expect("it ends");
        assert!(!String::from_utf8_lossy(&answer.stdout).contains(VALUE) && !answer.stderr.contains(VALUE));
        lines
    });
    assert!(!String::from_utf8_lossy(&lines).contains(VALUE));
}

#[test]
fn odd_values_arrive_as_they_are() {
    let scene = Scene::new();
    scene.script("tool", "#!/bin/sh\ncat >/dev/null\nprintf '%s' \"$API_KEY\" | od -An -tx1 | tr -d ' \\n' | sed 's/.*/{\"hex\":\"&\"}/'\n", TOML);
    for value in ["a=b; $(id) 'x' \"y\"", "é😀", "line\nline", "\\", " lead", "x"] {
        secret(&scene, value, "*");
        let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(scene.run("tool", &json!({}), &[]).output(), json!({"hex": hex}), "{value:?}");
    }
    for (content, why) in [("".to_owned(), "empty"), ("a\0b".to_owned(), "NUL"), ("x".repeat(65 * 1024), "too long")] {
        secret(&scene, &content, "*");
        let answer = scene.run("tool", &json!({}), &[]);
        answer.expect("channel_failure", "secret_missing");
        assert_eq!(answer.at("/attempts"), 0, "{why}");
    }
}
