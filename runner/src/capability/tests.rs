//! Each rule of the contract once.

use super::*;
use serde_json::json;

const SMALL: &str = r#"{"schema": 1, "id": "a", "version": "1.2.0", "input_schema": {"type": "object"}}"#;

fn with(pointer: &str, new: Value) -> String {
    let mut value = serde_json::from_str(SMALL).unwrap();
    crate::json::pointer_set(&mut value, pointer, new).unwrap();
    let bytes = serde_json::to_vec_pretty(&value).unwrap();
    match parse(&bytes, Path::new("capability.json")) {
        Ok(_) => "ok".into(),
        Err(error) => format!("{}: {} ({})", error.pointer.unwrap(), error.message, error.hint.unwrap_or_default()),
    }
}

#[test]
fn what_is_missing_has_its_default() {
    let loaded = parse(SMALL.as_bytes(), Path::new("x/capability.json")).unwrap();
    assert_eq!(loaded.value.reliability, Reliability { uptime: 0.99, p95_latency_ms: 2000 });
    assert_eq!(loaded.value.cost, Cost { per_call: 0.0, per_token: 0.0, currency: "USD".into() });
    assert!(loaded.value.annotations.destructive && !loaded.value.annotations.idempotent);
    assert_eq!(loaded.sha256, sha256(SMALL.as_bytes()));
    assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn each_rule_is_kept() {
    let id_hint = "1 to 64 letters, digits, `_` and `-`, beginning with a letter or `_`";
    let cases = [
        ("/id", json!("1a"), format!("/id: `1a` is not an id ({id_hint})")),
        ("/id", json!("a".repeat(65)), format!("/id: `{}` is not an id ({id_hint})", "a".repeat(65))),
        ("/provides", json!("a b"), format!("/provides: `a b` is not a public name ({id_hint})")),
        ("/schema", json!(2), "/schema: schema 2 is newer than this toolcell, which reads 1 (upgrade toolcell)".into()),
        (
            "/version",
            json!("1.2"),
            "/version: `1.2` is not a SemVer version: unexpected end of input while parsing minor version number (write it as 1.2.0)".into(),
        ),
        ("/cost/per_call", json!(-0.5), "/cost/per_call: is negative (a cost is 0 or more)".into()),
        ("/cost/per_token", json!(-1), "/cost/per_token: is negative (a cost is 0 or more)".into()),
        (
            "/reliability/uptime",
            json!(99.95),
            "/reliability/uptime: 99.95 is not a share (write 0 to 1, for example 0.9995)".into(),
        ),
        (
            "/input_schema",
            json!({"type": "array"}),
            "/input_schema: is not the schema of an object (the input is always an object: add \"type\": \"object\")".into(),
        ),
        ("/output_schema", json!(3), "/output_schema: is not a JSON Schema (write an object, or leave it out)".into()),
        ("/output_schema", json!(null), "ok".into()),
        ("/examples", json!([{"output": 1}]), "/examples/0: missing field `input` (add it)".into()),
        ("/from_the_future", json!(1), "ok".into()),
    ];
    for (pointer, value, want) in cases {
        assert_eq!(with(pointer, value), want);
    }
}

#[test]
fn the_place_of_an_error_is_named() {
    let text = "{\"schema\": 1, \"id\": \"a\",\n \"version\": \"1.0.0\",\n \"cost\": {\"per_call\": -1}}";
    let error = parse(text.as_bytes(), Path::new("capability.json")).unwrap_err();
    assert_eq!(error.line, Some(3));
    assert!(error.to_string().starts_with("capability.json:3:"), "{error}");
    assert!(error.to_string().ends_with(": /cost/per_call: is negative"), "{error}");
    let error = parse(b"{\"id\": \"a\",\n\"id\": \"b\"}", Path::new("c.json")).unwrap_err();
    assert_eq!(error.to_string(), "c.json:2:1: duplicate key `id` at /id");
}

#[test]
fn the_lists_of_known_fields_are_the_types_fields() {
    let mut full = serde_json::to_value(parse(SMALL.as_bytes(), Path::new("c")).unwrap().value).unwrap();
    full["examples"] = serde_json::to_value(vec![Example { input: json!({}), output: Some(json!(1)) }]).unwrap();
    assert_eq!(full.as_object().unwrap().len(), FIELDS.len());
    for (name, fields) in INNER {
        assert_eq!(full[name].as_object().unwrap().len(), fields.len(), "{name}");
    }
    assert_eq!(unknown_fields(&serde_json::to_vec(&full).unwrap()), Vec::<String>::new());
    full["x/y"] = json!(1);
    full["cost"]["per_year"] = json!(1);
    full["examples"][0]["note"] = json!("");
    let unknown = unknown_fields(&serde_json::to_vec(&full).unwrap());
    assert_eq!(unknown, ["/x~1y", "/cost/per_year", "/examples/0/note"]);
}

#[test]
fn an_example_without_an_output_is_written_without_one() {
    let example = |text: &str| serde_json::from_str::<Example>(text).unwrap();
    let written = |one: &Example| serde_json::to_string(one).unwrap();
    for text in ["{\"input\":{}}", "{\"input\":{},\"output\":null}", "{\"input\":1,\"output\":2}"] {
        assert_eq!(written(&example(text)), text);
    }
}
