//! The required tests of the JSON-Schema-Test-Suite, where they are at hand.

use super::Validator;
use crate::json;
use serde_json::Value;
use std::path::Path;

#[derive(Default)]
struct Tally {
    passed: usize,
    remote: usize,
    failed: Vec<String>,
}

#[test]
fn the_required_tests_of_the_suite() {
    let Some(folder) = std::env::var_os("TOOLCELL_SCHEMA_SUITE").filter(|folder| Path::new(folder).is_dir()) else {
        let must = std::env::var_os("TOOLCELL_TESTS_MUST_RUN").is_some_and(|value| value == "1");
        assert!(!must, "TOOLCELL_SCHEMA_SUITE names no folder");
        println!("SKIP the_required_tests_of_the_suite: TOOLCELL_SCHEMA_SUITE names no folder");
        return;
    };
    let mut tally = Tally::default();
    for (draft, uri) in [
        ("draft7", "http://json-schema.org/draft-07/schema#"),
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ] {
        let files = std::fs::read_dir(Path::new(&folder).join("tests").join(draft)).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "json"));
        assert!(!files.is_empty(), "{draft} holds no tests");
        files.iter().for_each(|file| run(file, uri, &mut tally));
    }
    println!("{} passed, {} need remote schemas and are refused", tally.passed, tally.remote);
    assert!(tally.failed.is_empty(), "{} failed:\n{}", tally.failed.len(), tally.failed.join("\n"));
    assert!(tally.passed > 2000, "only {} ran", tally.passed);
}

fn run(file: &Path, uri: &str, tally: &mut Tally) {
    let groups = json::value(&std::fs::read(file).unwrap()).unwrap();
    // The required tests take formats for annotations; toolcell asserts them (DESIGN: section 4).
    let formats = file.file_name().is_some_and(|name| name != "format.json");
    for group in groups.as_array().unwrap() {
        let mut schema = group["schema"].clone();
        if let Value::Object(map) = &mut schema {
            map.entry("$schema").or_insert_with(|| uri.into());
        }
        let tests = group["tests"].as_array().unwrap();
        let name = format!("{}: {}", file.display(), group["description"]);
        match Validator::compile_with(&schema, formats) {
            Ok(validator) => {
                for test in tests {
                    let data = &test["data"];
                    let valid = validator.violations(data).is_empty();
                    if Value::Bool(valid) == test["valid"] && validator.is_valid(data) == valid {
                        tally.passed += 1;
                    } else {
                        tally.failed.push(format!("{name}: {}: {valid}", test["description"]));
                    }
                }
            }
            Err(error) if needs_remote(&schema, &error.to_string()) => tally.remote += tests.len(),
            Err(error) => tally.failed.push(format!("{name}: {error}")),
        }
    }
}

/// The suite serves its remote schemas from localhost:1234.
fn needs_remote(schema: &Value, error: &str) -> bool {
    let refused =
        error.contains("external $ref not allowed: ") || error.contains("/$schema: dialect \"http://localhost");
    refused && schema.to_string().contains("http://localhost:1234/")
}
