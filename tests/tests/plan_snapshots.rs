//! The plan of every example and of every profile, as golden files: a change of policy is a difference to be read.
//! `UPDATE_SNAPSHOTS=1` writes them anew.
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolcell_tests::needs::{has, skip};
use toolcell_tests::{Scene, binary_dir, needs, workspace};

/// The machine the golden files describe; others have other loaders, library folders and links.
fn fits() -> bool {
    let merged = Path::new("/bin").is_symlink() && Path::new("/lib64").is_symlink();
    merged && Path::new("/etc/debian_version").exists() && std::env::consts::ARCH == "x86_64"
}

/// Replaces what differs from machine to machine and from user to user by stable names.
fn redact(scene: &Scene, plan: &Value) -> Value {
    let mut text = plan.to_string();
    let places = [
        (scene.registry(), "{registry}"),
        (scene.work(), "{cwd}"),
        (scene.path().to_path_buf(), "{scene}"),
        (binary_dir(), "{bin}"),
        (workspace(), "{workspace}"),
    ];
    for (path, name) in places {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        text = text.replace(&real.display().to_string(), name).replace(&path.display().to_string(), name);
    }
    let mut plan: Value = serde_json::from_str(&text).expect("still JSON");
    plan["namespaces"]["outside"] = json!("{outside}");
    if plan["capability"].is_object() {
        plan["capability"]["contract_sha256"] = json!("{sha256}");
    }
    if let Some(binds) = plan.pointer_mut("/mounts/binds").and_then(Value::as_array_mut) {
        for bind in binds.iter_mut() {
            bind["owner"] = json!("{owner}");
        }
    }
    // Which of the optional files a machine has is its own matter.
    let optional = [
        "/etc/alternatives",
        "/etc/ld.so.cache",
        "/etc/localtime",
        "/etc/timezone",
        "/usr/share/zoneinfo",
        "/usr/share/ca-certificates",
    ];
    let about = |value: &Value, member: &str| {
        value[member].as_str().is_some_and(|path| optional.iter().any(|one| path.starts_with(one)))
    };
    for (list, member) in [("/mounts/binds", "target"), ("/mounts/links", "path"), ("/landlock/rules", "path")] {
        if let Some(list) = plan.pointer_mut(list).and_then(Value::as_array_mut) {
            list.retain(|one| !about(one, member));
        }
    }
    plan["notes"] = json!("{notes}");
    plan
}

fn golden(name: &str) -> PathBuf {
    workspace().join("tests/tests/snapshots").join(format!("{name}.json"))
}

/// Compares a plan with its golden file, or writes it; the difference where there is one.
fn compare(name: &str, plan: &Value) -> Option<String> {
    let (path, text) = (golden(name), format!("{plan:#}\n"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        std::fs::write(&path, text).expect("it can be written");
        return None;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if expected == text {
        return None;
    }
    let (was, is): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), text.lines().collect());
    let at = was.iter().zip(&is).take_while(|(was, is)| was == is).count();
    let show =
        |lines: &[&str]| lines.iter().skip(at.saturating_sub(3)).take(12).copied().collect::<Vec<_>>().join("\n");
    Some(format!("{name} differs from line {} on:\n--- was\n{}\n--- is\n{}\n", at + 1, show(&was), show(&is)))
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for name in toolcell_tests::left::names(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).expect("a file can be copied");
        }
    }
}

/// Each example, the input its plan is made of, and the program it needs.
fn examples() -> [(&'static str, Value, Option<&'static str>); 8] {
    [
        ("fund_profile_a", json!({"code": "SPY"}), None),
        ("fund_profile_b", json!({"market": "NYSE Arca", "code": "SPY"}), None),
        ("fund_profile_offline", json!({"code": "SPY"}), None),
        ("price_history", json!({"from": "2000-01-03", "to": "2000-01-10"}), None),
        ("returns_drawdown", json!({}), None),
        ("grep_lines", json!({"pattern": "a", "file": "data.txt"}), Some("grep")),
        ("json_query", json!({"filter": ".a", "file": "data.txt"}), Some("jq")),
        ("sql_query", json!({"sql": "SELECT 1", "database": "data.txt"}), Some("sqlite3")),
    ]
}

/// The input of an example's first good case, which keeps its schema; files are those of the scene.
fn input(scene: &Scene, id: &str, own: Value) -> Value {
    if own.get("file").or_else(|| own.get("database")).is_some() {
        return own;
    }
    let cases = scene.registry().join(id).join("cases");
    let names = toolcell_tests::left::names(&cases);
    let good = names.iter().filter_map(|name| name.strip_suffix(".input.json")).find(|name| {
        let expected = std::fs::read_to_string(cases.join(format!("{name}.expected.json"))).unwrap_or_default();
        !expected.contains("input_schema") && !expected.contains("rejected_input")
    });
    let text = std::fs::read(cases.join(format!("{}.input.json", good.expect("a good case")))).expect("it is there");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn the_plan_of_every_example_is_as_it_was() {
    needs!(fits(), "the golden files are of a merged-usr Debian on x86_64");
    let mut differ = Vec::new();
    for scene in Scene::everyone() {
        copy(&workspace().join("examples/capabilities"), &scene.registry());
        scene.write("work/data.txt", "{}");
        for (id, own, program) in examples() {
            if let Some(program) = program.filter(|program| !has(program)) {
                skip(&format!("plan_snapshots::{id}"), &format!("{program} is not installed"));
                continue;
            }
            let plan = scene.toolcell(&["plan", id], input(&scene, id, own).to_string().as_bytes());
            assert_eq!(plan.code, Some(0), "{id}: {}", plan.stderr);
            differ.extend(compare(&format!("example-{id}"), &redact(&scene, &plan.json())));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn the_plan_of_every_profile_is_as_it_was() {
    needs!(fits(), "the golden files are of a merged-usr Debian on x86_64");
    let mut differ = Vec::new();
    for scene in Scene::everyone() {
        scene.config("[[grant]]\ncapability = \"tool\"\nprofiles = [\"workspace\", \"network\", \"open\"]\n");
        scene.script("tool", "#!/bin/sh\ncat\n", "");
        std::fs::create_dir(scene.work().join("ws")).expect("it can be made");
        for profile in ["strict", "standard", "workspace", "network", "open"] {
            let flags: &[&str] = if profile == "workspace" { &["--workspace", "ws"] } else { &[] };
            let plan = scene.toolcell(&[&["plan", "tool", "--profile", profile], flags].concat(), b"{\"a\":1}");
            assert_eq!(plan.code, Some(0), "{profile}: {}", plan.stderr);
            differ.extend(compare(&format!("profile-{profile}"), &redact(&scene, &plan.json())));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
