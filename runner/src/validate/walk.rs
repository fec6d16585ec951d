//! Every schema within a schema: dialects, references, patterns.

use super::{SchemaError, draft_named, message};
use crate::file_error::escape;
use crate::json::pointer_get;
use serde_json::Value;
use std::collections::HashMap;

/// The most schemas in a row that one value is checked by. An instance has up to 127 levels, and each of them may go
/// through such a chain.
const MAX_CHAIN: usize = 64;

/// The way out of a reference to nowhere.
pub(super) const NOWHERE_HINT: &str = "correct the $ref, or add what it names under $defs";

/// Calls `see(pointer, schema, resource)` for the schema and every one within; `resource` is the schema with the
/// nearest `$id`.
pub(super) fn each<'a>(schema: &'a Value, see: &mut impl FnMut(&str, &'a Value, &'a Value)) {
    step(schema, schema, &mut String::new(), see);
}

fn step<'a>(schema: &'a Value, resource: &'a Value, at: &mut String, see: &mut impl FnMut(&str, &'a Value, &'a Value)) {
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
                "additionalItems"
                | "additionalProperties"
                | "contains"
                | "contentSchema"
                | "else"
                | "if"
                | "items"
                | "not"
                | "propertyNames"
                | "then"
                | "unevaluatedItems"
                | "unevaluatedProperties",
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
/// in a definition nobody uses, and chains that would exhaust the stack.
pub(super) fn check(schema: &Value) -> Result<(), SchemaError> {
    let index = Index::of(schema);
    let mut found = Ok(());
    each(schema, &mut |at, inner, resource| {
        if found.is_ok() {
            found = check_one(at, inner, resource, &index);
        }
    });
    found.and_then(|()| check_chains(schema, &index))
}

fn check_one(at: &str, schema: &Value, resource: &Value, index: &Index<'_>) -> Result<(), SchemaError> {
    if let Some(named) = schema.get("$schema").filter(|_| !at.is_empty()) {
        draft_named(named, at)?;
    }
    for keyword in ["$ref", "$dynamicRef"] {
        let Some(reference) = schema.get(keyword).and_then(Value::as_str) else { continue };
        let Some(fragment) = reference.strip_prefix('#') else { continue };
        let there = if fragment.is_empty() || fragment.starts_with('/') {
            pointer_get(resource, &percent_decoded(fragment)).is_some()
        } else {
            index.anchors.contains_key(percent_decoded(fragment).as_str())
        };
        if !there {
            return Err(SchemaError::new(
                format!("{at}/{keyword}"),
                format!("{keyword} leads nowhere: {}", message::cut(reference)),
                NOWHERE_HINT,
            ));
        }
    }
    Ok(())
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

/// What references within the document can name.
pub(super) struct Index<'a> {
    root: &'a Value,
    resources: Vec<(&'a str, &'a Value)>,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
}

impl<'a> Index<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        let mut index = Self { root, resources: Vec::new(), anchors: HashMap::new() };
        each(root, &mut |_, schema, _| {
            let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
            let id = text("$id");
            if let Some(id) = id.map(without_fragment).filter(|id| !id.is_empty()) {
                index.resources.push((id, schema));
            }
            let anchors =
                [text("$anchor"), text("$dynamicAnchor"), id.and_then(|id| id.split_once('#')).map(|id| id.1)];
            for anchor in anchors.into_iter().flatten().filter(|anchor| !anchor.is_empty()) {
                index.anchors.entry(anchor).or_default().push(schema);
            }
        });
        index
    }

    /// The schemas a reference may mean. Several, where the base is not followed: a secret too many is better than
    /// one too few.
    pub(super) fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = percent_decoded(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(fragment.as_str()).cloned().unwrap_or_default();
        }
        let named = self.resources.iter().filter(|(id, _)| resource.is_empty() || same_resource(id, resource));
        let whole = Some(self.root).filter(|_| resource.is_empty());
        let schemas = whole.into_iter().chain(named.map(|(_, schema)| *schema));
        schemas.filter_map(|schema| pointer_get(schema, &fragment)).collect()
    }
}

/// Refuses schemas that lead on and on to others for one and the same value: each is a level of the stack.
fn check_chains(schema: &Value, index: &Index<'_>) -> Result<(), SchemaError> {
    let mut chains = Chains { index, lengths: HashMap::new() };
    let mut found = Ok(());
    each(schema, &mut |at, inner, _| {
        if found.is_ok() && chains.length(inner, 0).is_none() {
            let fact =
                format!("too many schemas in a row for one value (more than {MAX_CHAIN}), by $ref, allOf and the like");
            found = Err(SchemaError::new(at, fact, "merge some of them"));
        }
    });
    found
}

struct Chains<'i, 'a> {
    index: &'i Index<'a>,
    lengths: HashMap<*const Value, usize>,
}

impl<'a> Chains<'_, 'a> {
    /// How many schemas follow in a row, `before` having led here; None: too many.
    fn length(&mut self, schema: &'a Value, before: usize) -> Option<usize> {
        if let Some(known) = self.lengths.get(&std::ptr::from_ref(schema)) {
            return Some(*known).filter(|known| before + known <= MAX_CHAIN);
        }
        if before > MAX_CHAIN {
            return None;
        }
        let Value::Object(map) = schema else { return Some(0) };
        // A chain that comes back here ends here: the crate knows such loops.
        self.lengths.insert(schema, 0);
        let mut longest = 0;
        for (keyword, value) in map {
            let next: Vec<&'a Value> = match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef", Value::String(reference)) => self.index.targets(reference),
                ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => list.iter().collect(),
                ("dependentSchemas" | "dependencies", Value::Object(map)) => map.values().collect(),
                ("not" | "if" | "then" | "else", inner) => vec![inner],
                _ => continue,
            };
            for inner in next {
                longest = longest.max(1 + self.length(inner, before + 1)?);
            }
        }
        self.lengths.insert(schema, longest);
        Some(longest)
    }
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
