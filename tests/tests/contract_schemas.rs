//! Input and output against the contract's schemas.
use serde_json::{Value, json};
use std::net::TcpListener;
use std::time::Duration;
use toolcell_tests::{Answer, Scene};

/// A scene with an echo of JSON under a contract.
fn echo(contract: &Value) -> Scene {
    let scene = Scene::new();
    scene.script("echo", "#!/bin/sh\ncat\n", "");
    scene.capability("echo", contract, "command = [\"/bin/cat\"]\nprofile = \"standard\"\n");
    scene
}

fn with_input(schema: Value) -> Scene {
    echo(&json!({"input_schema": schema}))
}

/// Instance pointer, schema pointer and type found of every violation.
fn violations(answer: &Answer) -> Vec<(String, String, String)> {
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
    let list = answer.at("/error/details/violations");
    let list = list.as_array().unwrap_or_else(|| panic!("{:#}", answer.json()));
    list.iter().map(|one| (text(one, "instance"), text(one, "schema"), text(one, "found"))).collect()
}

#[test]
fn every_violation_is_listed_with_its_places_and_the_type_found() {
    let scene = with_input(json!({
        "type": "object",
        "properties": {
            "code": {"type": "string", "pattern": "^[A-Z]+$"},
            "rows": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "a/b~c": {"const": 1},
        },
        "required": ["code", "date"],
        "additionalProperties": false,
    }));
    let answer = scene.run("echo", &json!({"code": 3, "rows": [1, -1, "x", 1.5], "a/b~c": 2, "more": true}), &[]);
    answer.expect("call_error", "input_schema");
    assert_eq!(
        (answer.at("/attempts"), answer.at("/error/origin"), answer.code),
        (json!(0), json!("caller"), Some(64))
    );
    let mut found = violations(&answer);
    found.sort();
    let row = |instance: &str, schema: &str, kind: &str| (instance.to_owned(), schema.to_owned(), kind.to_owned());
    let mut expected = vec![
        row("", "/additionalProperties", "object"),
        row("", "/required", "object"),
        row("/a~1b~0c", "/properties/a~1b~0c/const", "number"),
        row("/code", "/properties/code/type", "number"),
        row("/rows/1", "/properties/rows/items/minimum", "number"),
        row("/rows/2", "/properties/rows/items/type", "string"),
        row("/rows/3", "/properties/rows/items/type", "number"),
    ];
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn nothing_is_fetched_for_a_reference_to_elsewhere() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it can be set");
    let port = listener.local_addr().expect("an address").port();
    let references = [
        format!("http://127.0.0.1:{port}/slow.json"),
        format!("https://127.0.0.1:{port}/slow.json"),
        "file:///etc/passwd".to_owned(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "other.json".to_owned(),
        "urn:example:none".to_owned(),
    ];
    for reference in references {
        for side in ["input_schema", "output_schema"] {
            let scene = echo(&json!({side: {"type": "object", "properties": {"a": {"$ref": reference}}}}));
            let answer = scene.run("echo", &json!({"a": 1}), &[]);
            answer.expect("channel_failure", "invalid_contract");
            assert!(answer.at("/error").to_string().contains(reference.as_str()), "{:#}", answer.json());
            assert!(answer.took < Duration::from_secs(5), "{reference}: {:?}", answer.took);
            assert_eq!(answer.at("/attempts"), 0, "{side} {reference}");
        }
    }
    assert!(listener.accept().is_err(), "somebody came to fetch the schema");
}

#[test]
fn references_inside_the_document_work() {
    let scene = with_input(json!({
        "$id": "https://example.com/contract", "$defs": {"code": {"$anchor": "code", "type": "string"}},
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/code"}, "b": {"$ref": "#code"}, "c": {"$ref": "https://example.com/contract#code"},
            "meta": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        },
    }));
    scene.run("echo", &json!({"a": "x", "b": "y", "c": "z", "meta": {"type": "object"}}), &[]).output();
    let bad = scene.run("echo", &json!({"a": 1, "b": 2, "c": 3, "meta": {"type": 5}}), &[]);
    bad.expect("call_error", "input_schema");
    let places: Vec<String> = violations(&bad).into_iter().map(|(instance, ..)| instance).collect();
    for place in ["/a", "/b", "/c"] {
        assert!(places.contains(&place.to_owned()), "{places:?}");
    }
    assert!(places.iter().any(|place| place.starts_with("/meta")), "{places:?}");
}

