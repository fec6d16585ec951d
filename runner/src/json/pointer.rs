//! JSON Pointers (RFC 6901).

use super::MAX_DEPTH;
use serde_json::{Map, Value};

/// Why a pointer cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PointerError {
    /// Neither empty nor beginning with `/`.
    #[error("`{0}` is not a JSON Pointer: it has to be empty or begin with `/`")]
    Start(String),
    /// `~` without 0 or 1.
    #[error("`{0}` is not a JSON Pointer: `~` has to be written `~0`, and `/` within a name `~1`")]
    Escape(String),
    /// More levels than a document may have.
    #[error("the pointer has {0} levels; the most is {MAX_DEPTH}")]
    TooDeep(usize),
    /// Goes through a value that holds no others.
    #[error("`{pointer}` goes through {found} at `{at}`, which has no members")]
    Scalar {
        /// The pointer.
        pointer: String,
        /// Where the value stands.
        at: String,
        /// Its type.
        found: &'static str,
    },
    /// An item of something that is not there: an array, or an object with such a key.
    #[error("`{pointer}` names the item `{token}` of `{at}`, which is not there")]
    NoArray {
        /// The pointer.
        pointer: String,
        /// Where nothing stands.
        at: String,
        /// What looks like an index.
        token: String,
    },
    /// Not a place of the array.
    #[error("`{pointer}` names no place of the array at `{at}`, which has {len} items; `-` appends")]
    Index {
        /// The pointer.
        pointer: String,
        /// Where the array stands.
        at: String,
        /// How many items it has.
        len: usize,
    },
}

/// The decoded names of a pointer.
pub fn pointer_parse(pointer: &str) -> Result<Vec<String>, PointerError> {
    if pointer.is_empty() {
        return Ok(Vec::new());
    }
    let Some(rest) = pointer.strip_prefix('/') else { return Err(PointerError::Start(pointer.into())) };
    let tokens: Vec<&str> = rest.split('/').collect();
    if tokens.len() > MAX_DEPTH {
        return Err(PointerError::TooDeep(tokens.len()));
    }
    tokens.into_iter().map(|token| unescape(token).ok_or_else(|| PointerError::Escape(pointer.into()))).collect()
}

fn unescape(token: &str) -> Option<String> {
    let mut parts = token.split('~');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (escaped, rest) = match part.as_bytes().first()? {
            b'0' => ('~', &part[1..]),
            b'1' => ('/', &part[1..]),
            _ => return None,
        };
        name.push(escaped);
        name.push_str(rest);
    }
    Some(name)
}

/// The value at `pointer`; None: there is none, or the pointer is none.
pub fn pointer_get<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer_parse(pointer).ok()?.iter().try_fold(value, |value, token| match value {
        Value::Object(map) => map.get(token),
        Value::Array(items) => items.get(index(token)?),
        _ => None,
    })
}

/// An array index: no sign, no leading zero.
fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || (!token.starts_with('0') && token.bytes().all(|b| b.is_ascii_digit()));
    if canonical { token.parse().ok() } else { None }
}

/// Puts `new` at `pointer`. Missing members of objects are made, as objects; what would be the first item of an array
/// that is not there is refused. Nothing that holds no members is replaced on the way.
pub fn pointer_set(value: &mut Value, pointer: &str, new: Value) -> Result<(), PointerError> {
    let tokens = pointer_parse(pointer)?;
    let mut place = value;
    for (depth, token) in tokens.iter().enumerate() {
        let at = || tokens[..depth].iter().map(|t| format!("/{}", crate::file_error::escape(t))).collect::<String>();
        let missing = match &*place {
            Value::Object(map) => depth + 1 < tokens.len() && !map.contains_key(token),
            Value::Array(items) => depth + 1 < tokens.len() && (token == "-" || index(token) == Some(items.len())),
            _ => false,
        };
        if missing && let Some(next) = tokens.get(depth + 1).filter(|next| *next == "-" || index(next).is_some()) {
            let at = format!("{}/{}", at(), crate::file_error::escape(token));
            return Err(PointerError::NoArray { pointer: pointer.into(), at, token: next.clone() });
        }
        let empty = || if depth + 1 < tokens.len() { Value::Object(Map::new()) } else { Value::Null };
        place = match place {
            Value::Object(map) => map.entry(token.clone()).or_insert_with(empty),
            Value::Array(items) => {
                let len = items.len();
                let index = if token == "-" { Some(len) } else { index(token).filter(|index| *index <= len) };
                let Some(index) = index else {
                    return Err(PointerError::Index { pointer: pointer.into(), at: at(), len });
                };
                if index == len {
                    items.push(empty());
                }
                &mut items[index]
            }
            scalar => {
                return Err(PointerError::Scalar { pointer: pointer.into(), at: at(), found: type_in_words(scalar) });
            }
        };
    }
    *place = new;
    Ok(())
}

