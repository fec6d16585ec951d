//! The scanner: one pass, an explicit stack, no recursion.

use super::keys::Keys;
use super::{JsonError, JsonErrorKind as Kind};
use crate::file_error::escape;
use std::borrow::Cow;
use std::ops::Range;

/// Keys that serde_json's arbitrary_precision and raw_value use inside; an object with one would turn into a number.
const RESERVED: [&str; 2] = ["$serde_json::private::Number", "$serde_json::private::RawValue"];
/// How much of a text that is no JSON is shown.
const SNIPPET: usize = 24;

/// Checks that `text[range]` is one value; where it stands.
pub(super) fn document(text: &str, range: Range<usize>, bounds: Bounds) -> Result<Range<usize>, JsonError> {
    let mut scanner = Scanner { text, at: range.start, end: range.end, root: 0, bounds, values: 0, stack: Vec::new() };
    scanner.white();
    if scanner.at == scanner.end {
        return Err(JsonError::new(scanner.at, Kind::Empty, "the text is empty").hint("write one JSON value"));
    }
    scanner.root = scanner.at;
    scanner.run()?;
    let body = scanner.root..scanner.at;
    scanner.white();
    if scanner.at < scanner.end {
        let at = scanner.at;
        return Err(JsonError::new(at, Kind::Trailing, format!("trailing data at byte {at}"))
            .hint("write one JSON value and nothing after it"));
    }
    Ok(body)
}

/// How much a document may hold.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) depth: usize,
    pub(super) values: usize,
}

/// An open container.
enum Frame<'a> {
    Array { index: usize },
    Object { keys: Keys<'a>, key: Cow<'a, str> },
}

/// What has to come next.
#[derive(Clone, Copy)]
pub(super) enum Next {
    Value,
    ItemOrEnd,
    KeyOrEnd,
    After,
}

pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) end: usize,
    root: usize,
    bounds: Bounds,
    values: usize,
    stack: Vec<Frame<'a>>,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) -> Result<(), JsonError> {
        let mut next = Next::Value;
        loop {
            // Before the white space, so that the body ends with the value.
            if matches!(next, Next::After) && self.stack.is_empty() {
                return Ok(());
            }
            self.white();
            next = match next {
                Next::Value => self.value()?,
                Next::ItemOrEnd if self.peek() == Some(b']') => self.close(),
                Next::ItemOrEnd => self.value()?,
                Next::KeyOrEnd if self.peek() == Some(b'}') => self.close(),
                Next::KeyOrEnd => self.key()?,
                Next::After => self.after()?,
            };
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        if self.at < self.end { self.text.as_bytes().get(self.at).copied() } else { None }
    }

    fn white(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    fn close(&mut self) -> Next {
        self.at += 1;
        self.stack.pop();
        Next::After
    }

    fn open(&mut self, frame: Frame<'a>, next: Next) -> Result<Next, JsonError> {
        if self.stack.len() >= self.bounds.depth {
            let message = format!("nested deeper than {} at byte {}", self.bounds.depth, self.at);
            return Err(JsonError::new(self.at, Kind::TooDeep, message).hint("flatten the document"));
        }
        self.stack.push(frame);
        self.at += 1;
        Ok(next)
    }

    fn value(&mut self) -> Result<Next, JsonError> {
        self.values += 1;
        if self.values > self.bounds.values {
            let fact = format!("more than {} values in one document", self.bounds.values);
            return Err(JsonError::new(self.at, Kind::TooMany, fact).hint("pass large data as a file"));
        }
        match self.peek() {
            Some(b'{') => self.open(Frame::Object { keys: Keys::default(), key: Cow::Borrowed("") }, Next::KeyOrEnd),
            Some(b'[') => self.open(Frame::Array { index: 0 }, Next::ItemOrEnd),
            Some(b'"') => self.string().map(|_| Next::After),
            Some(b'0'..=b'9') => self.number(),
            Some(b'-') if !self.rest().starts_with("-Infinity") => self.number(),
            None => Err(self.truncated("where a value has to stand")),
            Some(_) => {
                for word in ["true", "false", "null"] {
                    if word_at(self.rest(), word) {
                        self.at += word.len();
                        return Ok(Next::After);
                    }
                    if !self.rest().is_empty() && self.at != self.root && word.starts_with(self.rest()) {
                        return Err(self.truncated("inside a word"));
                    }
                }
                Err(self.no_value())
            }
        }
    }

    /// The error for text that begins no value.
    fn no_value(&self) -> JsonError {
        let at = self.at;
        let rest = self.rest();
        for word in ["NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"] {
            if word_at(rest, word) {
                return JsonError::new(at, Kind::NotANumber, format!("`{word}` at byte {at}"))
                    .hint(format!("{} is not JSON; write null or leave the member out", word.trim_start_matches('-')));
            }
        }
        if at == self.root {
            let mut shown: String = rest.chars().take(SNIPPET).collect();
            if shown.len() < rest.trim_end().len() {
                shown.push_str("...");
            }
            return JsonError::new(at, Kind::NotJson, format!("not JSON at byte {at}: {shown:?}"))
                .hint("write one JSON value and nothing before it");
        }
        self.unexpected("a value")
    }

    pub(super) fn unexpected(&self, wanted: &str) -> JsonError {
        let Some(found) = self.rest().chars().next() else { return self.truncated(&format!("before {wanted}")) };
        let error =
            JsonError::new(self.at, Kind::Syntax, format!("expected {wanted} at byte {}, found {found:?}", self.at));
        let before = self.text[..self.at].trim_end_matches([' ', '\t', '\r', '\n']).chars().last();
        error.hint(match (before, found) {
            (_, '/' | '#') => "JSON knows no comments; remove it",
            (Some(','), '}' | ']') => "remove the comma before it",
            (_, '\'') => "write strings in double quotes",
            _ => "correct the JSON there",
        })
    }

    pub(super) fn truncated(&self, place: &str) -> JsonError {
        JsonError::new(self.end, Kind::Truncated, format!("the document ends at byte {} {place}", self.end))
            .hint("it was cut off; write it whole")
    }

    fn key(&mut self) -> Result<Next, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in double quotes"));
        }
        let start = self.at;
        let name = self.string()?;
        if RESERVED.contains(&name.as_ref()) {
            return Err(JsonError::new(
                start,
                Kind::ReservedKey,
                format!("the key `{name}` at byte {start} is reserved"),
            )
            .hint("use another name"));
        }
        self.white();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        let new = match self.stack.last_mut() {
            Some(Frame::Object { keys, key }) => {
                key.clone_from(&name);
                keys.insert(name.clone())
            }
            _ => true,
        };
        if new {
            return Ok(Next::Value);
        }
        let message = format!("duplicate key `{name}` at {}", self.pointer());
        Err(JsonError::new(start, Kind::DuplicateKey, message).hint("keep one of the two"))
    }

    fn after(&mut self) -> Result<Next, JsonError> {
        let found = self.peek();
        match (self.stack.last_mut(), found) {
            (None, _) => Ok(Next::After),
            (Some(Frame::Array { index }), Some(b',')) => {
                *index += 1;
                self.at += 1;
                Ok(Next::Value)
            }
            (Some(Frame::Object { .. }), Some(b',')) => {
                self.at += 1;
                self.white();
                if self.peek() == Some(b'}') {
                    return Err(self.unexpected("a key in double quotes"));
                }
                self.key()
            }
            (Some(Frame::Array { .. }), Some(b']')) | (Some(Frame::Object { .. }), Some(b'}')) => Ok(self.close()),
            (Some(Frame::Array { .. }), None) => Err(self.truncated("inside an array")),
            (Some(Frame::Object { .. }), None) => Err(self.truncated("inside an object")),
            (Some(Frame::Array { .. }), Some(_)) => Err(self.unexpected("`,` or `]`")),
            (Some(Frame::Object { .. }), Some(_)) => Err(self.unexpected("`,` or `}`")),
        }
    }

    /// Where the scanner stands.
    fn pointer(&self) -> String {
        self.stack.iter().fold(String::new(), |pointer, frame| match frame {
            Frame::Array { index } => format!("{pointer}/{index}"),
            Frame::Object { key, .. } => format!("{pointer}/{}", escape(key)),
        })
    }
}

/// Whether `text` begins with `word` as a whole word.
fn word_at(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}