#[test]
fn a_reference_that_leads_nowhere_or_a_pattern_that_does_not_compile_is_a_broken_contract() {
    for (schema, pointer) in [
        (json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}), "/input_schema/properties/a/$ref"),
        (
            json!({"type": "object", "properties": {"a": {"pattern": "(unclosed"}}}),
            "/input_schema/properties/a/pattern",
        ),
    ] {
        let answer = with_input(schema).run("echo", &json!({}), &[]);
        answer.expect("channel_failure", "invalid_contract");
        assert_eq!((answer.at("/error/details/pointer"), answer.at("/attempts")), (json!(pointer), json!(0)));
        assert!(answer.at("/error/details/file").to_string().contains("echo/capability.json"));
    }
}

#[test]
fn formats_are_asserted_on_both_sides() {
    let schema = json!({"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}});
    let rows = [
        ("not a date", false),
        ("2024-02-30T00:00:00Z", false),
        ("2024-01-01T00:00:00", false),
        ("2024-06-30T23:59:60Z", true),
        ("2024-02-29T00:00:00+01:00", true),
    ];
    for draft in ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"] {
        let mut schema = schema.clone();
        schema["$schema"] = json!(draft);
        let (input, output) = (echo(&json!({"input_schema": schema})), echo(&json!({"output_schema": schema})));
        for (text, good) in rows {
            let value = json!({"at": text});
            let (asked, said) = (input.run("echo", &value, &[]), output.run("echo", &value, &[]));
            if good {
                assert_eq!((asked.output(), said.output()), (value.clone(), value));
            } else {
                asked.expect("call_error", "input_schema");
                assert_eq!(violations(&asked), [("/at".into(), "/properties/at/format".into(), "string".into())]);
                said.expect("channel_failure", "output_schema");
                assert_eq!(violations(&said), [("/at".into(), "/properties/at/format".into(), "string".into())]);
            }
        }
    }
}

#[test]
fn numbers_are_judged_exactly() {
    let rows = [
        (json!({"multipleOf": 0.1}), "10.1", true),
        (json!({"multipleOf": 2}), "9007199254740993", false),
        (json!({"type": "integer"}), "1.0", true),
        (json!({"maximum": 9007199254740992_u64}), "9007199254740993", false),
        (json!({"type": "integer"}), "18446744073709551616", true),
        (json!({"maximum": 18446744073709551615_u64}), "18446744073709551616", false),
        (json!({"type": "integer"}), "1e3", true),
        (json!({"type": "integer"}), "0.5", false),
    ];
    for (schema, number, good) in rows {
        let scene = with_input(json!({"type": "object", "properties": {"n": schema}}));
        let answer = scene.toolcell(&["run", "echo"], format!("{{\"n\":{number}}}").as_bytes());
        assert_eq!(answer.status(), if good { "ok" } else { "call_error" }, "{schema} {number}: {:#}", answer.json());
    }
}

#[test]
fn output_that_breaks_its_schema_is_the_tools_fault_and_not_delivered() {
    let scene = echo(&json!({"output_schema": {"type": "object", "required": ["rows"]}}));
    assert_eq!(scene.run("echo", &json!({"rows": []}), &[]).output(), json!({"rows": []}));
    let answer = scene.run("echo", &json!({"error": "no such index"}), &[]);
    answer.expect("channel_failure", "output_schema");
    assert_eq!((answer.at("/output"), answer.at("/error/origin"), answer.code), (Value::Null, json!("tool"), Some(69)));
    assert_eq!(violations(&answer), [(String::new(), "/required".to_owned(), "object".to_owned())]);
}
