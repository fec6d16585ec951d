//! Secrets: read at launch, handed to the tool alone, and kept out of everything that is shown or stored.

use crate::call::{SecretRef, SecretSource};
use crate::outcome::{StartFailure, StartFailureKind};

/// The largest secret, bytes.
const MAX: u64 = 64 * 1024;

/// Shorter values would be found in almost any text.
const SHORTEST_SOUGHT: usize = 4;

/// The values of one attempt.
#[derive(Default)]
pub struct Secrets(Vec<(String, Vec<u8>)>);

impl Secrets {
    /// Reads every secret.
    ///
    /// # Errors
    /// [`StartFailureKind::Secret`] naming the first that has no value.
    pub fn read(refs: &[SecretRef]) -> Result<Self, StartFailure> {
        refs.iter().map(|one| Ok((one.name.clone(), value_of(one)?))).collect::<Result<_, _>>().map(Self)
    }

    /// Values by hand.
    #[cfg(test)]
    pub fn of<'a>(values: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As `NAME=value` with a NUL after each, for the memory file.
    pub fn block(&self) -> Vec<u8> {
        let one = |(name, value): &(String, Vec<u8>)| [name.as_bytes(), b"=", value, b"\0"].concat();
        self.0.iter().flat_map(one).collect()
    }

    /// Whether a value stands in the text, as it is or as JSON writes it.
    pub fn found_in(&self, text: &[u8]) -> bool {
        self.forms().any(|(_, form)| find(text, &form).is_some())
    }

    /// The text with every value replaced by `[secret NAME]`.
    pub fn redact(&self, text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for (name, form) in self.forms() {
            let mark = format!("[secret {name}]");
            let (mut clean, mut rest) = (Vec::with_capacity(text.len()), text.as_slice());
            while let Some(at) = find(rest, &form) {
                clean.extend_from_slice(&rest[..at]);
                clean.extend_from_slice(mark.as_bytes());
                rest = &rest[at + form.len()..];
            }
            clean.extend_from_slice(rest);
            text = clean;
        }
        text
    }

    /// Whether the text's end may be the beginning of a value that reaches over the end of a line.
    pub fn may_go_on(&self, text: &[u8]) -> bool {
        self.forms().any(|(_, form)| {
            let ends = (1..form.len()).filter(|length| form[length - 1] == b'\n');
            ends.into_iter().any(|length| text.ends_with(&form[..length]))
        })
    }

    /// The longest form sought: a cut through a text may leave this much less one byte of a value.
    pub fn longest(&self) -> usize {
        self.forms().map(|(_, form)| form.len()).max().unwrap_or(0)
    }

    fn forms(&self) -> impl Iterator<Item = (&str, Vec<u8>)> {
        self.0.iter().filter(|(_, value)| value.len() >= SHORTEST_SOUGHT).flat_map(|(name, value)| {
            let text = String::from_utf8_lossy(value);
            let quoted = serde_json::to_string(&text).unwrap_or_default().into_bytes();
            let escaped = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_vec();
            let plain = value.clone();
            // The longer form first: the shorter may be a part of it.
            let forms = if escaped == plain || escaped.is_empty() { vec![plain] } else { vec![escaped, plain] };
            forms.into_iter().map(move |form| (name.as_str(), form))
        })
    }
}

fn find(text: &[u8], sought: &[u8]) -> Option<usize> {
    let first = *sought.first()?;
    let mut from = 0;
    while let Some(at) = text[from..].iter().position(|byte| *byte == first) {
        if text[from + at..].starts_with(sought) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

fn value_of(secret: &SecretRef) -> Result<Vec<u8>, StartFailure> {
    let missing = |message: String, hint: &str| StartFailure {
        kind: StartFailureKind::Secret,
        step: "secrets".to_owned(),
        errno: None,
        object: secret.name.clone(),
        message,
        hint: Some(hint.to_owned()),
    };
    let name = &secret.name;
    let value = match &secret.from {
        None => {
            let hint = format!("name it under [secrets.{name}] in toolcell.toml, with `for` holding this capability");
            return Err(missing(format!("the secret `{name}` has no source for this capability"), &hint));
        }
        Some(SecretSource::Env(variable)) => match std::env::var_os(variable) {
            Some(value) => std::os::unix::ffi::OsStringExt::into_vec(value),
            None => {
                let message = format!("the secret `{name}` has no value: the variable `{variable}` is not set");
                return Err(missing(message, "set it in toolcell's environment, or name a file instead"));
            }
        },
        Some(SecretSource::File(path)) => {
            let read = read_file(path.as_path());
            let mut value = read.map_err(|error| {
                missing(
                    format!("the secret `{name}` has no value: {path}: {error}"),
                    "make the file readable to toolcell",
                )
            })?;
            // Beyond the limit the last byte read is not the file's last.
            if value.last() == Some(&b'\n') && value.len() as u64 <= MAX {
                value.pop();
            }
            value
        }
    };
    if value.is_empty() {
        return Err(missing(
            format!("the secret `{name}` has no value: its source is empty"),
            "fill in the file or variable",
        ));
    }
    if value.len() as u64 > MAX {
        return Err(missing(format!("the secret `{name}` is larger than 64 KiB"), "give the tool a file instead"));
    }
    if value.contains(&0) {
        return Err(missing(format!("the secret `{name}` holds a NUL byte"), "a variable cannot hold one; encode it"));
    }
    Ok(value)
}

/// A regular file's content, one byte beyond the limit at most: a FIFO would wait, and /dev/zero never ends.
fn read_file(path: &std::path::Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(value: &str) -> Secrets {
        Secrets(vec![("KEY".to_owned(), value.as_bytes().to_vec())])
    }

    #[test]
    fn a_value_is_found_as_it_is_and_as_json_writes_it() {
        let secrets = secrets("pa\"ss\nword");
        assert!(secrets.found_in(b"x pa\"ss\nword y"));
        assert!(secrets.found_in(br#"{"k":"pa\"ss\nword"}"#));
        assert!(!secrets.found_in(b"password"));
        assert_eq!(secrets.redact(br#"a pa\"ss\nword b"#), b"a [secret KEY] b");
    }

    #[test]
    fn the_block_has_a_nul_after_each() {
        assert_eq!(secrets("v1").block(), b"KEY=v1\0");
        assert!(!secrets("abc").found_in(b"abc"), "too short to be sought");
    }

    #[test]
    fn an_absent_source_names_the_config_key() {
        let failure = Secrets::read(&[SecretRef { name: "K".into(), from: None }]).err().unwrap();
        assert_eq!(failure.kind, StartFailureKind::Secret);
        assert!(failure.hint.unwrap().contains("[secrets.K]"));
    }
}
