//! docs/schemas holds the schemas of the types, and the types keep them. `UPDATE_SCHEMAS=1` rewrites the files.

#[path = "classify/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the verdict")]
mod support;

use serde_json::Value;
use std::path::PathBuf;
use support::{and, call, exited, signaled};
use toolcell::Answered;
use toolcell::classify::classify;
use toolcell::envelope::{Envelope, RecordState, Trace};
use toolcell::reason::Reason;
use toolcell::refusal::Refusal;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas").join(format!("{name}.json"))
}

#[test]
fn the_files_are_the_generated_ones() {
    for (name, schema) in toolcell::schemas::all() {
        let text = format!("{schema:#}\n");
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            std::fs::write(file(name), &text).unwrap();
        }
        let found = std::fs::read_to_string(file(name)).unwrap_or_default();
        assert!(found == text, "docs/schemas/{name}.json differs from the types; UPDATE_SCHEMAS=1 rewrites it");
    }
}

fn keeps(name: &str, value: &Value) {
    let schemas = toolcell::schemas::all();
    let (_, schema) = schemas.iter().find(|(found, _)| *found == name).expect("a schema of that name");
    let validator = jsonschema::draft202012::new(schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
}

#[test]
fn printed_documents_keep_their_schemas() {
    let call = call();
    for outcome in [exited(0, "{\"a\":1}"), exited(66, ""), signaled(11), and(exited(3, "x"), |o| o.unreaped = true)] {
        let envelope = Envelope::answered(Answered {
            call_id: "id".into(),
            call: &call,
            verdict: classify(&call, &outcome),
            attempts: std::slice::from_ref(&outcome),
            wall_ms: 1,
            trace: Trace::default(),
            record: RecordState::default(),
            warnings: Vec::new(),
        });
        keeps("envelope", &serde_json::from_str(&envelope.to_json(false)).unwrap());
        keeps("outcome", &serde_json::to_value(&outcome).unwrap());
    }
    let refused = Envelope::refused("id".into(), None, &Refusal::new(Reason::Usage, "x"), Trace::default());
    keeps("envelope", &serde_json::to_value(&refused).unwrap());
    keeps("call", &serde_json::to_value(&call).unwrap());
}

#[test]
fn a_document_of_another_version_breaks_the_schema() {
    let schemas = toolcell::schemas::all();
    let mut value = serde_json::to_value(call()).unwrap();
    value["schema"] = "toolcell.call/2".into();
    let (_, schema) = schemas.iter().find(|(name, _)| *name == "call").unwrap();
    assert!(!jsonschema::draft202012::new(schema).unwrap().is_valid(&value));
}
