//! What goes wrong is named, and the hint beside it leads on: one row for each mistake.
use serde_json::{Value, json};
use toolcell_tests::{Answer, Scene};

const RUN: &str = "command = [\"./run\"]\n";

/// Reason, a part of the message, a part of the hint.
fn says(answer: &Answer, reason: &str, message: &str, hint: &str) {
    let text = |pointer: &str| answer.at(pointer).as_str().unwrap_or_default().to_owned();
    assert_eq!(answer.reason(), reason, "{:#}", answer.json());
    assert!(text("/error/message").contains(message), "no `{message}` in {:#}", answer.at("/error"));
    assert!(text("/error/hint").contains(hint), "no `{hint}` in {:#}", answer.at("/error"));
}

#[test]
fn what_cannot_be_started_is_told_by_its_cause() {
    let scene = Scene::new();
    let rows = [
        ("good", "#!/bin/sh\necho 1\n", RUN, "", "", ""),
        ("crlf", "#!/bin/sh\r\necho 1\n", RUN, "start_failed", "interpreter", "line ends of Windows"),
        ("lost", "#!/opt/nosuch\n", RUN, "start_failed", "interpreter", "`#!` line"),
        ("bare", "echo 1\n", RUN, "start_failed", "neither", "#!/bin/sh"),
        ("folder", "", "command = [\"./\"]\n", "start_failed", "is a folder", "in it"),
        ("nowhere", "", "command = [\"nosuch\"]\n", "start_failed", "beside toolcell; ", "/tool/bin"),
        ("text", "", "command = \"./run\"\n", "invalid_contract", "tool.toml:2:11", "write it as a list"),
        (
            "count",
            "",
            "command = [\"cat\"]\n[limits]\npids = \"x\"\n",
            "invalid_contract",
            "/limits/pids",
            "whole number",
        ),
        (
            "profile",
            "",
            "command = [\"cat\"]\nprofile = \"strickt\"\n",
            "invalid_contract",
            "tool.toml:3:11",
            "strickt.toml",
        ),
        ("starts", "#!/bin/sh\n/bin/ls\n", RUN, "undeclared_exit", "126", "profile = \"standard\""),
        ("speaks", "#!/bin/sh\necho x >&2\nexit 1\n", RUN, "undeclared_exit", "exit code 1", "`stderr`"),
    ];
    for (id, script, tool, reason, message, hint) in rows {
        scene.script(id, script, "").capability(id, &json!({}), tool);
        says(&scene.run(id, &json!({}), &[]), reason, message, hint);
    }
}

#[test]
fn what_a_registry_lacks_is_told_by_who_named_it() {
    let scene = Scene::new();
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    scene.write("registry/empty/notes.txt", "");
    scene.write(
        "registry/half/capability.json",
        std::fs::read(scene.registry().join("echo/capability.json")).expect("it is there"),
    );
    let of = |registry: &str, id: &str| scene.run(id, &json!({}), &["--registry", registry]);
    let registry = scene.registry().display().to_string();
    of(&registry, "echo").output();
    says(&of("/nosuch", "echo"), "usage", "/nosuch", "--registry names it");
    says(
        &of(&format!("{registry}/echo"), "echo"),
        "usage",
        "is itself a capability",
        &format!("its parent: {registry}"),
    );
    says(&of(&registry, "empty"), "unknown_capability", "empty", "holds no capability.json");
    let named = Scene::new().env("TOOLCELL_REGISTRY", "/nosuch");
    says(&named.run("echo", &json!({}), &[]), "usage", "/nosuch", "TOOLCELL_REGISTRY names it");
    let list = scene.toolcell(&["list", "--registry", "/nosuch"], b"");
    assert_eq!((list.code, list.at("/errors/0/dir")), (Some(64), json!("/nosuch")), "{}", list.stderr);
    // What the configuration names is the host owner's to mend.
    scene.config("registry = [\"/nosuch\"]\n");
    let mut command = scene.command();
    let answer = toolcell_tests::finish(command.env_remove("TOOLCELL_REGISTRY").args(["run", "echo"]), b"{}");
    says(&answer, "invalid_contract", "/nosuch", "correct its path");
}

#[test]
fn a_configuration_that_does_not_fit_says_how_it_is_written() {
    let scene = Scene::new();
    let rows = [
        ("registry = \"x\"\n", "/registry", "write it as a list"),
        ("[grant]\n", "/grant", "double brackets, such as [[grant]]"),
        ("[secrets.A]\nenv = \"A\"\nfor = \"c\"\n", "/secrets/A/for", "write it as a list"),
        ("[[grant]]\nexec = true\nprofiles = [\"opne\"]\n", "`opne`, which does not exist", "profiles/opne.toml"),
        ("[identity]\nbase = \"a\"\n", "/identity/base", "whole number"),
        ("nonsense\n", "toolcell.toml:1", "correct the TOML there"),
    ];
    for (text, message, hint) in rows {
        scene.config(text);
        says(&scene.exec(&[], &["/bin/true"]), "invalid_contract", message, hint);
    }
    scene.config("[[grant]]\nexec = true\nprofiles = [\"open\"]\n");
    scene.exec(&[], &["/bin/true"]).output();
    says(&scene.exec(&["--config", "/tmp"], &["/bin/true"]), "invalid_contract", "regular file", "name a file");
    // All layers of a profile is not the highest level: `open` has two or three of them only.
    scene.exec(&["--profile", "open", "--require", "rlimits,session"], &["/bin/true"]).output();
    let all = scene.exec(&["--profile", "open", "--require", "all"], &["/bin/true"]);
    let free = scene.exec(&["--profile", "open"], &["/bin/true"]);
    let whole = free.at("/sandbox/layers/cgroup") == "enforced";
    assert_eq!(all.status() == "ok", whole, "{:#}", all.json());
}

