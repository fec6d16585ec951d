//! `toolcell profile`: the list, where each rule comes from, the lint, and whether what `why` says is so.

use serde_json::{Value, json};
use toolcell_tests::{Answer, Scene};

/// A chain of three: kid, parent, standard.
fn family() -> Scene {
    let scene = Scene::new();
    own(
        &scene,
        "parent",
        "extends = \"standard\"\n[[filesystem.read]]\npath = \"/etc/hostname\"\nwhy = \"a\"\n[limits]\npids = 20\nwall = \"10s\"\n[syscalls]\ndeny = [\"flock\"]\n",
    );
    own(
        &scene,
        "kid",
        "extends = \"parent\"\n[limits]\npids = 5\n[syscalls]\ndeny = [\"sync\"]\n[require]\ncgroup = \"required\"\n",
    );
    scene
}

fn own(scene: &Scene, name: &str, text: &str) {
    scene.write(&format!("config/toolcell/profiles/{name}.toml"), format!("schema = 1\nwhy = \"a test\"\n{text}"));
}

fn profile(scene: &Scene, args: &[&str]) -> Answer {
    scene.toolcell(&[&["profile"], args].concat(), b"")
}

/// An answer's standard output as text.
fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.stdout).into_owned()
}

#[test]
fn the_list_has_the_built_ins_and_the_users_own_with_what_they_extend() {
    let scene = family();
    own(&scene, "broken", "extends = \"standard\"\nnosuch = 1\n");
    let list = profile(&scene, &["list", "--json"]);
    assert_eq!(list.code, Some(0));
    let names: Vec<Value> =
        list.at("/profiles").as_array().into_iter().flatten().map(|one| one["name"].clone()).collect();
    assert_eq!(json!(names), json!(["strict", "standard", "workspace", "network", "open", "kid", "parent"]));
    assert_eq!(list.at("/profiles/5/extends"), json!(["parent", "standard"]));
    assert_eq!(list.at("/errors/0/name"), "broken");
    assert!(list.stderr.contains("1 profile is broken"), "{}", list.stderr);
    // What the list says of grants is what exec does.
    for (index, name) in ["strict", "standard", "workspace", "network", "open", "kid", "parent"].iter().enumerate() {
        let flags: &[&str] = if *name == "workspace" { &["--workspace", "."] } else { &[] };
        let call = scene.exec(&[&["--profile", name], flags].concat(), &["/usr/bin/true"]);
        let granted = list.at(&format!("/profiles/{index}/granted_to_exec")) == true;
        assert_eq!(call.reason() != "not_permitted", granted, "{name}: {:#}", call.json());
    }
    let table = text(&profile(&scene, &["list"]));
    assert!(table.lines().any(|line| line.starts_with("kid ") && line.contains("parent > standard")), "{table}");
}

#[test]
fn each_rule_says_which_file_of_the_chain_named_it() {
    let scene = family();
    let show = profile(&scene, &["show", "kid", "--json"]);
    assert_eq!((show.code, show.stderr.as_str()), (Some(0), ""));
    let chain: Vec<Value> =
        show.at("/chain").as_array().into_iter().flatten().map(|one| one["profile"].clone()).collect();
    assert_eq!(json!(chain), json!(["kid", "parent", "standard"]));
    let file = scene.path().join("config/toolcell/profiles/kid.toml").display().to_string();
    assert_eq!(show.at("/chain/0/file"), file);
    for (pointer, value, from) in [
        ("/limits/pids", json!(5), "kid"),
        ("/limits/wall", json!("10s"), "parent"),
        ("/limits/memory", json!("2GiB"), "standard"),
        ("/require/cgroup", json!("required"), "kid"),
        ("/require/seccomp", json!("required"), "standard"),
        ("/filesystem/read/0", json!("/usr"), "standard"),
        ("/filesystem/read/1", json!("/etc/hostname"), "parent"),
        ("/syscalls/deny/0", json!("flock"), "parent"),
        ("/syscalls/deny/1", json!("sync"), "kid"),
    ] {
        let one = show.at(pointer);
        let said = ["value", "need", "path", "name"].iter().map(|key| &one[*key]).find(|value| !value.is_null());
        assert_eq!((said, &one["from"]["profile"]), (Some(&value), &json!(from)), "{pointer}");
    }
    assert_eq!(show.at("/network/from/profile"), "standard");
    assert_eq!(show.at("/loosens"), json!(["filesystem.read has /etc/hostname too"]));
    let table = text(&profile(&scene, &["show", "kid"]));
    assert!(table.contains("extends parent, ") && table.contains("extends the built-in profile standard"), "{table}");
    let line = table.lines().find(|line| line.starts_with("limits.wall")).unwrap_or_default();
    assert!(line.contains("10s") && line.ends_with("parent"), "{table}");
}

#[test]
fn a_profile_nobody_knows_is_the_callers_mistake_and_a_circle_the_hosts() {
    let scene = family();
    own(&scene, "one", "extends = \"two\"\n");
    own(&scene, "two", "extends = \"one\"\n");
    let unknown = profile(&scene, &["show", "nosuch"]);
    assert_eq!((unknown.code, unknown.stdout.len()), (Some(64), 0), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("known are strict, standard"), "{}", unknown.stderr);
    let circle = profile(&scene, &["show", "one"]);
    assert_eq!((circle.code, circle.stdout.len()), (Some(69), 0), "{}", circle.stderr);
    assert!(circle.stderr.contains("in a circle: one -> two -> one"), "{}", circle.stderr);
    assert_eq!(profile(&scene, &["show"]).code, Some(64));
    assert_eq!(profile(&scene, &[]).code, Some(64));
}

