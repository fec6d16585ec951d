//! Configuration and grants, as the command line meets them.
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use toolcell_tests::{Answer, Scene, needs, needs::is_root};

const ECHO: &str = "#!/bin/sh\ncat\n";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.script("echo", ECHO, "profile = \"standard\"\n");
    scene.script("net", ECHO, "profile = \"network\"\n");
    scene
}

fn hint(answer: &Answer) -> String {
    answer.at("/error/hint").as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_broken_config_is_an_envelope_that_names_file_and_line() {
    let scene = scene();
    let file = scene.path().join("config/toolcell/toolcell.toml");
    let rows = [
        ("registry = [\n\"a\",\nnot toml", 3),
        ("\nregistri = [\"a\"]\n", 2),
        ("file_roots = 3\n", 1),
        ("\n\n[[grant]]\ncapability = \"x\"\nprofile = [\"network\"]\n", 5),
    ];
    for (text, line) in rows {
        scene.config(text);
        let answer = scene.run("echo", &json!({}), &[]);
        answer.expect("channel_failure", "invalid_contract");
        assert_eq!(answer.at("/error/origin"), "host");
        assert_eq!(answer.at("/error/details/file"), file.to_str().expect("UTF-8"), "{text}");
        assert_eq!(answer.at("/error/details/line"), line, "{text}: {:#}", answer.json());
        let place = format!("{}:{line}", file.display());
        assert!(answer.at("/error/message").to_string().contains(&place), "{:#}", answer.json());
        assert_eq!(answer.code, Some(69));
    }
}

#[test]
fn a_config_that_a_flag_names_has_to_be_there() {
    let scene = scene();
    let flag = scene.run("echo", &json!({}), &["--config", "none.toml"]);
    flag.expect("channel_failure", "invalid_contract");
    assert!(hint(&flag).contains("--config"), "{:#}", flag.json());
    let env = Scene::new().env("TOOLCELL_CONFIG", "/nonexistent/toolcell.toml");
    let env = env.run("echo", &json!({}), &[]);
    env.expect("channel_failure", "invalid_contract");
    assert!(hint(&env).contains("TOOLCELL_CONFIG"), "{:#}", env.json());
}

#[test]
fn a_config_that_others_may_write_is_not_believed() {
    let scene = scene();
    scene.config("[[grant]]\ncapability = \"net\"\nprofiles = [\"network\"]\n");
    let file = scene.path().join("config/toolcell/toolcell.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).expect("the mode can be set");
    let answer = scene.run("net", &json!({}), &[]);
    answer.expect("channel_failure", "invalid_contract");
    assert!(hint(&answer).contains("chmod go-w"), "{:#}", answer.json());
}

#[test]
fn a_config_of_another_user_is_not_believed() {
    needs!(is_root(), "only root can give a file away");
    let scene = scene();
    scene.config("");
    let file = scene.path().join("config/toolcell/toolcell.toml");
    std::os::unix::fs::chown(&file, Some(12345), None).expect("root may");
    let answer = scene.run("echo", &json!({}), &[]);
    answer.expect("channel_failure", "invalid_contract");
    assert!(hint(&answer).contains("chown 0"), "{:#}", answer.json());
}

#[test]
fn a_profile_that_is_not_granted_is_refused_with_the_lines_that_would_grant_it() {
    let scene = scene();
    let answer = scene.run("net", &json!({}), &[]);
    answer.expect("call_error", "not_permitted");
    assert_eq!(
        (answer.at("/error/origin"), answer.at("/attempts"), answer.code),
        (json!("caller"), json!(0), Some(64))
    );
    let lines = "[[grant]]\ncapability = \"net\"\nprofiles = [\"network\"]\n";
    assert!(hint(&answer).contains(lines), "{}", hint(&answer));
    // The hint is no mere prose: what it says is what helps.
    scene.config(lines);
    scene.run("net", &json!({}), &[]).output();
}

#[test]
fn exec_says_too_how_a_profile_is_granted() {
    let scene = scene();
    let answer = scene.exec(&["--profile", "open"], &["/bin/true"]);
    answer.expect("call_error", "not_permitted");
    let lines = "[[grant]]\nexec = true\nprofiles = [\"open\"]\n";
    assert!(hint(&answer).contains(lines), "{}", hint(&answer));
    scene.config(lines);
    assert_eq!(scene.exec(&["--profile", "open"], &["/bin/true"]).output(), json!({"text": ""}));
}

#[test]
fn a_grant_is_for_those_it_names_only() {
    let scene = scene();
    scene.script("other", ECHO, "profile = \"network\"\n");
    scene.config("[[grant]]\ncapability = \"ne*\"\nprofiles = [\"network\"]\n");
    scene.run("net", &json!({}), &[]).output();
    scene.run("other", &json!({}), &[]).expect("call_error", "not_permitted");
    scene.exec(&["--profile", "network"], &["/bin/true"]).expect("call_error", "not_permitted");
    scene.run("net", &json!({}), &["--profile", "open"]).expect("call_error", "not_permitted");
    scene.run("net", &json!({}), &["--profile", "strict"]);
}

#[test]
fn a_config_found_from_the_working_directory_grants_nothing() {
    let scene = scene();
    scene.write("work/toolcell.toml", "[[grant]]\ncapability = \"net\"\nprofiles = [\"network\"]\n");
    let answer = scene.run("net", &json!({}), &[]);
    assert_ne!(answer.status(), "ok");
    assert_eq!(answer.at("/attempts"), 0);
    scene.write("work/toolcell.toml", "registry = [\"./more\"]\n");
    scene.write(
        "work/more/here/capability.json",
        json!({"schema": 1, "id": "here", "version": "1.0.0",
        "title": "t", "description": "d", "input_schema": {"type": "object"}})
        .to_string(),
    );
    scene.write("work/more/here/tool.toml", "schema = 1\nprofile = \"open\"\ncommand = [\"/bin/cat\"]\n");
    scene.config("[[grant]]\ncapability = \"*\"\nprofiles = [\"open\"]\n");
    let mut command = scene.command();
    command.env_remove("TOOLCELL_REGISTRY").args(["run", "here"]);
    let loose = toolcell_tests::finish(&mut command, b"{}");
    loose.expect("call_error", "not_permitted");
    scene.write("work/more/here/tool.toml", "schema = 1\nprofile = \"standard\"\ncommand = [\"/bin/cat\"]\n");
    assert_eq!(toolcell_tests::finish(&mut command, b"{\"a\":1}").output(), json!({"a": 1}));
}

#[test]
fn an_unknown_profile_is_a_broken_contract_where_the_tool_names_it() {
    let scene = scene();
    scene.script("lost", ECHO, "profile = \"strickt\"\n");
    let answer = scene.run("lost", &json!({}), &[]);
    answer.expect("channel_failure", "invalid_contract");
    let text = answer.at("/error").to_string();
    assert!(text.contains("strickt") && text.contains("strict"), "{text}");
}

#[test]
fn an_unknown_profile_is_bad_usage_where_the_caller_names_it() {
    let scene = scene();
    for answer in [
        scene.run("echo", &json!({}), &["--profile", "strickt"]),
        scene.exec(&["--profile", "strickt"], &["/bin/true"]),
        scene.run("echo", &json!({}), &["--profile", "../../etc/passwd"]),
    ] {
        answer.expect("call_error", "usage");
        assert_eq!(answer.code, Some(64));
    }
}

#[test]
fn a_profile_of_ones_own_that_only_tightens_needs_no_grant() {
    let scene = scene();
    scene.config("");
    scene.write(
        "config/toolcell/profiles/tiny.toml",
        "schema = 1\nextends = \"standard\"\nwhy = \"less\"\n[limits]\npids = 3\n",
    );
    let answer = scene.run("echo", &json!({}), &["--profile", "tiny"]);
    answer.output();
    assert_eq!(answer.at("/sandbox/profile"), "tiny");
    scene.write(
        "config/toolcell/profiles/wide.toml",
        "schema = 1\nextends = \"standard\"\nwhy = \"more\"\n[limits]\nwall = \"90s\"\n",
    );
    let wide = scene.run("echo", &json!({}), &["--profile", "wide"]);
    wide.expect("call_error", "not_permitted");
    scene.config("[[grant]]\ncapability = \"echo\"\nprofiles = [\"wide\"]\n");
    scene.run("echo", &json!({}), &["--profile", "wide"]).output();
    let plan = scene.toolcell(&["plan", "echo", "--profile", "wide"], b"{}");
    assert_eq!(plan.at("/limits/wall_ms"), 90_000);
}

#[test]
fn a_broken_profile_names_its_file() {
    let scene = scene();
    scene.config("");
    scene.write("config/toolcell/profiles/odd.toml", "schema = 1\nextends = \"standard\"\nwhy = \"x\"\nlimit = 3\n");
    let answer = scene.run("echo", &json!({}), &["--profile", "odd"]);
    answer.expect("channel_failure", "invalid_contract");
    assert!(answer.at("/error/message").to_string().contains("profiles/odd.toml:4"), "{:#}", answer.json());
    scene.write("config/toolcell/profiles/a.toml", "schema = 1\nextends = \"b\"\nwhy = \"x\"\n");
    scene.write("config/toolcell/profiles/b.toml", "schema = 1\nextends = \"a\"\nwhy = \"x\"\n");
    let circle = scene.run("echo", &json!({}), &["--profile", "a"]);
    circle.expect("channel_failure", "invalid_contract");
}

#[test]
fn a_config_found_upward_is_believed_only_where_nobody_else_can_have_written_it() {
    needs!(is_root(), "only root can give a file away");
    let other = Scene::new();
    other.script("theirs", ECHO, "profile = \"standard\"\n");
    let command = |mode: u32, owner: u32| {
        let scene = scene();
        let registry = other.registry();
        let file = scene.write("work/toolcell.toml", format!("registry = [{:?}]\n", registry.display().to_string()));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("the mode can be set");
        std::os::unix::fs::chown(&file, Some(owner), None).expect("the owner can be set");
        let mut command = scene.command();
        toolcell_tests::finish(command.env_remove("TOOLCELL_REGISTRY").args(["run", "theirs"]), b"{}")
    };
    command(0o664, 0).output();
    for (mode, owner) in [(0o644, 65533), (0o666, 0)] {
        let answer = command(mode, owner);
        answer.expect("call_error", "unknown_capability");
        assert!(answer.stderr.contains("not believed"), "{answer:?}");
    }
}
