//! Strict JSON (RFC 8259), in linear time and bounded depth.
//!
//! serde_json keeps the last of two equal keys and says nothing; two readers of one document would then see different
//! values. Everything that crosses the border of toolcell passes [`check`] first.

mod keys;
mod pointer;
mod scan;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use pointer::type_in_words;
pub use pointer::{PointerError, pointer_get, pointer_parse, pointer_set};

use scan::Bounds;
use serde_json::Value;
use serde_json::value::RawValue;
use std::ops::Range;

/// The deepest nesting that is read. serde_json refuses the next level.
pub const MAX_DEPTH: usize = 127;
/// The deepest nesting of what goes into an envelope, which is a level itself: whoever reads the envelope by the same
/// rule has to be able to.
pub const MAX_INNER_DEPTH: usize = MAX_DEPTH - 1;

/// The most values that are built. In memory a value takes some 70 bytes beyond its text, however short that is.
pub const MAX_VALUES: usize = 1 << 20;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A document that passed [`check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Whether a byte-order mark stood in front; it is not part of `body`.
    pub bom: bool,
    /// Where the value stands, without outer white space.
    pub body: Range<usize>,
}

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonError {
    /// Byte offset in the whole text.
    pub offset: usize,
    /// Which kind.
    pub kind: JsonErrorKind,
    /// The fact.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
}

/// The kinds of [`JsonError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonErrorKind {
    /// Nothing but white space.
    Empty,
    /// Bytes that are not UTF-8.
    Utf8,
    /// Something else stands where the value should begin.
    NotJson,
    /// NaN or Infinity.
    NotANumber,
    /// A key twice in one object.
    DuplicateKey,
    /// A key that serde_json keeps for itself.
    ReservedKey,
    /// Deeper than [`MAX_DEPTH`], or [`MAX_INNER_DEPTH`].
    TooDeep,
    /// More than [`MAX_VALUES`].
    TooMany,
    /// An escaped surrogate without its other half.
    LoneSurrogate,
    /// A control character inside a string.
    ControlCharacter,
    /// More text after the value.
    Trailing,
    /// The text ends inside the value.
    Truncated,
    /// Any other breach of the grammar.
    Syntax,
}

impl JsonError {
    fn new(offset: usize, kind: JsonErrorKind, message: impl Into<String>) -> Self {
        Self { offset, kind, message: message.into(), hint: None }
    }

    /// The fact with its place, which some facts name themselves.
    pub fn placed(&self) -> String {
        let place = format!("at byte {}", self.offset);
        if self.message.contains(&place) { self.message.clone() } else { format!("{} ({place})", self.message) }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Whether a byte-order mark stands in front.
pub fn has_bom(bytes: &[u8]) -> bool {
    bytes.starts_with(BOM)
}

/// Checks that `bytes` are exactly one JSON value. Exactly one byte-order mark is dropped and reported.
pub fn check(bytes: &[u8]) -> Result<Checked, JsonError> {
    check_within(bytes, Bounds { depth: MAX_DEPTH, values: usize::MAX })
}

fn check_within(bytes: &[u8], bounds: Bounds) -> Result<Checked, JsonError> {
    let text = utf8(bytes)?;
    let bom = has_bom(bytes);
    let start = if bom { BOM.len() } else { 0 };
    let body = scan::document(text, start..text.len(), bounds)?;
    Ok(Checked { bom, body })
}

/// Reads exactly one value of [`MAX_VALUES`] at most; numbers and key order stay as they were written.
pub fn value(bytes: &[u8]) -> Result<Value, JsonError> {
    let checked = check_within(bytes, Bounds { depth: MAX_DEPTH, values: MAX_VALUES })?;
    let start = checked.body.start;
    serde_json::from_slice(&bytes[checked.body])
        .map_err(|error| JsonError::new(start, JsonErrorKind::Syntax, error.to_string()))
}

/// Exactly one value that goes into an envelope, its text untouched but for a byte-order mark and outer white space.
pub fn raw(bytes: &[u8]) -> Result<Box<RawValue>, JsonError> {
    let checked = check_within(bytes, Bounds { depth: MAX_INNER_DEPTH, values: usize::MAX })?;
    raw_from(utf8(&bytes[checked.body])?.to_owned())
}

/// One value a line, made into the text of one array; nothing is `[]`, and blank lines are allowed.
pub fn lines(bytes: &[u8]) -> Result<Box<RawValue>, JsonError> {
    let text = utf8(bytes)?;
    let mut at = if has_bom(bytes) { BOM.len() } else { 0 };
    // The array around the lines is a level too.
    let bounds = Bounds { depth: MAX_INNER_DEPTH - 1, values: usize::MAX };
    let mut array = String::with_capacity(text.len() + 2);
    array.push('[');
    for line in text[at..].split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        if line.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')) {
            continue;
        }
        if array.len() > 1 {
            array.push(',');
        }
        array.push_str(&text[scan::document(text, range, bounds)?]);
    }
    array.push(']');
    raw_from(array)
}

fn raw_from(text: String) -> Result<Box<RawValue>, JsonError> {
    RawValue::from_string(text).map_err(|error| JsonError::new(0, JsonErrorKind::Syntax, error.to_string()))
}

fn utf8(bytes: &[u8]) -> Result<&str, JsonError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let found = JsonError::new(offset, JsonErrorKind::Utf8, format!("bad UTF-8 at byte {offset}"));
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            found.hint("the text is UTF-16; JSON is UTF-8")
        } else {
            found.hint("JSON is UTF-8; encode other bytes, for example as base64")
        }
    })
}
