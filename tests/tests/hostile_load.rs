//! The hostile table under load: every row ends as it does alone, with 32 calls at a time.

use std::collections::VecDeque;
use std::sync::Mutex;
use toolcell_tests::hostile::{Row, Stage, table};
use toolcell_tests::needs::has;
use toolcell_tests::{Scene, needs};

const AT_ONCE: usize = 32;

/// Plays the rows, each twice, in an order of its own each time; what differs.
fn together(stage: &Stage, rows: &[Row]) -> Vec<String> {
    let half = rows.len() / 2;
    let twice = rows.iter().chain(&rows[half..]).chain(&rows[..half]);
    let queue: Mutex<VecDeque<&Row>> = Mutex::new(twice.collect());
    let found = Mutex::new(Vec::new());
    let next = || queue.lock().expect("nobody panics with it").pop_front();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = next() {
                    let answer = stage.play(row);
                    let wrong = stage.misjudged(row, &answer);
                    if !wrong.is_empty() {
                        let short: String = String::from_utf8_lossy(&answer.stdout).chars().take(1500).collect();
                        let line = format!("{} {}: {}\n    {short}", row.case, row.name, wrong.join("; "));
                        found.lock().expect("nobody panics with it").push(line);
                    }
                }
            });
        }
    });
    found.into_inner().expect("nobody panics with it")
}

/// The orphans of one test must not be taken for those of another.
static TURN: Mutex<()> = Mutex::new(());

fn check(scene: Scene) {
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let rows = table::rows();
    let stage = Stage::new(scene, &rows);
    let found = together(&stage, &rows);
    assert!(found.is_empty(), "{} of {} calls:\n{}", found.len(), 2 * rows.len(), found.join("\n"));
    assert_eq!(stage.left(), Vec::<String>::new());
}

#[test]
fn with_32_calls_at_a_time_every_row_ends_as_it_does_alone() {
    needs!(has("gcc"), "gcc is not installed");
    needs!(has("python3") && has("perl"), "python3 or perl is not installed");
    check(Scene::new());
}

#[test]
fn with_32_calls_of_an_ordinary_user_at_a_time_every_row_ends_as_it_does_alone() {
    needs!(has("gcc"), "gcc is not installed");
    needs!(has("python3") && has("perl"), "python3 or perl is not installed");
    needs!(needs::is_root(), "becoming an ordinary user takes root");
    check(Scene::new().as_uid(toolcell_tests::cage::USER));
}
