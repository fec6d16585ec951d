use super::*;
use crate::json;
use serde_json::json;

fn value(text: &str) -> Value {
    json::value(text.as_bytes()).unwrap()
}

fn compile(schema: &Value) -> Validator {
    Validator::compile(schema).unwrap()
}

fn refused(schema: &Value) -> SchemaError {
    Validator::compile(schema).unwrap_err()
}

fn messages(schema: &Value, instance: &Value) -> Vec<String> {
    compile(schema)
        .violations(instance)
        .into_iter()
        .map(|v| format!("{}|{}|{}", v.instance, v.schema, v.message))
        .collect()
}

#[test]
fn numbers_are_exact() {
    for (schema, instance, ok) in [
        (r#"{"multipleOf": 0.1}"#, "10.1", true),
        (r#"{"multipleOf": 2}"#, "9007199254740993", false),
        (r#"{"type": "integer"}"#, "1.0", true),
        (r#"{"maximum": 9007199254740992}"#, "9007199254740993", false),
        (r#"{"type": "integer"}"#, "18446744073709551616", true),
        (r#"{"type": "integer"}"#, "18446744073709551616.5", false),
        (r#"{"maximum": 18446744073709551615}"#, "18446744073709551616", false),
        (r#"{"const": 18446744073709551616}"#, "18446744073709551617", false),
    ] {
        let validator = compile(&value(schema));
        assert_eq!(validator.violations(&value(instance)).is_empty(), ok, "{schema} {instance}");
        assert_eq!(validator.is_valid(&value(instance)), ok, "{schema} {instance}");
    }
}

#[test]
fn huge_exponents_take_no_time() {
    for schema in [r#"{"type": "integer"}"#, r#"{"multipleOf": 3}"#, r#"{"maximum": 5}"#, r#"{"enum": [1, 2]}"#] {
        for instance in ["1e999999999", "1e-999999999", "1e99999999999999999999"] {
            let start = std::time::Instant::now();
            compile(&value(schema)).violations(&value(instance));
            assert!(start.elapsed().as_secs() < 2, "{schema} {instance}: {:?}", start.elapsed());
        }
    }
}

#[test]
fn formats_are_asserted() {
    for dialect in ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"] {
        let schema = json!({"$schema": dialect, "type": "string", "format": "date-time"});
        for (instance, ok) in [
            ("not a date", false),
            ("2024-02-30T00:00:00Z", false),
            ("2024-01-01T00:00:00", false),
            ("2024-06-30T23:59:60Z", true),
        ] {
            assert_eq!(compile(&schema).violations(&json!(instance)).is_empty(), ok, "{dialect} {instance}");
        }
    }
    assert_eq!(
        messages(&json!({"properties": {"a": {"format": "date"}}}), &json!({"a": "x"})),
        [r#"/a|/properties/a/format|"x" is not a "date""#]
    );
}

#[test]
fn external_references_are_refused() {
    for uri in [
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "http://10.255.255.1/slow.json#/x",
        "other.json",
        "../up.json",
        "/etc/passwd",
        "urn:x:y",
    ] {
        for keyword in ["$ref", "$dynamicRef"] {
            let error = refused(&json!({"properties": {"a": {keyword: uri}}}));
            assert_eq!(error.message, format!("external $ref not allowed: {uri}"));
            assert_eq!(error.pointer, format!("/properties/a/{keyword}"));
            assert_eq!(error.to_string(), format!("/properties/a/{keyword}: external $ref not allowed: {uri}"));
            assert_eq!(error.hint.as_deref(), Some("copy that schema under $defs and refer to it by #/$defs/<name>"));
        }
        let unused = refused(&json!({"$defs": {"never": {"items": {"$ref": uri}}}}));
        assert_eq!(unused.pointer, "/$defs/never/items/$ref", "{unused}");
    }
}

#[test]
fn a_word_that_looks_like_a_reference_is_none() {
    compile(&json!({"properties": {"$ref": {"type": "string"}}, "const": {"$ref": "http://x/"}}));
}

#[test]
fn references_within_the_document_work() {
    let schema = json!({
        "$id": "https://example.com/root.json",
        "$defs": {"a": {"type": "string"}, "b": {"$anchor": "b", "type": "number"},
                  "c": {"$id": "inner.json", "type": "null"}},
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#b"}, "c": {"$ref": "inner.json"},
                       "d": {"$ref": "https://example.com/root.json#/$defs/a"},
                       "m": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}
    });
    let bad = json!({"a": 1, "b": "", "c": 1, "d": 1, "m": 1});
    let mut found: Vec<_> = compile(&schema).violations(&bad).into_iter().map(|v| v.instance).collect();
    found.dedup();
    assert_eq!(found, ["/a", "/b", "/c", "/d", "/m"]);
}

#[test]
fn a_reference_to_nowhere_is_refused() {
    let error = refused(&json!({"items": {"$ref": "#/$defs/gone"}}));
    assert_eq!(error.to_string(), "/items/$ref: $ref leads nowhere: #/$defs/gone");
    assert_eq!(error.hint.as_deref(), Some("correct the $ref, or add what it names under $defs"));
    let error = refused(&json!({"$defs": {"unused": {"$ref": "#/x"}}}));
    assert_eq!(error.to_string(), "/$defs/unused/$ref: $ref leads nowhere: #/x");
    for place in ["properties", "$defs"] {
        let error = refused(&json!({place: {"a": {"$ref": "#gone"}}}));
        assert_eq!(error.to_string(), format!("/{place}/a/$ref: $ref leads nowhere: #gone"));
    }
}

fn chain(length: usize, link: impl Fn(String) -> Value) -> Value {
    let mut defs: serde_json::Map<_, _> =
        (0..length).map(|at| (format!("d{at}"), link(format!("#/$defs/d{}", at + 1)))).collect();
    defs.insert(format!("d{length}"), json!({"type": "string"}));
    json!({"$ref": "#/$defs/d0", "$defs": defs})
}

#[test]
fn references_that_only_lead_to_each_other_end() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"$dynamicAnchor": "a", "$dynamicRef": "#a"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
    ] {
        assert_eq!(compile(&schema).violations(&json!(1)), []);
    }
}

#[test]
fn long_chains_do_not_exhaust_the_stack() {
    let links: [fn(String) -> Value; 2] =
        [|next| json!({"$ref": next}), |next| json!({"allOf": [{"$ref": next}, {"minimum": 0}]})];
    for link in links {
        let error = refused(&chain(20_000, link));
        assert_eq!(
            error.message,
            "too many schemas in a row for one value (more than 64), by $ref, allOf and the like"
        );
        assert_eq!(error.hint.as_deref(), Some("merge some of them"));
        // The longest chain, on every level of the deepest instance.
        let mut schema = chain(31, link);
        schema["$defs"]["d31"] = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
        let deepest = (0..json::MAX_DEPTH).fold(json!(1), |inner, _| json!({"a": inner}));
        let found = compile(&schema).violations(&deepest);
        assert_eq!((found.len(), found[0].found), (1, "number"));
    }
    compile(&chain(2_000, |next| json!({"properties": {"a": {"$ref": next}}})));
}

#[test]
fn a_pattern_that_does_not_compile_is_refused() {
    for place in ["properties", "$defs"] {
        let error = refused(&json!({place: {"a": {"pattern": "(["}}}));
        assert_eq!(error.to_string(), format!("/{place}/a/pattern: pattern \"([\" does not compile"));
        assert_eq!(error.hint.as_deref(), Some("write an ECMA-262 regular expression"));
        let error = refused(&json!({place: {"a": {"patternProperties": {"([": {}}}}}));
        assert_eq!(error.message, "pattern \"([\" does not compile", "{error}");
    }
}

#[test]
fn two_dialects_are_known() {
    for uri in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/draft/2020-12/schema",
    ] {
        let schema = json!({"$schema": uri, "prefixItems": [{"type": "string"}]});
        assert!(!compile(&schema).is_valid(&json!([1])), "{uri}");
    }
    for uri in [
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-07/schema",
    ] {
        let schema = json!({"$schema": uri, "items": [{"type": "string"}], "prefixItems": [{"type": "null"}]});
        assert!(!compile(&schema).is_valid(&json!([1])) && compile(&schema).is_valid(&json!(["a"])), "{uri}");
    }
    for named in [json!("http://json-schema.org/draft-04/schema#"), json!("https://example.com/own"), json!(7)] {
        let error = refused(&json!({"$schema": named}));
        assert_eq!(error.to_string(), format!("/$schema: dialect {named} is not supported"));
        assert_eq!(
            error.hint.as_deref(),
            Some("use https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#")
        );
    }
}

#[test]
fn a_schema_that_breaks_its_dialect_is_refused() {
    let error = refused(&json!({"properties": {"a": {"type": "strnig"}}}));
    assert_eq!(error.pointer, "/properties/a/type");
    assert!(error.message.contains("\"strnig\""), "{error}");
    assert!(Validator::compile(&json!(7)).is_err());
    compile(&json!(true));
}

#[test]
fn every_violation_is_reported_up_to_the_limit() {
    let schema = json!({"required": ["z"], "properties": {"a": {"type": "string"}, "b/c": {"items": {"minimum": 2}}}});
    let found = compile(&schema).violations(&json!({"a": 1, "b/c": [1, 3, 0]}));
    let mut shown: Vec<_> =
        found.iter().map(|v| (v.instance.as_str(), v.schema.as_str(), v.found, v.message.as_str())).collect();
    shown.sort_unstable();
    assert_eq!(
        shown,
        [
            ("", "/required", "object", "\"z\" is a required property"),
            ("/a", "/properties/a/type", "number", "1 is not of type \"string\""),
            ("/b~1c/0", "/properties/b~1c/items/minimum", "number", "1 is less than the minimum of 2"),
            ("/b~1c/2", "/properties/b~1c/items/minimum", "number", "0 is less than the minimum of 2"),
        ]
    );
    let many = json!(vec![1; 1000]);
    assert_eq!(compile(&json!({"items": {"type": "string"}})).violations(&many).len(), MAX_VIOLATIONS);
}

#[test]
fn long_values_are_cut() {
    let long = "x".repeat(10_000);
    let found = messages(&json!({"type": "number"}), &json!(long));
    assert_eq!(found, [format!("|/type|\"{}… is not of type \"number\"", "x".repeat(119))]);
    for schema in [json!({"additionalProperties": false}), json!({"propertyNames": {"maxLength": 5}})] {
        let names = messages(&schema, &json!({ long.as_str(): 1 }));
        assert!(names[0].len() < 700, "{names:?}");
    }
    let items = messages(&json!({"prefixItems": [true], "unevaluatedItems": false}), &json!([1, long]));
    assert!(items[0].len() < 200, "{items:?}");
}

#[test]
fn secrets_are_found() {
    let schema = json!({
        "properties": {
            "plain": {"type": "string"},
            "p/w": {"writeOnly": true},
            "auth": {"properties": {"key": {"x-sensitive": true}, "off": {"writeOnly": false}}},
            "list": {"items": {"$ref": "#/$defs/login"}},
            "pair": {"prefixItems": [true, {"x-sensitive": true}]},
            "some": {"anyOf": [{"properties": {"a": {"writeOnly": true}}}, {"allOf": [{"$ref": "#tok"}]}]},
            "map": {"additionalProperties": {"writeOnly": true}}
        },
        "$defs": {"login": {"properties": {"pin": {"writeOnly": true}, "more": {"$ref": "#/$defs/login"}}},
                  "tok": {"$anchor": "tok", "oneOf": [{"properties": {"t": {"x-sensitive": true}}}]}}
    });
    assert_eq!(secrets_in(&schema), ["/auth/key", "/list/*/pin", "/map/*", "/pair/1", "/p~1w", "/some/a", "/some/t"]);
    assert_eq!(secrets_in(&json!({"writeOnly": true})), [""]);
    assert!(secrets_in(&json!({"properties": {"writeOnly": {"const": true}}})).is_empty());
}

#[test]
fn secrets_are_never_quoted() {
    let schema = json!({
        "type": "object",
        "properties": {
            "pw": {"writeOnly": true, "type": "number", "const": 7, "enum": [7, 8]},
            "deep": {"x-sensitive": true, "properties": {"a": {"type": "number"}}},
            "next": {"$ref": "#"},
            "list": {"prefixItems": [{"x-sensitive": true}], "items": false, "maxItems": 0, "contains": {"type": "null"}}
        },
        "maxProperties": 1,
        "not": {"required": ["pw"]},
        "anyOf": [{"required": ["gone"]}, false]
    });
    let inner = json!({"pw": "hunter2", "deep": {"a": "hunter2"}, "list": ["hunter2", "shown"]});
    let mut outer = inner.clone();
    outer["next"] = json!({"pw": 1, "next": inner});
    let found = compile(&schema).violations(&outer);
    assert!(found.len() > 10, "{found:#?}");
    assert!(!format!("{found:?}").contains("hunter2"), "{found:#?}");
    let at_pw: Vec<_> = found.iter().filter(|v| v.instance == "/pw" && v.schema.ends_with("/type")).collect();
    assert_eq!(at_pw[0].message, "breaks `type` (the value is not shown: it is marked secret)");
    assert!(at_pw.len() == 1 && at_pw[0].found == "string");
    let text: String = found.iter().map(|v| v.message.as_str()).collect();
    assert!(text.contains("the object has more than 1 property"), "{text}");
}

#[test]
fn many_ways_to_one_secret_take_no_time() {
    let mut defs = serde_json::Map::new();
    for index in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", index + 1)});
        defs.insert(format!("d{index}"), json!({"properties": {"a": next, "b": next}}));
    }
    defs.insert("d60".into(), json!({"writeOnly": true, "type": "number"}));
    let schema = json!({"$ref": "#/$defs/d0", "$defs": defs});
    let start = std::time::Instant::now();
    assert!(!Secrets::of(&schema).is_empty() && Secrets::of(&schema).covers("/x", "/x"));
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
