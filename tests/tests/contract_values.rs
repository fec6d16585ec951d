//! JSON in and out: nothing is changed, nothing doubtful is taken.
use serde_json::{Value, json};
use toolcell_tests::{Answer, Scene};

fn scene() -> Scene {
    let scene = Scene::new();
    scene.capability("echo", &json!({}), "command = [\"/bin/cat\"]\nprofile = \"standard\"\n");
    scene
}

/// A tool that ignores its input and prints these bytes.
fn prints(bytes: &[u8]) -> (Scene, Answer) {
    let scene = Scene::new();
    scene.write("registry/say/answer", bytes);
    scene.capability(
        "say",
        &json!({}),
        "command = [\"/bin/cat\", \"./answer\"]\nstdin = \"none\"\nprofile = \"standard\"\n",
    );
    let answer = scene.run("say", &json!({}), &[]);
    (scene, answer)
}

/// The raw text of the envelope's output.
fn raw_output(answer: &Answer) -> String {
    answer.output();
    let text = String::from_utf8(answer.stdout.clone()).expect("UTF-8");
    let from = text.find("\"output\":").expect("an output") + "\"output\":".len();
    let to = text.find(",\"error\":null,\"exit\":").expect("what follows");
    text[from..to].to_owned()
}

fn refused_input(scene: &Scene, input: &[u8]) -> Answer {
    let answer = scene.toolcell(&["run", "echo"], input);
    answer.expect("call_error", "invalid_input_json");
    assert_eq!((answer.at("/attempts"), answer.code), (json!(0), Some(64)));
    answer
}

fn refused_output(bytes: &[u8]) -> Answer {
    let (_scene, answer) = prints(bytes);
    answer.expect("channel_failure", "invalid_output");
    let origin = answer.at("/error/origin");
    assert_eq!((answer.at("/output"), origin, answer.code), (Value::Null, json!("tool"), Some(69)));
    assert_eq!(answer.at("/exit"), json!({"code": 0, "signal": null}));
    answer
}

#[test]
fn numbers_pass_unchanged_in_both_directions() {
    let text = "{\"id\":9007199254740993,\"u\":18446744073709551615,\"v\":18446744073709551616,\
                \"d\":0.1000000000000000055511151231257827,\"e\":1e+400,\"f\":1.50,\"g\":-0,\"h\":-0.0}";
    for scene in Scene::everyone() {
        scene.capability("echo", &json!({}), "command = [\"/bin/cat\"]\nprofile = \"standard\"\n");
        let answer = scene.toolcell(&["run", "echo"], text.as_bytes());
        assert_eq!(raw_output(&answer), text);
    }
}

#[test]
fn the_tools_own_text_is_passed_through_byte_for_byte() {
    for text in [
        "{\"z\":1,\"a\":2,\"m\":{\"y\":1,\"b\":2}}",
        "{\"escapes\":\"\\u00e9\\n\\/\\\"\\ud83d\\ude00\",\"raw\":\"é😀\"}",
        "{ \"spaced\" : [ 1 , 2 ] }",
        "[-0,-0.0,1.0,1e5,1E5,100000000000000000000000000000]",
        "\"just a string\"",
        "null",
        "9007199254740993",
        "{\"\":0,\"nul\":\"\\u0000\"}",
    ] {
        assert_eq!(raw_output(&prints(text.as_bytes()).1), text);
    }
}

#[test]
fn a_document_of_several_lines_keeps_them_and_the_envelope_is_still_json() {
    let text = "{\n  \"a\": 1,\r\n  \"b\": [\n    2\n  ]\n}";
    let (_scene, answer) = prints(format!("{text}\r\n").as_bytes());
    assert_eq!(answer.output(), json!({"a": 1, "b": [2]}));
}

#[test]
fn duplicate_keys_are_refused_in_and_out() {
    let scene = scene();
    for (text, key) in [
        ("{\"path\": \"/safe\", \"path\": \"/etc/shadow\"}", "path"),
        ("{\"a\": [{\"limit\": 1, \"limit\": 1000000}]}", "limit"),
        ("{\"a\\u0062\": 1, \"ab\": 2}", "ab"),
    ] {
        assert!(refused_input(&scene, text.as_bytes()).at("/error/message").to_string().contains(key), "{text}");
        assert!(refused_output(text.as_bytes()).at("/error/message").to_string().contains(key), "{text}");
    }
}

#[test]
fn what_is_not_json_is_refused_with_the_place() {
    let scene = scene();
    let rows: &[(&[u8], u64)] = &[
        (b"{\"a\": NaN}", 6),
        (b"{\"a\": Infinity}", 6),
        (b"{\"a\": -Infinity}", 6),
        (b"{\"ok\":true}\n{\"ok\":false}\n", 12),
        (b"{\"ok\":true} Done in 0.3s\n", 12),
        (b"A new version is available\n{\"ok\":true}\n", 0),
        (b"{'a': 1}", 1),
        (b"[1,]", 3),
    ];
    for (text, offset) in rows {
        let shown = String::from_utf8_lossy(text);
        assert_eq!(refused_output(text).at("/error/details/offset"), json!(offset), "{shown}");
        assert_eq!(refused_input(&scene, text).at("/error/details/offset"), json!(offset), "{shown}");
    }
}

#[test]
fn bad_utf_8_and_lone_surrogates_are_refused() {
    let scene = scene();
    for text in [&b"{\"a\": \"\xff\"}"[..], b"\xff\xfe", b"{\"a\": \"\\ud800\"}", b"{\"a\": \"\xc3\"}"] {
        refused_output(text);
        refused_input(&scene, text);
    }
}

