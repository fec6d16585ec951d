//! The tool's environment is built from nothing.
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolcell_tests::Scene;

const SHOW: &str = "#!/bin/bash\ncat >/dev/null\n{ printf '{'; s=; while IFS='=' read -r -d '' n v; do printf '%s\"%s\":\"%s\"' \"$s\" \"$n\" \"$v\"; s=,; done; printf '}'; } </proc/self/environ\n";
/// Variables that callers carry and tools must not see, or that change what runs.
const HOSTILE: [&str; 18] = [
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "MY_SESSION_KEYS_0",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "BASH_ENV",
    "ENV",
    "PYTHONPATH",
    "NODE_OPTIONS",
    "PERL5OPT",
    "IFS",
    "TOOLCELL_OUT",
    "TOOLCELL_CALL_ID",
    "HOSTALIASES",
    "GLIBC_TUNABLES",
];

fn environment(scene: &Scene, capability: &str, flags: &[&str]) -> BTreeMap<String, String> {
    let output = scene.run(capability, &json!({}), flags).output();
    let pairs = output.as_object().expect("an object").iter();
    pairs.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

#[test]
fn the_tool_sees_the_documented_variables_and_no_other() {
    for mut scene in Scene::everyone() {
        for name in HOSTILE {
            scene = scene.env(name, "/canary");
        }
        scene.script("show", SHOW, "profile = \"standard\"\n");
        let mut env = environment(&scene, "show", &["--call-id", "this-one"]);
        for name in ["TRACEPARENT", "OTEL_TRACEPARENT"] {
            assert!(env.remove(name).is_some_and(|value| value.len() == 55), "{name}");
        }
        let deadline: u64 = env.remove("TOOLCELL_DEADLINE_MS").expect("it is there").parse().expect("a number");
        assert!((1..=30_000).contains(&deadline), "{deadline}");
        let expected = [
            ("PATH", "/tool/bin:/usr/local/bin:/usr/bin:/bin"),
            ("HOME", "/home/tool"),
            ("TMPDIR", "/tmp"),
            ("LANG", "C.UTF-8"),
            ("USER", "tool"),
            ("LOGNAME", "tool"),
            ("SHELL", "/bin/sh"),
            ("TOOLCELL_OUT", "/work/out"),
            ("TOOLCELL_CALL_ID", "this-one"),
        ];
        let expected: BTreeMap<String, String> =
            expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(env, expected);
    }
}

#[test]
fn a_preload_for_the_runner_does_not_reach_the_tool() {
    let scene =
        Scene::new().env("LD_PRELOAD", "/nonexistent/canary.so").env("MALLOC_CONF", "x").env("RUST_LOG", "trace");
    scene.script("show", SHOW, "profile = \"standard\"\n");
    let env = environment(&scene, "show", &[]);
    assert!(!env.contains_key("LD_PRELOAD") && !env.contains_key("RUST_LOG"), "{env:?}");
}

#[test]
fn even_under_open_nothing_of_the_callers_environment_is_passed() {
    let scene = Scene::new().env("MY_SECRET", "canary").env("BASH_ENV", "/canary");
    scene.config("[[grant]]\ncapability = \"*\"\nprofiles = [\"open\"]\n");
    scene.script("show", SHOW, "profile = \"standard\"\n");
    let env = environment(&scene, "show", &["--profile", "open"]);
    assert!(env.values().all(|value| !value.contains("canary")), "{env:?}");
    let names: Vec<&str> = env.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "HOME",
            "LANG",
            "LOGNAME",
            "OTEL_TRACEPARENT",
            "PATH",
            "SHELL",
            "TMPDIR",
            "TOOLCELL_CALL_ID",
            "TOOLCELL_DEADLINE_MS",
            "TOOLCELL_OUT",
            "TRACEPARENT",
            "USER"
        ]
    );
    assert_eq!(
        env["PATH"],
        "/tool/bin:/usr/local/bin:/usr/bin:/bin"
            .replace("/tool/bin", scene.registry().join("show/bin").to_str().expect("UTF-8")),
        "there is no /tool without mounts"
    );
}

#[test]
fn a_tool_may_set_variables_and_pass_granted_ones() {
    let scene = Scene::new().env("TZ", "Europe/Berlin").env("OTHER", "x");
    scene.script(
        "show",
        SHOW,
        "profile = \"standard\"\n[env]\nset = { LANG = \"C\", MODE = \"a b=c\" }\npass = [\"TZ\"]\n",
    );
    let refused = scene.run("show", &json!({}), &[]);
    refused.expect("call_error", "not_permitted");
    let hint = refused.at("/error/hint").to_string();
    assert!(hint.contains("env = [\\\"TZ\\\"]"), "{hint}");
    scene.config("[[grant]]\ncapability = \"show\"\nenv = [\"TZ\"]\n");
    let env = environment(&scene, "show", &[]);
    assert_eq!((env["LANG"].as_str(), env["MODE"].as_str(), env["TZ"].as_str()), ("C", "a b=c", "Europe/Berlin"));
    assert!(!env.contains_key("OTHER"));
}

#[test]
fn a_granted_variable_that_the_caller_lacks_is_not_there() {
    let scene = Scene::new();
    scene.script("show", SHOW, "profile = \"standard\"\n[env]\npass = [\"TZ\"]\n");
    scene.config("[[grant]]\ncapability = \"show\"\nenv = [\"TZ\"]\n");
    assert!(!environment(&scene, "show", &[]).contains_key("TZ"));
}

#[test]
fn the_environment_of_the_runner_is_nowhere_to_be_read_inside() {
    for scene in Scene::everyone() {
        let scene = scene.env("RUNNER_CANARY", "canary-value");
        let script = "#!/bin/bash\ncat >/dev/null\nn=0; for f in /proc/[0-9]*/environ; do grep -aq RUNNER_CANARY $f 2>/dev/null && n=$((n+1)); done\n\
            printf '{\"found\":%s}' $n\n";
        scene.script("look", script, "profile = \"standard\"\n");
        assert_eq!(scene.run("look", &json!({}), &[]).output(), json!({"found": 0}));
        assert_eq!(scene.exec(&[], &["/bin/sh", "-c", "env | grep -c CANARY"]).at("/exit/code"), Value::from(1));
    }
}
