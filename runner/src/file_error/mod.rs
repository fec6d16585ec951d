//! What is wrong with a file: where, and the way out.

#[cfg(test)]
mod tests;

use crate::json;
use crate::shortage;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path as SerdePath, Segment};
use std::fs::Metadata;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The most a contract, tool file, profile or config may hold. More is a mistake, and would be read into memory.
pub const MAX_FILE: u64 = 16 << 20;

/// A file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// Which file.
    pub file: PathBuf,
    /// The line, from 1, where the parser knows it.
    pub line: Option<usize>,
    /// The column, from 1, where the parser knows it.
    pub column: Option<usize>,
    /// JSON Pointer of the value within the file.
    pub pointer: Option<String>,
    /// The fact.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
    /// Whether the host ran short of something, so that nothing is wrong with the file.
    pub shortage: bool,
}

impl FileError {
    /// A fact about a file.
    pub fn new(file: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        let (file, message) = (file.into(), message.into());
        Self { file, line: None, column: None, pointer: None, message, hint: None, shortage: false }
    }

    /// What could not be done to a file, with the way out.
    pub fn io(file: impl Into<PathBuf>, what: &str, error: &std::io::Error) -> Self {
        let short = shortage::way_out_of(error);
        let hint = short.unwrap_or(match error.kind() {
            ErrorKind::PermissionDenied => "make it readable for the user who calls toolcell",
            ErrorKind::NotFound => "add it, or correct its path",
            _ => "correct its path or its permissions",
        });
        Self { shortage: short.is_some(), ..Self::new(file, format!("{what}: {error}")) }.hint(hint)
    }

    /// The same, of the value at `pointer`.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// The same, with the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, at a byte offset of the file's text.
    #[must_use]
    pub fn offset(mut self, text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        self.line = Some(before.iter().filter(|&&b| b == b'\n').count() + 1);
        self.column = Some(String::from_utf8_lossy(&before[line_start..]).chars().count() + 1);
        self
    }
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        match self.pointer.as_deref() {
            Some(pointer) if !pointer.is_empty() => write!(f, ": {pointer}: {}", self.message),
            _ => write!(f, ": {}", self.message),
        }
    }
}

impl std::error::Error for FileError {}

/// A JSON Pointer token with its escapes.
pub fn escape(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

/// Reads a regular file, whole. A FIFO or a device is refused: opening one could wait for ever.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    read_if(path, |_| Ok(()))
}

fn read_if(path: &Path, allowed: impl Fn(&Metadata) -> Result<(), FileError>) -> Result<Vec<u8>, FileError> {
    let failed = |error: std::io::Error| FileError::io(path, "cannot be read", &error);
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    allowed(&metadata)?;
    if !metadata.is_file() {
        return Err(not_regular(path));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(FileError::new(path, format!("is larger than {MAX_FILE} bytes")));
    }
    Ok(bytes)
}

/// Something else stands where a file is asked for.
pub(crate) fn not_regular(path: &Path) -> FileError {
    FileError::new(path, "is not a regular file").hint("name a file, not a folder, a pipe or a device")
}

/// As [`read`], for text.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    text(read(path)?, path)
}

/// As [`read_text`], for files that decide what is allowed: theirs is the word of whoever can write them, so they
/// have to be owned by `uid` or root and be writable by no one else.
pub fn read_owned(path: &Path, uid: u32) -> Result<String, FileError> {
    let bytes = read_if(path, |metadata| {
        if metadata.uid() != uid && metadata.uid() != 0 {
            return Err(FileError::new(path, format!("is owned by user id {}", metadata.uid()))
                .hint(format!("it has to be owned by you (user id {uid}) or root: chown {uid} {}", path.display())));
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(FileError::new(path, format!("is writable by others (mode {:04o})", metadata.mode() & 0o7777))
                .hint(format!("chmod go-w {}", path.display())));
        }
        Ok(())
    })?;
    text(bytes, path)
}

fn text(bytes: Vec<u8>, path: &Path) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        FileError::new(path, "is not UTF-8").offset(error.as_bytes(), at).hint("save the file as UTF-8")
    })
}