/// The JSON type in words, with its article, for messages.
pub(crate) fn type_in_words(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn set(mut value: Value, pointer: &str) -> Result<Value, String> {
        pointer_set(&mut value, pointer, json!("new")).map(|()| value).map_err(|error| error.to_string())
    }

    #[test]
    fn get_follows_names_and_indexes() {
        let value = json!({"a/b": {"~": [10, 20]}, "": 1});
        assert_eq!(pointer_get(&value, ""), Some(&value));
        assert_eq!(pointer_get(&value, "/a~1b/~0/1"), Some(&json!(20)));
        assert_eq!(pointer_get(&value, "/"), Some(&json!(1)));
        for pointer in ["/a~1b/~0/01", "/a~1b/~0/-", "/a~1b/~0/+1", "/a~1b/~0/2", "a", "/~2"] {
            assert_eq!(pointer_get(&value, pointer), None, "{pointer}");
        }
    }

    #[test]
    fn set_makes_what_is_missing() {
        assert_eq!(set(json!({}), "/a/b/c").unwrap(), json!({"a": {"b": {"c": "new"}}}));
        assert_eq!(set(json!({"a": [1]}), "/a/-").unwrap(), json!({"a": [1, "new"]}));
        assert_eq!(set(json!({"a": [1]}), "/a/1/x").unwrap(), json!({"a": [1, {"x": "new"}]}));
        assert_eq!(set(json!(1), "").unwrap(), json!("new"));
    }

    #[test]
    fn each_error_says_what_is_wrong() {
        assert_eq!(set(json!({}), "a").unwrap_err(), "`a` is not a JSON Pointer: it has to be empty or begin with `/`");
        for pointer in ["/l/0", "/l/-", "/l/0/x", "/l/2020"] {
            let item = pointer.split('/').nth(2).unwrap();
            let fact = format!("`{pointer}` names the item `{item}` of `/l`, which is not there");
            assert_eq!(set(json!({}), pointer).unwrap_err(), fact);
        }
        assert_eq!(set(json!({"l": {}}), "/l/0").unwrap(), json!({"l": {"0": "new"}}));
        assert_eq!(set(json!({"l": []}), "/l/0").unwrap(), json!({"l": ["new"]}));
        assert!(set(json!({}), "/a~").unwrap_err().contains("`~` has to be written `~0`"));
        assert_eq!(
            set(json!({"a": 1}), "/a/b").unwrap_err(),
            "`/a/b` goes through a number at `/a`, which has no members"
        );
        assert_eq!(
            set(json!([1]), "/2").unwrap_err(),
            "`/2` names no place of the array at ``, which has 1 items; `-` appends"
        );
        assert_eq!(set(json!({}), &"/a".repeat(200)).unwrap_err(), "the pointer has 200 levels; the most is 127");
    }

    fn names() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec(prop_oneof![any::<String>(), "[~/01a-]{0,4}", "[0-9]{1,3}"], 0..6)
    }

    fn written(names: &[String]) -> String {
        names.iter().map(|name| format!("/{}", crate::file_error::escape(name))).collect()
    }

    proptest! {
        #[test]
        fn names_are_written_and_read_again(names in names()) {
            prop_assert_eq!(pointer_parse(&written(&names)).unwrap(), names);
        }

        #[test]
        fn what_was_set_is_found(names in names(), start in prop_oneof![Just(json!({})), Just(json!([1, {"a": [2]}]))]) {
            let (pointer, mut value) = (written(&names), start.clone());
            match pointer_set(&mut value, &pointer, json!("new")) {
                Ok(()) => {
                    // `-` appends, and names nothing afterwards.
                    let appended = names.first().is_some_and(|name| name == "-") && start.is_array();
                    if !appended && !pointer.contains("/1/a/-") {
                        prop_assert_eq!(pointer_get(&value, &pointer), Some(&json!("new")));
                    }
                }
                Err(error) => prop_assert!(!error.to_string().is_empty() && names.len() <= MAX_DEPTH),
            }
        }

        #[test]
        fn pointers_are_followed_as_serde_json_follows_them(pointer in "(/[ab01~-]{0,3}){0,4}|[/a~01]{0,6}") {
            let value = json!({"a": [[0, 1], {"b": 2, "~": 3, "/": 4, "": 5}], "0": {"01": 6}, "": {"": 7}, "a~": 8});
            match pointer_parse(&pointer) {
                Ok(_) => prop_assert_eq!(pointer_get(&value, &pointer), value.pointer(&pointer)),
                Err(_) => prop_assert_eq!(pointer_get(&value, &pointer), None),
            }
        }

        #[test]
        fn no_pointer_panics(pointer in any::<String>()) {
            let _ = (pointer_parse(&pointer), pointer_get(&json!([{}]), &pointer), set(json!([{}]), &pointer));
        }
    }
}
