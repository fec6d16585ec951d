//! Every case of every example capability gives the envelope it promises, as root and as an ordinary user.
use serde_json::Value;
use std::path::{Path, PathBuf};
use toolcell_tests::needs::{has, skip};
use toolcell_tests::{Scene, left, needs, workspace};

/// The exit code of toolcell for an envelope.
fn exit_code(envelope: &Value) -> i32 {
    let retryable = envelope.pointer("/error/retryable") == Some(&Value::Bool(true));
    match envelope["status"].as_str() {
        Some("ok") => 0,
        _ if retryable => 75,
        Some("call_error") => 64,
        Some("data_limitation") => 66,
        _ => 69,
    }
}

/// The program outside the workspace that an example wraps.
fn needed_program(capability: &str) -> Option<&'static str> {
    match capability {
        "grep_lines" => Some("grep"),
        "json_query" => Some("jq"),
        "sql_query" => Some("sqlite3"),
        _ => None,
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for name in left::names(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("a file can be copied");
        }
    }
}

fn read(path: &Path) -> Value {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The differences between an envelope and what a case expects of it.
fn differences(envelope: &Value, expected: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, is: &Value, should: &Value| {
        if is != should {
            found.push(format!("{what} is {is}, should be {should}"));
        }
    };
    compare("status", &envelope["status"], &expected["status"]);
    match &expected["error"] {
        Value::Object(members) => {
            for (name, should) in members {
                compare(&format!("error.{name}"), &envelope["error"][name], should);
            }
        }
        other => compare("error", &envelope["error"], other),
    }
    if let Some(output) = expected.get("output") {
        compare("output", &envelope["output"], output);
    }
    if let Some(codes) = expected.get("warnings") {
        let is = envelope["warnings"].as_array().into_iter().flatten().map(|one| one["code"].clone()).collect();
        compare("warnings", &Value::Array(is), codes);
    }
    found
}

/// Runs a case in its folder; what is wrong with the answer.
fn run_case(scene: &Scene, capability: &str, cases: &Path, name: &str) -> Vec<String> {
    let expected = read(&cases.join(format!("{name}.expected.json")));
    let input = std::fs::read(cases.join(format!("{name}.input.json"))).expect("every case has an input");
    let flags = std::fs::read_to_string(cases.join(format!("{name}.args"))).unwrap_or_default();
    let mut command = scene.command();
    command.current_dir(cases).args(["run", capability]).args(flags.lines().filter(|line| !line.is_empty()));
    let answer = toolcell_tests::finish(&mut command, &input);
    let mut envelope = answer.json();
    // As an ordinary user there may be no control group, which every envelope then says; that is not the case's matter.
    if !scene.calls_as_root() {
        let degraded = |one: &Value| matches!(one["code"].as_str(), Some("layer_degraded" | "limit_degraded"));
        envelope["warnings"].as_array_mut().expect("an array").retain(|one| !degraded(one));
    }
    let mut wrong = differences(&envelope, &expected);
    if answer.code != Some(exit_code(&envelope)) {
        wrong.push(format!("the exit code is {:?}, should be {}", answer.code, exit_code(&envelope)));
    }
    if !wrong.is_empty() {
        wrong.push(format!("{envelope:#}"));
    }
    wrong
}

fn cases_of(folder: &Path) -> Vec<String> {
    let names = left::names(folder);
    names.iter().filter_map(|name| name.strip_suffix(".input.json").map(str::to_owned)).collect()
}

/// The registry of the examples, copied to where every user may read it.
fn examples(scene: &Scene) -> PathBuf {
    copy(&workspace().join("examples/capabilities"), &scene.registry());
    scene.registry()
}

#[test]
fn every_case_of_every_example_gives_the_envelope_it_promises() {
    let mut wrong = Vec::new();
    let mut ran = 0;
    for scene in Scene::everyone() {
        let registry = examples(&scene);
        for capability in left::names(&registry) {
            if let Some(program) = needed_program(&capability).filter(|program| !has(program)) {
                skip(&format!("examples::{capability}"), &format!("{program} is not installed"));
                continue;
            }
            let cases = registry.join(&capability).join("cases");
            for name in cases_of(&cases) {
                ran += 1;
                let who = if scene.calls_as_root() { "root" } else { "an ordinary user" };
                let found = run_case(&scene, &capability, &cases, &name);
                wrong.extend(
                    (!found.is_empty()).then(|| format!("{capability}/{name} as {who}: {}", found.join("\n  "))),
                );
            }
        }
    }
    assert!(ran > 40, "only {ran} cases were found");
    assert!(wrong.is_empty(), "{} of {ran} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_example_is_listed_and_has_cases() {
    let scene = Scene::new();
    let registry = examples(&scene);
    let listed = scene.toolcell(&["list"], b"").json();
    let ids: Vec<&str> =
        listed["capabilities"].as_array().expect("a list").iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, left::names(&registry));
    assert_eq!(listed["errors"], serde_json::json!([]));
    for id in ids {
        assert!(!cases_of(&registry.join(id).join("cases")).is_empty(), "{id} has no cases");
    }
}

#[test]
fn the_cases_cover_every_status_that_an_example_can_end_in() {
    let scene = Scene::new();
    let registry = examples(&scene);
    let mut seen = std::collections::BTreeSet::new();
    for capability in left::names(&registry) {
        let cases = registry.join(&capability).join("cases");
        for name in cases_of(&cases) {
            let expected = read(&cases.join(format!("{name}.expected.json")));
            seen.insert(expected["status"].as_str().unwrap_or_default().to_owned());
        }
    }
    let all = ["call_error", "channel_failure", "data_limitation", "ok"];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn an_examples_data_cannot_be_changed_by_its_own_caller() {
    needs!(has("sqlite3"), "sqlite3 is not installed");
    for scene in Scene::everyone() {
        let registry = examples(&scene);
        let cases = registry.join("sql_query/cases");
        let before = hashes(&cases);
        let mut command = scene.command();
        command.current_dir(&cases).args(["run", "sql_query"]);
        let statement = serde_json::json!({"database": "files/none.db", "sql": "SELECT 1"});
        toolcell_tests::finish(&mut command, statement.to_string().as_bytes()).expect("call_error", "rejected_input");
        for name in cases_of(&cases) {
            run_case(&scene, "sql_query", &cases, &name);
        }
        assert_eq!(hashes(&cases), before);
    }
}

fn hashes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = folder.join("files");
    left::names(&files)
        .into_iter()
        .map(|name| (name.clone(), std::fs::read(files.join(&name)).unwrap_or_default()))
        .collect()
}