#[test]
fn nan_gets_a_hint() {
    let hint = refused_output(b"{\"mean\": NaN}").at("/error/hint").to_string();
    assert!(hint.contains("NaN") || hint.contains("null"), "{hint}");
}

#[test]
fn deep_nesting_is_refused_and_is_no_crash() {
    let scene = scene();
    for depth in [200, 100_000] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        let input = format!("{{\"a\":{text}}}");
        refused_input(&scene, input.as_bytes());
        refused_output(text.as_bytes());
    }
    let text = "[".repeat(100) + &"]".repeat(100);
    assert_eq!(raw_output(&prints(text.as_bytes()).1), text);
    assert_eq!(
        raw_output(&scene.toolcell(&["run", "echo"], format!("{{\"a\":{text}}}").as_bytes())),
        format!("{{\"a\":{text}}}")
    );
}

#[test]
fn one_byte_order_mark_is_dropped_and_said() {
    let (_scene, answer) = prints(b"\xef\xbb\xbf{\"ok\":true}\r\n");
    assert_eq!(answer.output(), json!({"ok": true}));
    assert_eq!(answer.warnings(), ["bom_dropped"]);
    refused_output(b"\xef\xbb\xbf\xef\xbb\xbf{\"ok\":true}");
    refused_output(b"{\"ok\":true}\xef\xbb\xbf");
    let scene = scene();
    let from_windows = scene.toolcell(&["run", "echo"], b"\xef\xbb\xbf{\"ok\":true}\r\n");
    assert_eq!(from_windows.output(), json!({"ok": true}));
    assert_eq!(from_windows.warnings(), ["bom_dropped"], "the same rule for input as for output");
}

#[test]
fn big_integers_survive_in_details() {
    let scene = Scene::new();
    let text = "{\"error\": {\"reason\": \"no_coverage\", \"message\": \"m\", \"details\": {\"id\": 18446744073709551616, \"z\": 1, \"a\": -0.0}}}";
    scene.write("registry/say/answer", text);
    scene.script("say", "#!/bin/sh\ncat /tool/answer\nexit 66\n", "profile = \"standard\"\n");
    let answer = scene.run("say", &json!({}), &[]);
    answer.expect("data_limitation", "no_coverage");
    let shown = String::from_utf8_lossy(&answer.stdout).into_owned();
    assert!(shown.contains("\"details\":{\"id\":18446744073709551616,\"z\":1,\"a\":-0.0}"), "{shown}");
}

#[test]
fn jsonl_and_text_have_their_own_forms() {
    let rows = [
        ("jsonl", "{\"a\":1}\n\n{\"a\":9007199254740993}\n", Some("[{\"a\":1},{\"a\":9007199254740993}]")),
        ("jsonl", "", Some("[]")),
        ("jsonl", "{\"a\":1} {\"a\":2}\n", None),
        ("jsonl", "{\"a\":1,\n\"b\":2}\n", None),
        ("text", "", Some("{\"text\":\"\"}")),
        ("text", "a\nb\u{0}c\"", Some("{\"text\":\"a\\nb\\u0000c\\\"\"}")),
    ];
    for (kind, said, expected) in rows {
        let scene = Scene::new();
        scene.write("registry/say/answer", said);
        let toml = format!(
            "command = [\"/bin/cat\", \"./answer\"]\nstdin = \"none\"\nprofile = \"standard\"\nstdout = \"{kind}\"\n"
        );
        scene.capability("say", &json!({}), &toml);
        let answer = scene.run("say", &json!({}), &[]);
        match expected {
            Some(expected) => assert_eq!(raw_output(&answer), expected, "{kind} {said:?}"),
            None => assert_eq!(answer.reason(), "invalid_output", "{kind} {said:?}: {:#}", answer.json()),
        }
    }
}

#[test]
fn templates_make_one_argument_each_or_none() {
    let scene = Scene::new();
    let toml = "command = [\"/usr/bin/printf\", \"<%s>\", \"{/one}\", [\"-m\", \"{/max}\"], \"--\", \"{/files/*}\"]\n\
                stdin = \"none\"\nstdout = \"text\"\nprofile = \"standard\"\n";
    scene.capability("say", &json!({}), toml);
    let rows = [
        (json!({"one": "a b; $(id) *", "files": []}), "<a b; $(id) *><-->"),
        (json!({"one": true, "max": -3, "files": ["x", "-y"]}), "<true><-m><-3><--><x><-y>"),
        (json!({"one": null, "max": null}), "<-->"),
        (json!({"one": ""}), "<><-->"),
    ];
    for (input, expected) in rows {
        assert_eq!(scene.run("say", &input, &[]).output(), json!({"text": expected}), "{input}");
    }
    for input in
        [json!({"one": "-rf"}), json!({"one": {}}), json!({"one": [1]}), json!({"one": "x\u{0}y"}), json!({"one": -1})]
    {
        let answer = scene.run("say", &input, &[]);
        answer.expect("call_error", "rejected_input");
        assert_eq!(
            (answer.at("/error/details/instance"), answer.at("/attempts")),
            (json!("/one"), json!(0)),
            "{input}"
        );
    }
    let files = scene.run("say", &json!({"one": "x", "files": "not-an-array"}), &[]);
    files.expect("call_error", "rejected_input");
}
