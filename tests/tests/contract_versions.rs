//! Which folder a reference means, and what is said of folders that are broken.
use serde_json::{Value, json};
use toolcell_tests::{Answer, Scene};

const SAY: &str = "profile = \"standard\"\nstdin = \"none\"\nstdout = \"text\"\n";

/// A scene with versions of `tool`, each in its own folder and answering its version.
fn versions(names: &[(&str, &str)]) -> Scene {
    let scene = Scene::new();
    for (folder, version) in names {
        let toml = format!("command = [\"/bin/echo\", \"-n\", \"{version}\"]\n{SAY}");
        scene.capability(folder, &json!({"id": "tool", "version": version}), &toml);
    }
    scene
}

fn broken(answer: &Answer) -> String {
    answer.expect("channel_failure", "invalid_contract");
    assert_eq!((answer.at("/error/origin"), answer.at("/attempts"), answer.code), (json!("host"), json!(0), Some(69)));
    answer.at("/error/message").as_str().unwrap_or_default().to_owned()
}

#[test]
fn versions_stand_side_by_side_and_semver_chooses() {
    let scene = versions(&[
        ("tool@1.0.0", "1.0.0"),
        ("deep/er/tool@1.9.0", "1.9.0"),
        ("tool@1.10.0", "1.10.0"),
        ("tool", "2.0.0"),
        ("tool@2.1.0-rc.1", "2.1.0-rc.1"),
        ("tool@0.9.9", "0.9.9"),
    ]);
    let rows = [
        ("tool", "2.0.0"),
        ("tool@^1", "1.10.0"),
        ("tool@=1.0.0", "1.0.0"),
        ("tool@1.9.0", "1.9.0"),
        ("tool@1.9", "1.10.0"),
        ("tool@~1.9", "1.9.0"),
        ("tool@<1", "0.9.9"),
        ("tool@*", "2.0.0"),
        ("tool@>=1.2, <1.10", "1.9.0"),
        ("tool@2.1.0-rc.1", "2.1.0-rc.1"),
        ("tool@^2.1.0-rc.0", "2.1.0-rc.1"),
    ];
    for (reference, version) in rows {
        let answer = scene.run(reference, &json!({}), &[]);
        assert_eq!(answer.output(), json!({"text": version}), "{reference}");
        assert_eq!(answer.at("/capability/version"), version, "{reference}");
    }
    let none = scene.run("tool@^3", &json!({}), &[]);
    none.expect("call_error", "unknown_capability");
    assert_eq!(none.at("/error/hint"), "there are: 2.1.0-rc.1, 2.0.0, 1.10.0, 1.9.0, 1.0.0, 0.9.9");
}

#[test]
fn a_capability_of_pre_releases_only_is_no_bare_id() {
    let scene = versions(&[("tool@1.0.0-beta", "1.0.0-beta")]);
    let answer = scene.run("tool", &json!({}), &[]);
    answer.expect("call_error", "unknown_capability");
    assert_eq!(answer.at("/error/hint"), "there are: 1.0.0-beta");
}

#[test]
fn the_earlier_root_wins_even_with_a_lower_version() {
    let scene = versions(&[("tool@1.0.0", "1.0.0")]);
    let toml = format!("command = [\"/bin/echo\", \"-n\", \"second\"]\n{SAY}");
    scene.capability("../second/tool@5.0.0", &json!({"id": "tool", "version": "5.0.0"}), &toml);
    // The helper takes the id from the folder's name.
    let both = format!("{}:{}", scene.registry().display(), scene.path().join("second").display());
    assert_eq!(scene.run("tool", &json!({}), &["--registry", &both]).output(), json!({"text": "1.0.0"}));
    assert_eq!(scene.run("tool@^5", &json!({}), &["--registry", &both]).output(), json!({"text": "second"}));
}

#[test]
fn two_folders_of_one_id_and_version_are_an_error_that_names_both() {
    let scene = versions(&[("a/tool@1.0.0", "1.0.0"), ("b/tool", "1.0.0"), ("tool@0.1.0", "0.1.0")]);
    let message = broken(&scene.run("tool", &json!({}), &[]));
    for folder in ["a/tool@1.0.0", "b/tool"] {
        let path = scene.registry().join(folder);
        assert!(message.contains(path.to_str().expect("UTF-8")), "{message}");
    }
    assert_eq!(scene.run("tool@0.1.0", &json!({}), &[]).output(), json!({"text": "0.1.0"}));
    let list = scene.toolcell(&["list"], b"").json();
    assert_eq!(list["errors"].as_array().map(Vec::len), Some(1), "{list:#}");
}

#[test]
fn a_folders_name_and_its_contract_have_to_agree() {
    let scene = Scene::new();
    let toml = format!("command = [\"/bin/true\"]\n{SAY}");
    scene.capability("right@1.0.0", &json!({"version": "1.0.1"}), &toml);
    scene.capability("name", &json!({"id": "other_name"}), &toml);
    for (reference, pointer, file) in
        [("right", "/version", "right@1.0.0/capability.json"), ("name", "/id", "name/capability.json")]
    {
        let answer = scene.run(reference, &json!({}), &[]);
        broken(&answer);
        assert_eq!(answer.at("/error/details/pointer"), pointer);
        assert_eq!(answer.at("/error/details/file"), json!(scene.registry().join(file)));
    }
    let list = scene.toolcell(&["list"], b"");
    assert_eq!(
        (list.code, list.at("/capabilities"), list.at("/errors").as_array().map(Vec::len)),
        (Some(0), json!([]), Some(2))
    );
}

