//! Every schema within a schema: dialects, references, patterns.

use super::{SchemaError, draft_named, message};
use crate::file_error::escape;
use crate::json::pointer_get;
use serde_json::Value;

/// Calls `see(pointer, schema, resource)` for the schema and every one within; `resource` is the schema with the
/// nearest `$id`.
pub(super) fn each<'a>(schema: &'a Value, see: &mut impl FnMut(&str, &'a Value, &'a Value)) {
    step(schema, schema, &mut String::new(), see);
}

fn step<'a>(
    schema: &'a Value,
    resource: &'a Value,
    at: &mut String,
    see: &mut impl FnMut(&str, &'a Value, &'a Value),
) {
    let named = schema.get("$id").and_then(Value::as_str).is_some_and(|id| !id.starts_with('#'));
    let resource = if named { schema } else { resource };
    see(at, schema, resource);
    let Value::Object(map) = schema else { return };
    for (keyword, value) in map {
        let length = at.len();
        at.push('/');
        at.push_str(&escape(keyword));
        match (keyword.as_str(), value) {
            (
                "$defs" | "definitions" | "dependentSchemas" | "dependencies" | "patternProperties" | "properties",
                Value::Object(members),
            ) => members.iter().for_each(|(name, inner)| under(inner, resource, at, &escape(name), see)),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(list)) => {
                list.iter().enumerate().for_each(|(index, inner)| under(inner, resource, at, &index.to_string(), see));
            }
            (
                "additionalItems" | "additionalProperties" | "contains" | "contentSchema" | "else" | "if" | "items"
                | "not" | "propertyNames" | "then" | "unevaluatedItems" | "unevaluatedProperties",
                inner,
            ) => step(inner, resource, at, see),
            _ => {}
        }
        at.truncate(length);
    }
}

fn under<'a>(
    schema: &'a Value,
    resource: &'a Value,
    at: &mut String,
    token: &str,
    see: &mut impl FnMut(&str, &'a Value, &'a Value),
) {
    let length = at.len();
    at.push('/');
    at.push_str(token);
    step(schema, resource, at, see);
    at.truncate(length);
}

/// Refuses what the crate would find only when it is used, or not at all: other dialects within, a `$ref` to nowhere
/// in a definition nobody uses, and references that only lead to each other.
pub(super) fn check(schema: &Value) -> Result<(), SchemaError> {
    let mut found = Ok(());
    each(schema, &mut |at, inner, resource| {
        if found.is_ok() {
            found = check_one(at, inner, resource);
        }
    });
    found
}

fn check_one(at: &str, schema: &Value, resource: &Value) -> Result<(), SchemaError> {
    if let Some(named) = schema.get("$schema").filter(|_| !at.is_empty()) {
        draft_named(named, at)?;
    }
    let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Ok(()) };
    if let Some(pointer) = reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
        && pointer_get(resource, &percent_decoded(pointer)).is_none()
    {
        return Err(nowhere(at, reference));
    }
    Ok(())
}

fn nowhere(at: &str, reference: &str) -> SchemaError {
    SchemaError::new(
        format!("{at}/$ref"),
        format!("$ref leads nowhere: {}", message::cut(reference)),
        "correct the $ref, or add what it names under $defs",
    )
}

/// Where the reference stands that was resolved to `uri`, and how it is written.
pub(super) fn reference_to(schema: &Value, uri: &str) -> Option<(String, String)> {
    let wanted = without_fragment(uri);
    let mut found = None;
    each(schema, &mut |at, inner, _| {
        for keyword in ["$ref", "$dynamicRef"] {
            let Some(text) = inner.get(keyword).and_then(Value::as_str) else { continue };
            let target = without_fragment(text).trim_start_matches(['.', '/']);
            if found.is_none() && !target.is_empty() && wanted.ends_with(target) {
                found = Some((format!("{at}/{keyword}"), text.to_owned()));
            }
        }
    });
    found
}

/// The patterns of definitions, which the crate compiles only when they are used.
pub(super) fn unused_patterns(schema: &Value) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    each(schema, &mut |at, inner, _| {
        if !at.contains("/$defs/") && !at.contains("/definitions/") {
            return;
        }
        if let Some(pattern) = inner.get("pattern").and_then(Value::as_str) {
            found.push((format!("{at}/pattern"), pattern));
        }
        if let Some(Value::Object(map)) = inner.get("patternProperties") {
            let place = |name: &String| format!("{at}/patternProperties/{}", escape(name));
            found.extend(map.keys().map(|name| (place(name), name.as_str())));
        }
    });
    found
}

/// The schemas a reference within the document may mean. Several, where the base is not followed: a secret too many
/// is better than one too few.
pub(super) fn targets<'a>(root: &'a Value, reference: &str) -> Vec<&'a Value> {
    let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let fragment = percent_decoded(fragment);
    let mut resources = Vec::new();
    each(root, &mut |at, schema, _| {
        let id = schema.get("$id").and_then(Value::as_str).map(without_fragment);
        let is = match id {
            Some(id) if !resource.is_empty() => same_resource(id, resource),
            Some(_) => true,
            None => at.is_empty() && resource.is_empty(),
        };
        if is || at.is_empty() && resource.is_empty() {
            resources.push(schema);
        }
    });
    if fragment.is_empty() || fragment.starts_with('/') {
        return resources.into_iter().filter_map(|schema| pointer_get(schema, &fragment)).collect();
    }
    let mut found = Vec::new();
    each(root, &mut |_, schema, _| {
        let is = |key: &str, text: &str| schema.get(key).and_then(Value::as_str) == Some(text);
        if is("$anchor", &fragment) || is("$dynamicAnchor", &fragment) || is("$id", &format!("#{fragment}")) {
            found.push(schema);
        }
    });
    found
}

/// Whether an `$id` and a reference may name one resource: equal, or the last parts of their paths are.
fn same_resource(id: &str, reference: &str) -> bool {
    fn last(uri: &str) -> &str {
        uri.rsplit(['/', ':']).next().unwrap_or(uri)
    }
    id == reference || last(id) == last(reference)
}

fn without_fragment(uri: &str) -> &str {
    uri.split_once('#').map_or(uri, |(resource, _)| resource)
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|_| first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