/// The findings about one profile, each as rule and message.
fn findings(scene: &Scene, name: &str) -> Vec<(String, String, bool)> {
    let lint = profile(scene, &["lint", name, "--json"]);
    let all = lint.at("/profiles/0/findings");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |one: &Value| (word(&one["rule"]), word(&one["message"]), one["stops"] == true);
    let found: Vec<_> = all.as_array().into_iter().flatten().map(one).collect();
    assert_eq!(lint.code, Some(if found.is_empty() { 0 } else { 69 }), "{found:?}");
    assert_eq!(lint.at("/clean"), found.is_empty());
    found
}

#[test]
fn the_lint_finds_nothing_in_what_is_sound() {
    let scene = family();
    for name in ["strict", "standard", "workspace", "open", "kid", "parent"] {
        assert_eq!(findings(&scene, name), [], "{name}");
    }
    let all = profile(&scene, &["lint"]);
    assert!(text(&all).contains("standard: nothing found\n"), "{all:?}");
}

#[test]
fn the_lint_finds_each_fault_with_its_file_and_says_whether_calls_are_refused() {
    let scene = Scene::new();
    let there = scene.path().join("there").display().to_string();
    std::fs::create_dir_all(scene.path().join("there/inner")).expect("a folder");
    let rows: Vec<(&str, String, String, &str)> = vec![
        ("gone", path("read", "/nonexistent/a"), "filesystem.read /nonexistent/a".into(), "does not exist"),
        ("star", path("read", "/etc/*.conf"), "filesystem.read /etc/*.conf".into(), "stand for themselves"),
        ("lost", path("write", "/nonexistent/b"), "filesystem.write /nonexistent/b".into(), "does not exist"),
        ("idle", path("exec", "/nonexistent/c"), "filesystem.exec /nonexistent/c".into(), "does not exist"),
        (
            "both",
            format!("{}{}", path("write", &there), path("exec", &there)),
            "".into(),
            "writable and executable at once",
        ),
        ("own", path("read", "/tmp/x"), "filesystem.read /tmp/x".into(), "the tool's own"),
        (
            "inner",
            format!("{}{}", path("write", &there), path("read", &format!("{there}/inner"))),
            format!("filesystem.read {there}/inner"),
            "Landlock cannot take away",
        ),
        ("again", path("read", "/usr"), "filesystem.read /usr".into(), "named by standard already"),
        ("twice", format!("{}{}", path("read", &there), path("read", &there)), "".into(), "named twice"),
        ("call", "[syscalls]\ndeny = [\"nosuch\"]\n".into(), "".into(), "unknown system call `nosuch`"),
        ("known", "[syscalls]\ndeny = [\"mount\"]\n".into(), "syscalls.deny mount".into(), "denied in every profile"),
        (
            "device",
            "[devices]\nallow = [\"/dev/nosuch\"]\n".into(),
            "devices.allow /dev/nosuch".into(),
            "does not exist",
        ),
        (
            "off",
            "[require]\nseccomp = \"off\"\n[syscalls]\ndeny = [\"flock\"]\n".into(),
            "syscalls.deny flock".into(),
            "seccomp is off",
        ),
        (
            "hosts",
            "[network]\nmode = \"allow\"\nallow = [\"a.example.com:443\"]\n".into(),
            "network.mode allow".into(),
            "no egress proxy",
        ),
    ];
    let names: Vec<&str> = rows.iter().map(|row| row.0).collect();
    scene.config(&format!("[[grant]]\nexec = true\nprofiles = {names:?}\n"));
    for (name, body, ..) in &rows {
        own(&scene, name, &format!("extends = \"standard\"\n{body}"));
    }
    for (name, _, rule, fact) in &rows {
        let found = findings(&scene, name);
        let hit = found.iter().find(|(at, message, _)| at == rule && message.contains(fact));
        assert!(hit.is_some(), "{name}: {found:?}");
        // A finding that stops calls does, and one that does not does not.
        let stops = found.iter().any(|(_, _, stops)| *stops);
        let call = scene.exec(&["--profile", name], &["/usr/bin/true"]);
        assert_eq!(call.status() != "ok", stops, "{name}: {found:?}: {:#}", call.json());
    }
    let said = text(&profile(&scene, &["lint", "gone"]));
    let file = scene.path().join("config/toolcell/profiles/gone.toml").display().to_string();
    assert!(said.starts_with("gone: 1 finding\n") && said.contains(&file) && said.contains("to mend it: "), "{said}");
}

fn path(section: &str, path: &str) -> String {
    format!("[[filesystem.{section}]]\npath = \"{path}\"\nwhy = \"a test\"\n")
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding_too() {
    let scene = Scene::new();
    own(&scene, "one", "extends = \"two\"\n");
    own(&scene, "two", "extends = \"one\"\n");
    let found = findings(&scene, "one");
    assert!(found.len() == 1 && found[0].1.contains("in a circle") && found[0].2, "{found:?}");
    let unknown = profile(&scene, &["lint", "nosuch"]);
    assert_eq!((unknown.code, unknown.stdout.len()), (Some(64), 0));
}
