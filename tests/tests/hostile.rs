//! Every row of the hostile table alone, and nothing left of it.

use std::sync::Mutex;
use std::time::{Duration, Instant};
use toolcell_tests::hostile::{Row, Stage, table};
use toolcell_tests::needs::has;
use toolcell_tests::{Scene, needs};

/// Plays the rows one after another; what differs, and what is left.
fn alone(scene: Scene, rows: &[Row]) -> Vec<String> {
    let stage = Stage::new(scene, rows);
    let mut found = Vec::new();
    let slow = std::env::var_os("TOOLCELL_TESTS_TIMES").is_some();
    for row in rows {
        let begun = Instant::now();
        let answer = stage.play(row);
        let took = answer.took;
        let mut wrong = stage.differences(row, &answer);
        let (least, most) = row.within;
        if took < Duration::from_millis(least) || took > Duration::from_millis(most) {
            wrong.push(format!("it took {took:?}, not {least} to {most} ms"));
        }
        wrong.extend(stage.left_now());
        if slow {
            eprintln!("{:>6} ms, checked after {:>6} ms: {}", took.as_millis(), begun.elapsed().as_millis(), row.name);
        }
        if !wrong.is_empty() {
            let envelope = String::from_utf8_lossy(&answer.stdout);
            let short: String = envelope.chars().take(1500).collect();
            found.push(format!("{} {}: {}\n    {short}", row.case, row.name, wrong.join("; ")));
        }
    }
    found
}

/// The orphans of one test must not be taken for those of another.
static TURN: Mutex<()> = Mutex::new(());

fn check(scene: Scene) {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let rows = table::rows();
    let found = alone(scene, &rows);
    assert!(found.is_empty(), "{} of {} rows:\n{}", found.len(), rows.len(), found.join("\n"));
}

#[test]
fn every_hostile_tool_ends_as_the_table_says_and_leaves_nothing() {
    needs!(has("gcc"), "gcc is not installed");
    needs!(has("python3") && has("perl"), "python3 or perl is not installed");
    check(Scene::new());
}

#[test]
fn every_hostile_tool_ends_as_the_table_says_for_an_ordinary_user_too() {
    needs!(has("gcc"), "gcc is not installed");
    needs!(has("python3") && has("perl"), "python3 or perl is not installed");
    needs!(needs::is_root(), "becoming an ordinary user takes root");
    check(Scene::new().as_uid(toolcell_tests::cage::USER));
}
