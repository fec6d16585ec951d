//! Large documents: what they cost the runner is bounded by their size, whatever they are made of. Alone in its file,
//! because what is measured is the highest memory of all processes this test has waited for.
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;
use toolcell_tests::Scene;

/// What docs/performance.md promises, bytes.
const BUDGET: i64 = 512 << 20;
const INPUT_MAX: usize = 64 << 20;
const VALUES_MAX: usize = 1 << 20;

fn peak() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).expect("it can be asked").max_rss() * 1024
}

/// An array of `count` texts inside an object, of 64 MiB at most.
fn array(item: &str, count: usize) -> String {
    let count = count.min((INPUT_MAX - 20) / (item.len() + 1));
    format!("{{\"a\":[{}{item}]}}", format!("{item},").repeat(count - 1))
}

#[test]
fn an_input_of_64_mib_is_handed_on_whole_or_refused_and_costs_the_runner_little() {
    let scene = Scene::new();
    scene.capability("count", &json!({}), "command = [\"wc\", \"-c\"]\nprofile = \"standard\"\nstdout = \"text\"\n");
    // By files, and one after the other: a child begins with the memory of this process, which is measured with it.
    let ask = |document: String| {
        let (path, length) = (scene.write("work/input.json", &document), document.len());
        drop(document);
        (scene.toolcell(&["run", "count", "--input", &path.display().to_string()], b""), length)
    };
    let half = "y".repeat(50);
    let makers: [&dyn Fn() -> String; 3] = [
        &|| format!("{{\"a\":\"{}\"}}", "x".repeat(INPUT_MAX - 20)),
        &|| array(&format!("\"{half}\""), VALUES_MAX - 10),
        &|| array("{\"k\":1}", VALUES_MAX / 2 - 10),
    ];
    for make in makers {
        let (answer, length) = ask(make());
        assert_eq!(answer.output(), json!({"text": format!("{length}\n")}));
    }
    // Two bytes each: the worst that 64 MiB can be made of.
    let answer = ask(array("1", usize::MAX)).0;
    answer.expect("call_error", "usage");
    let said = answer.at("/error/message").to_string();
    assert!(said.contains("values"), "{said}");
    let answer = ask(format!("{}]", "[1,".repeat(INPUT_MAX / 3))).0;
    answer.expect("call_error", "invalid_input_json");
    ask(format!("{{\"a\":\"{}\"}}", "x".repeat(INPUT_MAX))).0.expect("call_error", "usage");
    assert!(peak() < BUDGET, "{} MiB", peak() >> 20);
}

#[test]
fn an_output_that_cannot_be_checked_within_the_budget_is_no_answer() {
    let scene = Scene::new();
    let script =
        "#!/bin/sh\ncat >/dev/null\nprintf '{\"a\":['\nyes '1,' | head -c 7000000 | tr -d '\\n'\nprintf '1]}'\n";
    scene.script("plain", script, "profile = \"standard\"\n");
    scene.run("plain", &json!({}), &[]).output();
    scene.script("checked", script, "");
    let contract = json!({"output_schema": {"type": "object"}});
    scene.capability("checked", &contract, "command = [\"./run\"]\nprofile = \"standard\"\n");
    let answer = scene.run("checked", &json!({}), &[]);
    answer.expect("channel_failure", "invalid_output");
    assert!(answer.at("/error/message").to_string().contains("values"), "{:#}", answer.json());
    assert!(peak() < BUDGET, "{} MiB", peak() >> 20);
}
