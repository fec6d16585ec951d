//! The caller's files: which may be given to a tool, and how the tool sees them.
use nix::sys::stat::Mode;
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;
use toolcell_tests::{Answer, Scene, needs, needs::is_root};

const READ: &str = "#!/bin/bash\nf=$(sed -n 's/.*\"file\": *\"\\([^\"]*\\)\".*/\\1/p')\n\
    [ -d \"$f\" ] && t=$(ls \"$f\" | tr '\\n' ' ') || t=$(cat \"$f\")\nprintf '{\"path\":\"%s\",\"text\":\"%s\"}' \"$f\" \"$t\"\n";

/// A scene with a tool that says what it got and what stands there.
fn reader(scene: &Scene) {
    scene.script("read", READ, "profile = \"standard\"\n[files]\nin = [\"/file\"]\n");
}

fn file(scene: &Scene, path: &str) -> Answer {
    scene.run("read", &json!({"file": path}), &[])
}

fn rejected(answer: &Answer, path: &str) {
    answer.expect("call_error", "rejected_input");
    assert_eq!(answer.at("/error/details"), json!({"instance": "/file", "path": path}));
    assert_eq!(
        (answer.at("/error/origin"), answer.at("/attempts"), answer.code),
        (json!("caller"), json!(0), Some(64))
    );
    assert!(answer.at("/error/hint").is_string(), "{:#}", answer.json());
}

#[test]
fn a_file_below_the_working_directory_appears_at_in() {
    for scene in Scene::everyone() {
        reader(&scene);
        let absolute = scene.write("work/sub/a b.txt", "words");
        let there = json!({"path": "/in/0/a b.txt", "text": "words"});
        assert_eq!(file(&scene, "sub/a b.txt").output(), there);
        assert_eq!(file(&scene, "./sub/../sub/a b.txt").output(), there);
        assert_eq!(file(&scene, absolute.to_str().expect("UTF-8")).output(), there);
        assert_eq!(file(&scene, "sub").output(), json!({"path": "/in/0/sub", "text": "a b.txt "}));
    }
}

#[test]
fn what_lies_outside_of_the_roots_is_refused_however_it_is_named() {
    for scene in Scene::everyone() {
        reader(&scene);
        let outside = scene.write("outside.txt", "secret");
        scene.write("work-too/beside.txt", "secret");
        symlink(&outside, scene.work().join("link")).expect("it can be made");
        symlink("/etc", scene.work().join("etc")).expect("it can be made");
        symlink("link", scene.work().join("chain")).expect("it can be made");
        symlink("loop", scene.work().join("loop")).expect("it can be made");
        let absolute = outside.to_str().expect("UTF-8");
        for path in [
            absolute,
            "../outside.txt",
            "../work-too/beside.txt",
            "link",
            "chain",
            "loop",
            "etc/passwd",
            "/etc/passwd",
            "/proc/self/environ",
            "..",
            "/",
        ] {
            rejected(&file(&scene, path), path);
        }
    }
}

#[test]
fn a_link_that_stays_inside_is_followed() {
    let scene = Scene::new();
    reader(&scene);
    scene.write("work/real.txt", "words");
    symlink("real.txt", scene.work().join("link.txt")).expect("it can be made");
    assert_eq!(file(&scene, "link.txt").output(), json!({"path": "/in/0/link.txt", "text": "words"}));
}

#[test]
fn devices_fifos_and_sockets_are_refused_at_once() {
    for scene in Scene::everyone() {
        reader(&scene);
        nix::unistd::mkfifo(&scene.work().join("fifo"), Mode::from_bits_truncate(0o666)).expect("it can be made");
        let _listener = std::os::unix::net::UnixListener::bind(scene.work().join("socket")).expect("it can be made");
        for path in ["fifo", "socket"] {
            let answer = file(&scene, path);
            rejected(&answer, path);
            assert!(answer.took < Duration::from_secs(10), "{path}: {:?}", answer.took);
        }
        scene.config("file_roots = [\"/\"]\n");
        for path in ["/dev/null", "/dev/zero", "/dev/tty"] {
            rejected(&file(&scene, path), path);
        }
    }
}

#[test]
fn missing_and_nonsensical_paths_are_refused() {
    let scene = Scene::new();
    reader(&scene);
    scene.write("work/there", "x");
    for path in ["none.txt", "", "a\u{0}b", "there/below", &"x".repeat(5000)] {
        rejected(&file(&scene, path), path);
    }
    for value in [json!(3), json!({}), json!([])] {
        let answer = scene.run("read", &json!({"file": value}), &[]);
        answer.expect("call_error", "rejected_input");
        assert_eq!(answer.at("/error/details/instance"), "/file");
    }
    for input in [json!({}), json!({"file": null})] {
        assert!(!["rejected_input"].contains(&scene.run("read", &input, &[]).reason().as_str()), "{input}");
    }
}

