//! Strict JSON judged without the scanner of this crate: serde_json for the grammar, and a walk over the text it
//! accepts for the keys.

use serde_json::Value;
use std::collections::HashSet;

const BOM: &[u8] = b"\xef\xbb\xbf";
const WHITE: [char; 4] = [' ', '\t', '\r', '\n'];

/// The one value of a text, as it is written; none where the text is not strict JSON.
pub(super) fn body(bytes: &[u8]) -> Option<&str> {
    document(std::str::from_utf8(bytes.strip_prefix(BOM).unwrap_or(bytes)).ok()?)
}

/// The same, where it may stand in an envelope, which is a level too.
pub(super) fn inner(bytes: &[u8]) -> Option<&str> {
    strict(std::str::from_utf8(bytes.strip_prefix(BOM).unwrap_or(bytes)).ok()?)
}

/// The same, of one line or text without a byte-order mark.
pub(super) fn strict(text: &str) -> Option<&str> {
    serde_json::from_str::<Value>(&format!("[{text}]")).ok()?;
    document(text)
}

fn document(text: &str) -> Option<&str> {
    let text = text.trim_matches(WHITE);
    serde_json::from_str::<Value>(text).ok()?;
    keys_are_fine(text).then_some(text)
}

/// Whether no object of a JSON text has a key twice, or one that serde_json keeps for itself.
fn keys_are_fine(text: &str) -> bool {
    let mut objects: Vec<HashSet<String>> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '"']) {
        let (found, after) = (rest.as_bytes()[at], &rest[at..]);
        rest = &after[1..];
        match found {
            b'{' => objects.push(HashSet::new()),
            b'}' => drop(objects.pop()),
            _ => {
                let (name, behind) = after.split_at(string(after));
                rest = behind;
                if !behind.trim_start_matches(WHITE).starts_with(':') {
                    continue;
                }
                let name: String = serde_json::from_str(name).expect("a string of a text that serde_json takes");
                let reserved = name == "$serde_json::private::Number" || name == "$serde_json::private::RawValue";
                if reserved || !objects.last_mut().is_some_and(|keys| keys.insert(name)) {
                    return false;
                }
            }
        }
    }
    true
}

/// How long the string is that a text begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |at| at + 2)
}
