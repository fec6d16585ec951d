//! The caller's input: parsed strictly, set, checked against the schema, and its sensitive values withheld.

use super::Input;
use crate::call::Note;
use crate::envelope::WarningCode;
use crate::json;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::validate::Validator;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The input on its way into the Call.
pub struct Taken {
    /// The document.
    pub value: Value,
    /// What was done to it.
    pub notes: Vec<Note>,
    sensitive: Vec<String>,
}

/// Reads and checks the input.
pub fn take(input: &Input, schema: &Value, contract: &Path) -> Result<Taken, Refusal> {
    let mut value = match &input.bytes {
        None => Value::Object(serde_json::Map::new()),
        Some(bytes) => json::value(bytes).map_err(not_json)?,
    };
    for (pointer, text) in &input.set {
        // Whatever is not JSON is meant as a string: --set /code=SPY.
        let new = json::value(text.as_bytes()).unwrap_or_else(|_| Value::String(text.clone()));
        json::pointer_set(&mut value, pointer, new).map_err(|error| {
            let way = match &error {
                json::PointerError::NoArray { at, token, .. } => format!(
                    "set the whole of it: --set '{at}=[{text:?}]' for an array, --set '{at}={{{token:?}: {text:?}}}' for an object"
                ),
                _ => "a JSON Pointer begins with `/` and names a place in an object or array, such as --set /code=SPY"
                    .to_owned(),
            };
            Refusal::new(Reason::Usage, format!("--set {pointer}: {error}")).hint(way)
        })?;
    }
    check(&value, schema, contract, &[])?;
    let bom = input.bytes.as_deref().is_some_and(json::has_bom);
    let note =
        Note { code: WarningCode::BomDropped, message: "one byte-order mark before the input was dropped".into() };
    Ok(Taken { value, notes: bom.then_some(note).into_iter().collect(), sensitive: Vec::new() })
}

/// Checks an input against the schema. `given_away`: pointers at which the tool's own path already stands for the
/// caller's, which the schema was not written for.
pub fn check(value: &Value, schema: &Value, contract: &Path, given_away: &[String]) -> Result<(), Refusal> {
    let validator = Validator::compile(schema)
        .map_err(|error| super::broken(super::schema_error(contract, "/input_schema", error)))?;
    let mut violations = validator.violations(value);
    if !given_away.is_empty() {
        let paths: Vec<String> = given_away.iter().flat_map(|pattern| expand(value, pattern)).collect();
        violations.retain(|violation| !paths.contains(&violation.instance));
    }
    if violations.is_empty() { Ok(()) } else { Err(breaks(&violations, contract)) }
}

fn not_json(error: json::JsonError) -> Refusal {
    if error.kind == json::JsonErrorKind::TooMany {
        return Refusal::new(Reason::Usage, format!("the input holds {}", error.message))
            .hint("pass large data as a file the tool is given")
            .with_details(json!({"offset": error.offset}));
    }
    let refusal =
        Refusal::new(Reason::InvalidInputJson, format!("the input is not one JSON value: {}", error.placed()))
            .with_details(json!({"offset": error.offset}));
    match error.hint {
        Some(hint) => refusal.hint(hint),
        None => refusal.hint("send one JSON document on standard input, or name a file with --input"),
    }
}

fn breaks(violations: &[crate::validate::Violation], contract: &Path) -> Refusal {
    // The folder's name is a reference to the capability.
    let name = contract.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let place = |pointer: &str| if pointer.is_empty() { "the input".to_owned() } else { pointer.to_owned() };
    let first = &violations[0];
    let more = match violations.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let list: Vec<Value> = violations
        .iter()
        .map(|one| json!({"instance": one.instance, "schema": one.schema, "found": one.found, "message": one.message}))
        .collect();
    Refusal::new(Reason::InputSchema, format!("{}: {}{more}", place(&first.instance), first.message))
        .hint(format!("`toolcell show {name}` prints the input schema; details.violations lists every violation"))
        .with_details(json!({"violations": list}))
}

impl Taken {
    /// Takes the values at the pointers (with `*` for every item) out of the document, leaving a placeholder.
    pub fn withhold(&mut self, pointers: &[String]) -> BTreeMap<String, Value> {
        let mut held = BTreeMap::new();
        for pattern in pointers {
            for pointer in expand(&self.value, pattern) {
                if let Some(place) = self.value.pointer_mut(&pointer) {
                    held.insert(pointer.clone(), std::mem::replace(place, Value::String(placeholder(&pointer))));
                }
            }
        }
        self.sensitive = pointers.to_vec();
        held
    }

    /// The pointers that were withheld, as the schema names them.
    pub fn sensitive_pointers(&self) -> &[String] {
        &self.sensitive
    }
}

/// What stands for a withheld value.
fn placeholder(pointer: &str) -> String {
    format!("[sensitive {pointer}]")
}

/// The pointers in `value` that a pattern with `*` stands for.
pub fn expand(value: &Value, pattern: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for token in pattern.split('/').skip(1) {
        let step = |at: String| -> Vec<String> {
            match (token, value.pointer(&at)) {
                ("*", Some(Value::Array(items))) => (0..items.len()).map(|index| format!("{at}/{index}")).collect(),
                ("*", Some(Value::Object(members))) => {
                    members.keys().map(|key| format!("{at}/{}", crate::file_error::escape(key))).collect()
                }
                (_, Some(_)) => vec![format!("{at}/{token}")],
                (_, None) => Vec::new(),
            }
        };
        found = found.into_iter().flat_map(step).collect();
    }
    found.into_iter().filter(|pointer| value.pointer(pointer).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> Input {
        Input { bytes: Some(text.as_bytes().to_vec()), set: Vec::new() }
    }

    fn schema() -> Value {
        json!({"type": "object", "properties": {"code": {"type": "string"}, "n": {"type": "integer", "maximum": 9}},
               "required": ["code"], "additionalProperties": false})
    }

    fn refused(input: &Input) -> Refusal {
        take(input, &schema(), Path::new("capability.json")).err().unwrap()
    }

    #[test]
    fn every_violation_is_listed_with_both_pointers() {
        let refusal = refused(&input(r#"{"code": 1, "n": 10, "x": 1}"#));
        assert_eq!(refusal.reason, Reason::InputSchema);
        let list = refusal.details["violations"].as_array().unwrap().clone();
        assert_eq!(list.len(), 3, "{list:?}");
        assert!(list.iter().any(|one| one["instance"] == "/n" && one["schema"] == "/properties/n/maximum"));
    }

    #[test]
    fn broken_json_says_where_and_set_overrides() {
        let refusal = refused(&input(r#"{"code": NaN}"#));
        assert_eq!(refusal.reason, Reason::InvalidInputJson);
        assert!(refusal.message.contains("byte 9"), "{}", refusal.message);
        let mut good = input(r#"{"code": 1}"#);
        good.set = vec![("/code".into(), "SPY".into()), ("/n".into(), "3".into())];
        let taken = take(&good, &schema(), Path::new("c")).ok().unwrap();
        assert_eq!(taken.value, json!({"code": "SPY", "n": 3}));
    }

    #[test]
    fn withheld_values_leave_a_placeholder_and_come_back_by_pointer() {
        let mut taken =
            Taken { value: json!({"a": [{"k": "s1"}, {"k": "s2"}], "b": 1}), notes: Vec::new(), sensitive: Vec::new() };
        let held = taken.withhold(&["/a/*/k".to_owned(), "/absent".to_owned()]);
        assert_eq!(held.len(), 2);
        assert_eq!(held["/a/1/k"], "s2");
        assert!(!taken.value.to_string().contains("s1"));
    }
}