/// Reads a type from strict JSON; duplicate keys are refused, and the error names the place.
pub fn from_json<T: DeserializeOwned>(bytes: &[u8], file: &Path) -> Result<T, FileError> {
    let checked = json::check(bytes).map_err(|error| {
        let mut at = FileError::new(file, error.message).offset(bytes, error.offset);
        at.hint = error.hint;
        at
    })?;
    let start = checked.body.start;
    let mut deserializer = serde_json::Deserializer::from_slice(&bytes[checked.body]);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let pointer = pointer(error.path());
        let inner = error.into_inner();
        let full = inner.to_string();
        let place = format!(" at line {} column {}", inner.line(), inner.column());
        let message = full.strip_suffix(&place).unwrap_or(&full).to_owned();
        let mut found = FileError::new(file, message).at(pointer);
        if inner.line() > 0 {
            // The parser counts from the body's start; what was skipped before it has lines too.
            let skipped = bytes[..start].iter().filter(|&&b| b == b'\n').count();
            found.line = Some(inner.line() + skipped);
            found.column = Some(inner.column().max(1));
        }
        found.with_known_hint()
    })
}

/// Reads a type from TOML; the error names the place.
pub fn from_toml<T: DeserializeOwned>(text: &str, file: &Path) -> Result<T, FileError> {
    let place = |error: &toml::de::Error| {
        let found = FileError::new(file, error.message().trim_end().replace('\n', "; "));
        match error.span() {
            Some(span) => found.offset(text.as_bytes(), span.start),
            None => found,
        }
    };
    let syntax = |error: &toml::de::Error| place(error).hint("correct the TOML there");
    let deserializer = toml::Deserializer::parse(text).map_err(|error| syntax(&error))?;
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let pointer = pointer(error.path());
        place(error.inner()).at(pointer).with_known_hint()
    })
}

impl FileError {
    /// A message of the form `fact (hint: way out)` comes from a rule inside a `Deserialize`, which can carry one
    /// string only; it is taken apart here.
    fn with_known_hint(mut self) -> Self {
        if let Some((fact, hint)) = self.message.clone().split_once(HINT) {
            self.message = fact.to_owned();
            self.hint = Some(hint.to_owned());
        } else if self.message.starts_with("unknown field") || self.message.starts_with("unknown variant") {
            self.hint = Some("remove it, or correct its spelling".into());
        } else if self.message.starts_with("missing field") {
            self.hint = Some("add it".into());
        } else {
            self.hint = expected(&self.message).map(str::to_owned);
        }
        self
    }
}

/// How what a parser expects is written.
fn expected(message: &str) -> Option<&'static str> {
    let (found, expected) = message.rsplit_once(", expected ")?;
    Some(match expected {
        "a sequence" if found.contains("map") => {
            "write it as a list; a table is one in double brackets, such as [[grant]]"
        }
        "a sequence" => "write it as a list, in brackets: [\"...\"]",
        "a string" | "path string" => "write it in double quotes",
        "a boolean" => "write true or false, without quotes",
        "a map" => "write it as a table",
        whole if whole.starts_with(['u', 'i']) && whole[1..].parse::<u8>().is_ok() => {
            "write a whole number that is not negative, without quotes"
        }
        "f64" => "write a number, without quotes",
        _ => "write what is expected there",
    })
}

const HINT: &str = "\u{1}hint: ";

/// An error of a rule inside a `Deserialize`, fact and way out.
pub(crate) fn rule<E: serde::de::Error>(fact: impl std::fmt::Display, hint: impl std::fmt::Display) -> E {
    E::custom(format_args!("{fact}{HINT}{hint}"))
}

/// Reads `schema`, which has to be 1.
pub(crate) fn schema_one<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match u64::deserialize(deserializer)? {
        1 => Ok(1),
        0 => Err(rule("schema 0 does not exist", "write 1")),
        newer => Err(rule(format!("schema {newer} is newer than this toolcell, which reads 1"), "upgrade toolcell")),
    }
}

fn pointer(path: &SerdePath) -> String {
    path.iter().fold(String::new(), |pointer, segment| match segment {
        Segment::Seq { index } => format!("{pointer}/{index}"),
        Segment::Map { key } => format!("{pointer}/{}", escape(key)),
        Segment::Enum { .. } | Segment::Unknown => pointer,
    })
}
