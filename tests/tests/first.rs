//! A first look: the whole path, black box.
use serde_json::json;
use toolcell_tests::Scene;

#[test]
fn a_script_answers_through_the_whole_path() {
    let scene = Scene::new();
    scene.script("echo", "#!/bin/sh\ncat\n", "profile = \"standard\"\n");
    let answer = scene.run("echo", &json!({"a": 1}), &[]);
    assert_eq!(answer.output(), json!({"a": 1}));
    assert_eq!(answer.code, Some(0));
}
