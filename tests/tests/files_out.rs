//! What a tool leaves in TOOLCELL_OUT.
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use toolcell_tests::{Answer, Scene, left};

const STANDARD: &str = "profile = \"standard\"\n";

fn tool(scene: &Scene, body: &str, toml: &str, flags: &[&str]) -> Answer {
    scene.script("tool", &format!("#!/bin/sh\ncat >/dev/null\ncd \"$TOOLCELL_OUT\"\n{body}"), toml);
    scene.run("tool", &json!({}), flags)
}

/// Name and size of every file listed.
fn listed(answer: &Answer) -> Vec<(String, u64)> {
    let files = answer.at("/files");
    let one = |file: &Value| {
        (file["name"].as_str().unwrap_or_default().to_owned(), file["bytes"].as_u64().unwrap_or_default())
    };
    files.as_array().into_iter().flatten().map(one).collect()
}

fn short(answer: &Answer) -> bool {
    answer.warnings().contains(&"out_truncated".to_owned())
}

#[test]
fn files_are_listed_with_their_digests_and_stored_only_where_asked() {
    for scene in Scene::everyone() {
        let body = "printf chart > chart.png; mkdir -p a/b; : > a/b/empty; echo '{}'\n";
        let answer = tool(&scene, body, STANDARD, &[]);
        answer.output();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(answer.at("/files/0"), json!({"name": "a/b/empty", "bytes": 0, "sha256": empty, "path": null}));
        assert_eq!(listed(&answer), [("a/b/empty".to_owned(), 0), ("chart.png".to_owned(), 5)]);
        assert_eq!(answer.warnings().iter().filter(|code| *code == "out_truncated").count(), 0);
        let kept = tool(&scene, body, STANDARD, &["--out", "kept"]);
        kept.output();
        let chart = scene.work().join("kept/chart.png");
        let path = kept.at("/files/1/path").as_str().expect("it was kept").to_owned();
        assert_eq!(scene.work().join(path), chart, "as the caller sees it");
        assert_eq!(std::fs::read_to_string(&chart).expect("it was kept"), "chart");
        assert_eq!(std::fs::read(scene.work().join("kept/a/b/empty")).expect("it was kept"), b"");
        let caller = if scene.calls_as_root() { nix::unistd::geteuid().as_raw() } else { 65534 };
        assert_eq!(std::fs::metadata(&chart).expect("it is there").uid(), caller);
    }
}

#[test]
fn files_are_collected_at_every_status_that_started_a_process() {
    let rows = [
        ("exit 66\n", "data_limitation"),
        ("exit 64\n", "call_error"),
        ("exit 1\n", "channel_failure"),
        ("kill -9 $$\n", "channel_failure"),
        ("exec sleep 60\n", "channel_failure"),
    ];
    for (end, status) in rows {
        let answer = tool(
            &Scene::new(),
            &format!("printf abc > f\n{end}"),
            &format!("{STANDARD}[limits]\nwall = \"1s\"\n"),
            &[],
        );
        assert_eq!((answer.status().as_str(), listed(&answer)), (status, vec![("f".to_owned(), 3)]), "{end}");
    }
}

#[test]
fn what_is_no_regular_file_is_left_out_and_said() {
    for scene in Scene::everyone() {
        for odd in ["ln -s /etc/passwd link", "mkfifo fifo", "ln -s . loop", "ln -s /etc folder", "mknod -m 666 p p"] {
            let answer = tool(
                &scene,
                &format!("printf abc > f; {odd} || exit 9; echo '{{}}'\n"),
                STANDARD,
                &["--out", &format!("kept{}", odd.len())],
            );
            answer.output();
            assert_eq!((listed(&answer), short(&answer)), (vec![("f".to_owned(), 3)], true), "{odd}");
            assert_eq!(left::names(&scene.work().join(format!("kept{}", odd.len()))), ["f"], "{odd}");
            std::fs::remove_dir_all(scene.work().join(format!("kept{}", odd.len()))).expect("it can go");
        }
    }
}

#[test]
fn the_limit_for_files_is_kept_and_said() {
    let answer = tool(
        &Scene::new(),
        "head -c 3000 /dev/zero > a; head -c 3000 /dev/zero > b; printf x > c; echo '{}'\n",
        &format!("{STANDARD}[limits]\nout = \"4KiB\"\n"),
        &["--out", "kept"],
    );
    answer.output();
    assert!(short(&answer), "{:#}", answer.json());
    let total: u64 = listed(&answer).iter().map(|(_, bytes)| bytes).sum();
    assert!((3000..=4096).contains(&total), "{total}");
}

#[test]
fn hard_links_holes_and_odd_names_do_no_harm() {
    let scene = Scene::new();
    let body = "printf abc > f; ln f g; truncate -s 1000000 hole; printf x > 'a b;\"c'; printf y > '-rf'; mkdir '...'; printf z > .../z; echo '{}'\n";
    let answer = tool(&scene, body, STANDARD, &["--out", "kept"]);
    answer.output();
    let names: Vec<String> = listed(&answer).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["-rf", ".../z", "a b;\"c", "f", "g", "hole"]);
    assert_eq!(std::fs::metadata(scene.work().join("kept/hole")).expect("it is there").len(), 1_000_000);
}

#[test]
fn a_name_that_is_no_utf_8_is_left_out_and_said() {
    let answer = tool(&Scene::new(), "printf x > \"$(printf 'a\\377')\"; printf y > good; echo '{}'\n", STANDARD, &[]);
    answer.output();
    assert_eq!((listed(&answer), short(&answer)), (vec![("good".to_owned(), 1)], true));
}

#[test]
fn many_files_are_all_there_in_order() {
    let scene = Scene::new();
    let answer = tool(
        &scene,
        "i=100; while [ $i -lt 400 ]; do echo $i > f$i; i=$((i+1)); done; echo '{}'\n",
        STANDARD,
        &["--out", "kept"],
    );
    answer.output();
    let names: Vec<String> = listed(&answer).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, (100..400).map(|n| format!("f{n}")).collect::<Vec<_>>());
    assert_eq!(left::names(&scene.work().join("kept")), names);
}

#[test]
fn a_link_in_place_of_the_out_folder_leads_nowhere() {
    let scene = Scene::new();
    let answer = tool(
        &scene,
        "cd /; rmdir \"$TOOLCELL_OUT\"; ln -s /etc \"$TOOLCELL_OUT\"; echo '{}'\n",
        STANDARD,
        &["--out", "kept"],
    );
    answer.output();
    assert_eq!((listed(&answer), left::names(&scene.work().join("kept"))), (Vec::new(), Vec::new()));
}

#[test]
fn under_open_files_are_collected_too_and_the_temporary_folder_goes() {
    for scene in Scene::everyone() {
        scene.config("[[grant]]\ncapability = \"*\"\nprofiles = [\"open\"]\n");
        let answer = tool(
            &scene,
            "printf abc > f; printf '{\"tmp\":\"%s\",\"home\":\"%s\"}' \"$TMPDIR\" \"$HOME\"\n",
            STANDARD,
            &["--profile", "open"],
        );
        let told = answer.output();
        assert_eq!(listed(&answer), [("f".to_owned(), 3)]);
        for folder in ["tmp", "home"] {
            let path = told[folder].as_str().expect("a path").to_owned();
            assert!(path.starts_with(scene.path().to_str().expect("UTF-8")), "{path}: below the caller's TMPDIR");
            assert!(!std::path::Path::new(&path).exists(), "{path} is still there");
        }
        assert_eq!(left::names(&scene.path().join("tmp")), Vec::<String>::new());
    }
}
