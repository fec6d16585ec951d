//! Every kind of hostile case has a row, a test elsewhere, or a reason.

use std::collections::{BTreeMap, BTreeSet};
use toolcell_tests::hostile::elsewhere::{CANNOT, HELD, KINDS};
use toolcell_tests::hostile::stage::{id, tools};
use toolcell_tests::hostile::table;
use toolcell_tests::workspace;

#[test]
fn every_kind_has_a_row_or_is_held_elsewhere_or_cannot_apply() {
    let rows = table::rows();
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in &rows {
        places.entry(row.case).or_default().insert("a row");
    }
    for (case, file, _) in HELD {
        places.entry(case).or_default().insert(file);
    }
    for (case, reason) in CANNOT {
        assert!(!reason.is_empty(), "{case} has no reason");
        places.entry(case).or_default().insert("cannot apply");
    }
    let lacking: Vec<_> = KINDS.iter().filter(|case| !places.contains_key(**case)).collect();
    assert!(lacking.is_empty(), "no row and no test: {lacking:?}");
    let unknown: Vec<_> = places.keys().filter(|case| !KINDS.contains(case)).collect();
    assert!(unknown.is_empty(), "no such kind: {unknown:?}");
}

#[test]
fn every_test_that_is_named_exists() {
    for (case, file, test) in HELD {
        let path = workspace().join("tests/tests").join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{case}: {file}: {error}"));
        assert!(text.contains(&format!("fn {test}(")), "{case}: {file} has no test {test}");
    }
}

#[test]
fn every_row_has_a_name_of_its_own_and_a_tool_that_says_what_it_does() {
    let rows = table::rows();
    let mut ids = BTreeSet::new();
    for row in &rows {
        assert!(ids.insert(id(row)), "{} stands twice", row.name);
        assert!(id(row).len() <= 64, "the id of {} is too long", row.name);
        assert!(row.within.0 < row.within.1, "{}", row.name);
        assert!(row.expect.status != "ok" || row.expect.reason.is_empty(), "{}", row.name);
    }
    let used: BTreeSet<&str> = rows.iter().map(|row| row.tool).collect();
    for name in toolcell_tests::left::names(&tools()) {
        let text = std::fs::read_to_string(tools().join(&name)).expect("a tool can be read");
        let says = |line: &str| ["# ", "/* "].iter().any(|mark| line.starts_with(mark));
        assert!(
            text.lines().find(|line| !line.starts_with("#!")).is_some_and(says),
            "{name} does not say what it does"
        );
        let elsewhere = ["death.rs", "hostile_time.rs", "hostile_many.rs", "hostile_places.rs"];
        let named = |file: &&str| {
            let path = workspace().join("tests/tests").join(file);
            std::fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("\"{name}\"")))
        };
        assert!(used.contains(name.as_str()) || elsewhere.iter().any(named), "nobody uses {name}");
    }
}
