//! Which values a schema marks as secret (`writeOnly` or `x-sensitive`).

use super::walk;
use crate::file_error::escape;
use serde_json::Value;
use std::collections::BTreeSet;

/// The most schemas that are visited; references can multiply them without end.
const MAX_VISITS: usize = 20_000;
/// The deepest nesting of schemas, through references.
const MAX_NESTING: usize = 256;

/// JSON Pointers of the properties that are marked `writeOnly` or `x-sensitive`; `*` stands for any item, and for any
/// property whose name the schema leaves open. A schema that contains itself is followed once.
pub fn secrets_in(schema: &Value) -> Vec<String> {
    let secrets = Secrets::of(schema);
    secrets.pointers.into_iter().map(|tokens| tokens.iter().map(|token| format!("/{token}")).collect()).collect()
}

/// Whether secrets may stand where no pointer of [`secrets_in`] leads: below a schema that contains itself, or beyond
/// what is looked through.
pub fn secrets_escape(schema: &Value) -> bool {
    let secrets = Secrets::of(schema);
    !secrets.is_empty() && (secrets.recursive || secrets.partial)
}

/// What must not be quoted.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets {
    /// Escaped tokens.
    pointers: BTreeSet<Vec<String>>,
    /// Where marked schemas stand in the document.
    marked: BTreeSet<String>,
    /// A schema contains itself: secrets may stand deeper than `pointers` say.
    recursive: bool,
    /// Not everything was visited.
    partial: bool,
}

impl Secrets {
    pub(super) fn of(schema: &Value) -> Self {
        let mut secrets = Self::default();
        walk::each(schema, &mut |at, schema, _| {
            if is_marked(schema) {
                secrets.marked.insert(at.to_owned());
            }
        });
        if !secrets.marked.is_empty() || has_mark(schema) {
            let mut search = Search {
                index: walk::Index::of(schema),
                found: secrets,
                path: Vec::new(),
                open: Vec::new(),
                visits: 0,
            };
            search.visit(schema);
            secrets = search.found;
        }
        secrets
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pointers.is_empty() && self.marked.is_empty() && !self.partial
    }

    /// Whether the value at `instance`, found by the keyword at `schema`, is a secret or part of one.
    pub(super) fn covers(&self, instance: &str, schema: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let tokens: Vec<&str> = instance.split('/').skip(1).collect();
        let below = |secret: &Vec<String>| {
            secret.len() <= tokens.len() && secret.iter().zip(&tokens).all(|(want, is)| want == "*" || want == is)
        };
        let same_name = |secret: &Vec<String>| match secret.iter().rfind(|token| *token != "*") {
            Some(name) => tokens.contains(&name.as_str()),
            None => true,
        };
        let by_schema = |marked: &String| {
            schema.strip_prefix(marked.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.partial
            || self.pointers.iter().any(below)
            || self.recursive && self.pointers.iter().any(same_name)
            || self.marked.iter().any(by_schema)
    }
}

fn is_marked(schema: &Value) -> bool {
    ["writeOnly", "x-sensitive"].iter().any(|mark| schema.get(mark) == Some(&Value::Bool(true)))
}

/// Whether a mark stands anywhere, also where only a `$ref` leads.
fn has_mark(value: &Value) -> bool {
    match value {
        Value::Object(map) => is_marked(value) || map.values().any(has_mark),
        Value::Array(items) => items.iter().any(has_mark),
        _ => false,
    }
}

struct Search<'a> {
    index: walk::Index<'a>,
    found: Secrets,
    path: Vec<String>,
    open: Vec<*const Value>,
    visits: usize,
}

impl<'a> Search<'a> {
    fn visit(&mut self, schema: &'a Value) {
        if self.open.iter().any(|open| std::ptr::eq(*open, schema)) {
            self.found.recursive = true;
            return;
        }
        self.visits += 1;
        if self.visits > MAX_VISITS || self.open.len() > MAX_NESTING {
            self.found.partial = true;
            return;
        }
        if is_marked(schema) {
            self.found.pointers.insert(self.path.clone());
        }
        let Value::Object(map) = schema else { return };
        self.open.push(schema);
        for (keyword, value) in map {
            self.keyword(keyword, value);
        }
        self.open.pop();
    }

    fn keyword(&mut self, keyword: &str, value: &'a Value) {
        match (keyword, value) {
            ("properties", Value::Object(map)) => {
                map.iter().for_each(|(name, schema)| self.below(escape(name), schema))
            }
            ("patternProperties", Value::Object(map)) => map.values().for_each(|schema| self.below("*".into(), schema)),
            ("prefixItems" | "items", Value::Array(list)) => {
                list.iter().enumerate().for_each(|(index, schema)| self.below(index.to_string(), schema));
            }
            (
                "items"
                | "additionalItems"
                | "contains"
                | "unevaluatedItems"
                | "additionalProperties"
                | "unevaluatedProperties",
                schema,
            ) => self.below("*".into(), schema),
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => list.iter().for_each(|schema| self.visit(schema)),
            ("if" | "then" | "else", schema) => self.visit(schema),
            ("dependentSchemas" | "dependencies", Value::Object(map)) => {
                map.values().for_each(|schema| self.visit(schema));
            }
            ("$ref" | "$dynamicRef", Value::String(reference)) => {
                for schema in self.index.targets(reference) {
                    self.visit(schema);
                }
            }
            _ => {}
        }
    }

    fn below(&mut self, token: String, schema: &'a Value) {
        self.path.push(token);
        self.visit(schema);
        self.path.pop();
    }
}