#[test]
fn a_profile_of_ones_own_that_is_broken_names_its_file() {
    let scene = Scene::new();
    scene.config("");
    let rows = ["[[filesystem.read]]\npath = \"lib\"\nwhy = \"x\"\n", "[syscalls]\ndeny = [\"nosuch\"]\n"];
    for body in rows {
        let file = scene.write(
            "config/toolcell/profiles/own.toml",
            format!("schema = 1\nextends = \"standard\"\nwhy = \"x\"\n{body}"),
        );
        let answer = scene.exec(&["--profile", "own"], &["/bin/true"]);
        says(&answer, "invalid_contract", "is broken", "mend the file");
        assert_eq!(answer.at("/error/details/file"), json!(file), "{body}");
    }
}

#[test]
fn an_input_that_does_not_fit_says_what_to_write() {
    let scene = Scene::new();
    scene.script("cat", "#!/bin/sh\ncat\n", "profile = \"standard\"\n[files]\nin = [\"/path\"]\n");
    scene.capability("typed", &json!({"input_schema": {"type": "object", "required": ["a"]}}), "command = [\"cat\"]\n");
    scene.capability(
        "broken",
        &json!({"input_schema": {"type": "object", "properties": {"a": {"type": "strnig"}}}}),
        "command = [\"cat\"]\n",
    );
    let run =
        |id: &str, text: &str, flags: &[&str]| scene.toolcell(&[&["run", id][..], flags].concat(), text.as_bytes());
    run("cat", "{}", &["--set", "/l=[\"a\"]"]).output();
    says(&run("cat", "{}", &["--set", "/l/0=a"]), "usage", "names the item `0` of `/l`", "--set '/l=[\"a\"]'");
    says(&run("cat", "{\"path\": 5}", &[]), "rejected_input", "/path: a number is not a path", "string");
    says(&run("cat", "{\"a\": 1,}", &[]), "invalid_input_json", "byte 8", "remove the comma");
    says(&run("cat", "{\"a\": 1} // x", &[]), "invalid_input_json", "trailing data at byte 9", "nothing after it");
    says(&run("cat", "{/**/}", &[]), "invalid_input_json", "byte 1", "no comments");
    says(&run("typed", "{}", &[]), "input_schema", "", "`toolcell show typed`");
    says(&run("broken", "{}", &[]), "invalid_contract", "/input_schema/properties/a/type", "the types are null");
    let twice = run("cat", "{} x", &[]).at("/error/message").to_string();
    assert_eq!(twice.matches("at byte").count(), 1, "{twice}");
    says(&run("cat", "{}", &["--out", "/dev/null"]), "usage", "--out", "name a new folder");
}

#[test]
fn exec_says_where_it_may_be_called() {
    let scene = Scene::new();
    says(&scene.exec(&[], &["nosuch"]), "start_failed", "nosuch", "give its path");
    says(&scene.exec(&["--workspace", "/nosuch"], &["/bin/true"]), "usage", "/nosuch", "name a folder that exists");
    for (folder, fact) in [("/", "everything you own"), ("/proc/self", "is part of /proc")] {
        let answer = toolcell_tests::finish(scene.command().args(["exec", "--", "/bin/true"]).current_dir(folder), b"");
        says(&answer, "usage", fact, "--workspace");
    }
    scene.write("work/go", "#!/bin/sh\necho \"$0\"\n");
    std::fs::set_permissions(scene.work().join("go"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("the mode can be set");
    assert_eq!(scene.exec(&[], &["./go"]).output(), json!({"text": "/work/go\n"}));
}

#[test]
fn the_built_in_network_profile_does_not_warn_of_other_systems_paths() {
    let scene = Scene::new();
    scene.script("net", "#!/bin/sh\necho 1\n", "profile = \"network\"\n");
    scene.config("[[grant]]\ncapability = \"*\"\nprofiles = [\"network\", \"own\"]\n");
    scene.write(
        "config/toolcell/profiles/own.toml",
        "schema = 1\nextends = \"network\"\nwhy = \"x\"\n[[filesystem.read]]\npath = \"/nosuch\"\nwhy = \"x\"\n",
    );
    let missing = |flags: &[&str]| -> Vec<Value> {
        let warnings = scene.run("net", &json!({}), flags).at("/warnings").as_array().cloned().unwrap_or_default();
        warnings.into_iter().filter(|one| one["code"] == "profile_path_missing").collect()
    };
    assert!(missing(&[]).iter().all(|one| !one.to_string().contains("/etc/pki")), "{:?}", missing(&[]));
    assert_eq!(missing(&["--profile", "own"]).len(), missing(&[]).len() + 1);
}