#[test]
fn duplicate_keys_in_a_contract_are_refused() {
    let scene = Scene::new();
    scene.capability("tool", &json!({}), &format!("command = [\"/bin/true\"]\n{SAY}"));
    scene.write(
        "registry/tool/capability.json",
        "{\"schema\": 1, \"id\": \"tool\", \"version\": \"1.0.0\",\n \"version\": \"1.0.0\", \"title\": \"t\",\n \
         \"description\": \"d\", \"input_schema\": {}}",
    );
    let answer = scene.run("tool", &json!({}), &[]);
    let message = broken(&answer);
    assert!(message.contains("version"), "{message}");
    assert_eq!(answer.at("/error/details/line"), 2, "{:#}", answer.json());
}

#[test]
fn what_a_newer_contract_says_more_is_ignored_but_not_in_tool_toml() {
    let scene = Scene::new();
    let toml = format!("command = [\"/bin/echo\", \"-n\", \"x\"]\n{SAY}");
    scene.capability("tool", &json!({"future": {"a": 1}, "cost": {"per_call": 0.1, "per_page": 1}}), &toml);
    assert_eq!(scene.run("tool", &json!({}), &[]).output(), json!({"text": "x"}));
    scene.capability("tool", &json!({}), &format!("{toml}future = 1\n"));
    let answer = scene.run("tool", &json!({}), &[]);
    let message = broken(&answer);
    assert!(message.contains("future"), "{message}");
    assert_eq!(answer.at("/error/details/line"), 6, "{:#}", answer.json());
    scene.capability("tool", &json!({}), &format!("{toml}[limits]\nwal = \"3s\"\n"));
    let message = broken(&scene.run("tool", &json!({}), &[]));
    assert!(message.contains("wal") && message.contains("tool.toml:7"), "{message}");
}

#[test]
fn broken_toml_and_broken_json_are_named_by_file_and_line() {
    let scene = Scene::new();
    scene.capability("tool", &json!({}), "command = [\"/bin/true\"]\noops\nprofile = \"strict\"\n");
    let message = broken(&scene.run("tool", &json!({}), &[]));
    let file = scene.registry().join("tool/tool.toml");
    assert!(message.contains(&format!("{}:3", file.display())), "{message}");
    scene.write("registry/tool/capability.json", "{\"schema\": 1,\n\"id\": \"tool\",\n oops}");
    let message = broken(&scene.run("tool", &json!({}), &[]));
    let file = scene.registry().join("tool/capability.json");
    assert!(message.contains(&format!("{}:3", file.display())), "{message}");
}

#[test]
fn missing_members_and_wrong_types_are_named_by_pointer() {
    let rows = [
        (json!({"title": 3}), "/title"),
        (json!({"cost": {"per_call": -1, "currency": "USD"}}), "/cost/per_call"),
        (json!({"reliability": {"uptime": 2}}), "/reliability/uptime"),
        (json!({"version": "1.0"}), "/version"),
        (json!({"input_schema": {"type": "object", "minProperties": "x"}}), "/input_schema/minProperties"),
        (json!({"input_schema": {"type": "string"}}), "/input_schema"),
        (json!({"input_schema": 3}), "/input_schema"),
    ];
    for (members, pointer) in rows {
        let scene = Scene::new();
        scene.capability("tool", &members, &format!("command = [\"/bin/true\"]\n{SAY}"));
        let answer = scene.run("tool", &json!({}), &[]);
        broken(&answer);
        assert_eq!(answer.at("/error/details/pointer"), pointer, "{members}: {:#}", answer.json());
        assert!(answer.at("/error/details/file").to_string().contains("capability.json"));
    }
}

#[test]
fn a_newer_schema_number_says_so() {
    let scene = Scene::new();
    scene.capability("tool", &json!({"schema": 2}), &format!("command = [\"/bin/true\"]\n{SAY}"));
    let answer = scene.run("tool", &json!({}), &[]);
    broken(&answer);
    assert_eq!(answer.at("/error/details/pointer"), "/schema");
    scene.capability("tool", &json!({}), "");
    scene.write("registry/tool/tool.toml", format!("schema = 2\ncommand = [\"/bin/true\"]\n{SAY}"));
    let answer = scene.run("tool", &json!({}), &[]);
    broken(&answer);
    assert!(answer.at("/error/details/file").to_string().contains("tool.toml"));
    assert_ne!(answer.at("/error/hint"), Value::Null);
}

#[test]
fn variables_that_change_what_runs_are_never_the_callers_and_toolcells_own_are_never_set() {
    let own = ["TOOLCELL_OUT", "TRACEPARENT", "OTEL_TRACEPARENT", "TRACESTATE"];
    let hostile = ["LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "PYTHONPATH", "NODE_OPTIONS"];
    let set = own.iter().map(|name| format!("set = {{ {name} = \"x\" }}"));
    let pass = own.iter().chain(&hostile).map(|name| format!("pass = [\"{name}\"]"));
    for way in set.chain(pass) {
        let scene = Scene::new();
        scene.config("[[grant]]\ncapability = \"*\"\nenv = [\"TZ\"]\n");
        scene.capability("tool", &json!({}), &format!("command = [\"/bin/true\"]\n{SAY}[env]\n{way}\n"));
        let answer = scene.run("tool", &json!({}), &[]);
        assert!(broken(&answer).contains("tool.toml:7"), "{way}: {:#}", answer.json());
    }
}
