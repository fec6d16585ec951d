//! docs/envelope.md holds every field and every warning of the envelope. `UPDATE_DOCS=1` rewrites its tables.

mod tables;

use serde_json::Value;
use std::fmt::Write as _;

/// What a `$ref` of the schema leads to; the schema itself where there is none. Null beside it does not count.
fn followed<'a>(whole: &'a Value, schema: &'a Value) -> &'a Value {
    let some = schema["anyOf"].as_array().and_then(|all| all.iter().find(|one| one["$ref"].is_string()));
    let name = some.unwrap_or(schema)["$ref"].as_str();
    name.map_or(schema, |name| &whole["$defs"][name.rsplit('/').next().unwrap_or_default()])
}

fn may_be_null(schema: &Value) -> bool {
    let listed = |value: &Value| value.as_array().is_some_and(|all| all.iter().any(|one| *one == "null"));
    listed(&schema["type"])
        || schema["anyOf"].as_array().is_some_and(|all| all.iter().any(|one| one["type"] == "null"))
        || schema.get("type").or(schema.get("$ref")).or(schema.get("anyOf")).is_none()
}

/// The words a value is one of.
fn words(schema: &Value) -> Vec<&str> {
    let consts = schema["oneOf"].as_array().into_iter().flatten().filter_map(|one| one["const"].as_str());
    schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).chain(consts).collect()
}

fn type_of(schema: &Value, target: &Value) -> String {
    let name = |value: &Value| match value {
        Value::String(name) => Some(name.clone()),
        Value::Array(all) => all.iter().find(|one| *one != "null").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    let found = name(&schema["type"]).or_else(|| name(&target["type"]));
    let text = found.unwrap_or_else(|| if words(target).is_empty() { "any JSON" } else { "string" }.to_owned());
    if may_be_null(schema) { format!("{text} or null") } else { text }
}

fn rows(whole: &Value, schema: &Value, prefix: &str, text: &mut String) {
    for (name, field) in schema["properties"].as_object().expect("an object has properties") {
        let array = field["items"].is_object();
        let target = if array { followed(whole, &field["items"]) } else { followed(whole, field) };
        let path = format!("{prefix}{name}");
        let mut meaning = field["description"].as_str().unwrap_or_default().to_owned();
        let words = words(target);
        // The codes of warnings have a table of their own.
        if (1..=8).contains(&words.len()) {
            write!(meaning, " One of `{}`.", words.join("`, `")).unwrap();
        }
        writeln!(text, "| `{path}` | {} | {meaning} |", type_of(field, if array { field } else { target })).unwrap();
        if target["properties"].is_object() {
            rows(whole, target, &format!("{path}{}.", if array { "[]" } else { "" }), text);
        }
    }
}

fn fields(schema: &Value) -> String {
    let mut text = String::from("| field | type | meaning |\n|---|---|---|\n");
    rows(schema, schema, "", &mut text);
    text
}

fn warnings(schema: &Value) -> String {
    let mut text = String::from("| code | what happened |\n|---|---|\n");
    for one in schema["$defs"]["WarningCode"]["oneOf"].as_array().expect("a list") {
        let (code, meaning) = (one["const"].as_str().expect("a code"), one["description"].as_str().expect("words"));
        writeln!(text, "| `{code}` | {meaning} |").unwrap();
    }
    text
}

#[test]
fn the_document_is_the_code() {
    let (_, schema) = toolcell::schemas::all().into_iter().find(|(name, _)| *name == "envelope").unwrap();
    let fields = fields(&schema);
    for field in ["`error.retry_after_ms`", "`files[].sha256`", "`sandbox.layers`", "`usage.wall_ms`"] {
        assert!(fields.contains(field), "no row for {field}");
    }
    tables::are_in("envelope.md", &[("fields", fields), ("warnings", warnings(&schema))]);
}