#[test]
fn a_file_the_caller_may_not_read_is_not_given_away() {
    needs!(is_root(), "becoming an ordinary user takes root");
    let scene = Scene::new().as_uid(65534);
    reader(&scene);
    let path = scene.write("work/locked", "secret");
    // The scene gives everything to its user at each call: a mode says no to its owner too.
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).expect("it can be set");
    rejected(&file(&scene, "locked"), "locked");
}

#[test]
fn root_may_give_a_private_file_of_another_user() {
    needs!(is_root(), "only root can");
    let scene = Scene::new();
    reader(&scene);
    let path = scene.write("work/private", "words");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("it can be set");
    std::os::unix::fs::chown(&path, Some(12345), Some(12345)).expect("root may");
    assert_eq!(file(&scene, "private").output(), json!({"path": "/in/0/private", "text": "words"}));
    let mode = std::fs::metadata(&path).expect("it is there");
    assert_eq!((std::os::unix::fs::MetadataExt::uid(&mode), mode.permissions().mode() & 0o777), (12345, 0o600));
}

#[test]
fn a_private_folder_may_be_given_too() {
    for scene in Scene::everyone() {
        reader(&scene);
        let inner = scene.write("work/private/file", "words");
        std::fs::set_permissions(&inner, PermissionsExt::from_mode(0o600)).expect("it can be set");
        std::fs::set_permissions(inner.parent().expect("a folder"), PermissionsExt::from_mode(0o700))
            .expect("it can be set");
        assert_eq!(file(&scene, "private").output(), json!({"path": "/in/0/private", "text": "file "}));
    }
}

#[test]
fn several_files_are_numbered_even_when_their_names_are_the_same() {
    for scene in Scene::everyone() {
        scene.script(
            "docs",
            "#!/bin/sh\nread -r all\ncat /in/0/n.txt /in/1/n.txt /in/2/other >&2\nprintf '%s' \"$all\"\n",
            "profile = \"standard\"\n[files]\nin = [\"/docs/*\", \"/one/deep\"]\n",
        );
        for (path, text) in [("work/a/n.txt", "A"), ("work/b/n.txt", "B"), ("work/other", "C")] {
            scene.write(path, text);
        }
        let answer = scene.run(
            "docs",
            &json!({"docs": ["a/n.txt", "b/n.txt"], "one": {"deep": "other"}, "keep": "a/n.txt"}),
            &[],
        );
        let expected =
            json!({"docs": ["/in/0/n.txt", "/in/1/n.txt"], "one": {"deep": "/in/2/other"}, "keep": "a/n.txt"});
        assert_eq!(answer.output(), expected);
        assert_eq!(answer.at("/stderr/text"), "ABC");
        let twice = scene.run("docs", &json!({"docs": ["a/n.txt", "a/n.txt"], "one": {"deep": "other"}}), &[]);
        assert_eq!(twice.output()["docs"], json!(["/in/0/n.txt", "/in/1/n.txt"]));
        let bad = scene.run("docs", &json!({"docs": ["a/n.txt", "../../etc/passwd"]}), &[]);
        bad.expect("call_error", "rejected_input");
        assert_eq!(bad.at("/error/details/instance"), "/docs/1");
    }
}

#[test]
fn the_tool_cannot_change_what_it_was_given() {
    for scene in Scene::everyone() {
        scene.script("spoil", "#!/bin/sh\ncat >/dev/null\n(echo x > /in/0/f; rm /in/0/f; touch /in/new; chmod 777 /in/0/f) 2>/dev/null\necho '{}'\n",
            "profile = \"standard\"\n[files]\nin = [\"/file\"]\n");
        let path = scene.write("work/f", "words");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).expect("it can be set");
        scene.run("spoil", &json!({"file": "f"}), &[]).output();
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "words");
        assert_eq!(std::fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o666);
    }
}

#[test]
fn the_config_may_widen_or_narrow_the_roots() {
    let scene = Scene::new();
    reader(&scene);
    scene.write("shared/s.txt", "shared");
    scene.write("work/w.txt", "work");
    scene.config(&format!("file_roots = [\"{}\"]\n", scene.path().join("shared").display()));
    assert_eq!(file(&scene, "../shared/s.txt").output()["text"], "shared");
    rejected(&file(&scene, "w.txt"), "w.txt");
    scene.config("file_roots = []\n");
    rejected(&file(&scene, "w.txt"), "w.txt");
}

#[test]
fn under_open_the_real_path_is_shown() {
    let scene = Scene::new();
    reader(&scene);
    let path = scene.write("work/w.txt", "words");
    scene.config("[[grant]]\ncapability = \"*\"\nprofiles = [\"open\"]\n");
    let answer = scene.run("read", &json!({"file": "w.txt"}), &["--profile", "open"]);
    assert_eq!(answer.output(), json!({"path": path, "text": "words"}));
    assert_ne!(answer.at("/sandbox/level"), Value::Null);
    let outside = scene.run("read", &json!({"file": "/etc/passwd"}), &["--profile", "open"]);
    outside.expect("call_error", "rejected_input");
}
