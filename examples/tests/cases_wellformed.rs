//! Every folder below `capabilities/` is a whole example: a contract, a tool.toml and cases that are worth running.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const STATUSES: [&str; 4] = ["ok", "call_error", "data_limitation", "channel_failure"];
const ORIGINS: [&str; 4] = ["caller", "tool", "runner", "host"];

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn capabilities() -> Vec<PathBuf> {
    let all = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("capabilities"));
    assert!(all.len() >= 8, "{all:?}");
    all
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn every_contract_has_what_a_contract_needs() {
    for folder in capabilities() {
        let contract = json(&folder.join("capability.json"));
        let id = name(&folder);
        assert_eq!(contract["id"], id);
        assert_eq!(contract["schema"], 1, "{id}");
        for key in ["version", "title", "description"] {
            assert!(contract[key].as_str().is_some_and(|text| !text.is_empty()), "{id}: {key}");
        }
        assert!(contract["description"].as_str().unwrap().len() > 200, "{id}: too short to choose by");
        for key in ["input_schema", "output_schema", "cost", "reliability", "annotations"] {
            assert!(contract[key].is_object(), "{id}: {key}");
        }
        assert_eq!(contract["input_schema"]["additionalProperties"], false, "{id}");
        for example in contract["examples"].as_array().expect(id) {
            assert!(example["input"].is_object() && !example["output"].is_null(), "{id}");
        }
        assert!(folder.join("tool.toml").is_file(), "{id}");
    }
}

#[test]
fn every_capability_has_cases_on_both_sides() {
    for folder in capabilities() {
        let statuses: Vec<_> = cases(&folder).iter().map(|case| check_case(&folder, case)).collect();
        assert!(statuses.len() >= 3, "{}: {} cases", name(&folder), statuses.len());
        assert!(statuses.iter().any(|status| status != "ok"), "{}: no case fails", name(&folder));
        let can_succeed = name(&folder) != "fund_profile_offline";
        assert_eq!(statuses.iter().any(|status| status == "ok"), can_succeed, "{}", name(&folder));
    }
}

/// The names of a capability's cases; a file that belongs to none is an error.
fn cases(folder: &Path) -> BTreeSet<String> {
    let files = entries(&folder.join("cases")).into_iter().filter(|path| path.is_file());
    files
        .map(|path| {
            let suffixes = [".input.json", ".expected.json", ".args"];
            let case = suffixes.iter().find_map(|suffix| name(&path).strip_suffix(suffix));
            case.unwrap_or_else(|| panic!("{} belongs to no case", path.display())).to_owned()
        })
        .collect()
}

/// Checks one case and returns the status that it expects.
fn check_case(folder: &Path, case: &str) -> String {
    let at = |suffix: &str| folder.join("cases").join(format!("{case}.{suffix}"));
    json(&at("input.json"));
    let path = at("expected.json");
    let (expected, path) = (json(&path), path.display());
    let members: Vec<_> = expected.as_object().unwrap().keys().map(String::as_str).collect();
    let unknown = members.iter().find(|key| !["status", "error", "output", "warnings"].contains(key));
    assert_eq!(unknown, None, "{path}");
    let status = expected["status"].as_str().unwrap();
    assert!(STATUSES.contains(&status), "{path}");
    if status == "ok" {
        assert!(members.contains(&"error") && expected["error"].is_null(), "{path}");
        assert!(members.contains(&"output"), "{path}");
    } else {
        assert!(expected["error"]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{path}");
        assert!(ORIGINS.contains(&expected["error"]["origin"].as_str().unwrap()), "{path}");
    }
    status.to_owned()
}
