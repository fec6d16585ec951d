//! Profiles: what a sandbox shows, allows and requires (DESIGN: section 8).
//!
//! The built-ins come first, so that no file can take the name of one; the user's own stand in the config folder and
//! always extend another.

mod chain;
mod file;
mod lint;
mod problems;
#[cfg(test)]
mod tests;
pub mod why;

pub use chain::{Chain, Origin, Section};
pub use file::{
    DevicesSection, FilesystemSection, NetworkMode, NetworkSection, PathRule, ProfileFile, SyscallsSection,
};
pub use lint::{Calls, Finding, OWN, lint};
pub use problems::problems;

use crate::file_error::{FileError, read_text};
use crate::layer::{Layer, Need};
use crate::limits_spec::LimitsSpec;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The built-in profiles, in the order they are listed.
pub const BUILT_IN: [(&str, &str); 5] = [
    ("strict", include_str!("../../../sandbox-profiles/strict.toml")),
    ("standard", include_str!("../../../sandbox-profiles/standard.toml")),
    ("workspace", include_str!("../../../sandbox-profiles/workspace.toml")),
    ("network", include_str!("../../../sandbox-profiles/network.toml")),
    ("open", include_str!("../../../sandbox-profiles/open.toml")),
];

/// A profile, whole: what it extends is merged in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub why: String,
    /// What the tool sees, read-only.
    pub read: Vec<PathRule>,
    /// What it may change.
    pub write: Vec<PathRule>,
    /// What it may execute, beside its own program.
    pub exec: Vec<PathRule>,
    /// Its network.
    pub network: NetworkMode,
    /// The hosts it may reach, as HOST:PORT; only with [`NetworkMode::Allow`].
    pub allow_hosts: Vec<String>,
    /// System calls denied beyond the built-in list, sorted.
    pub deny_syscalls: Vec<String>,
    /// Devices of the host, beyond the harmless ones.
    pub devices: Vec<String>,
    /// Its limits, complete.
    pub limits: LimitsSpec,
    /// What the absence of each layer means, complete.
    pub require: BTreeMap<Layer, Need>,
    /// In words, what a user's profile loosens against the nearest built-in it extends; empty for built-ins.
    pub loosened: Vec<String>,
    /// Whether it came with the program.
    pub builtin: bool,
    /// Layers it asks for and can do without, which this host does not give; filled when it is granted.
    #[serde(skip)]
    pub lacking: Vec<Layer>,
}

/// The profile of that name: a built-in, else `user_dir`/NAME.toml, with everything it extends merged in.
///
/// What [`problems`] finds is not refused here, so that a lint can list it all; whoever runs a profile has to ask.
pub fn load(name: &str, user_dir: Option<&Path>) -> Result<Profile, FileError> {
    Chain::load(name, user_dir)?.merged()
}

/// The names that [`load`] knows: the built-ins, then the user's by the alphabet.
pub fn names(user_dir: Option<&Path>) -> Vec<String> {
    let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
    let entries = user_dir.and_then(|dir| std::fs::read_dir(dir).ok());
    let mut own: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| check_name(name).is_ok() && !names.contains(name))
        .collect();
    own.sort();
    names.extend(own);
    names
}

/// A profile's text, with the file it stands in and whether it is built in.
fn source(name: &str, user_dir: Option<&Path>) -> Result<Option<(PathBuf, String, bool)>, FileError> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Ok(Some((PathBuf::from(format!("built-in profile {name}")), (*text).to_owned(), true)));
    }
    let Some(file) = user_dir.map(|dir| dir.join(format!("{name}.toml"))) else { return Ok(None) };
    match std::fs::metadata(&file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        _ => read_text(&file).map(|text| Some((file, text, false))),
    }
}

fn place(user_dir: Option<&Path>) -> PathBuf {
    user_dir.map_or_else(|| PathBuf::from("profiles"), Path::to_path_buf)
}

fn unknown(name: &str, user_dir: Option<&Path>) -> FileError {
    let fact = format!("unknown profile `{name}`; known are {}", names(user_dir).join(", "));
    let hint = format!("name one of them, or write {}", place(user_dir).join(format!("{name}.toml")).display());
    FileError::new(place(user_dir), fact).hint(hint)
}

const NAME_HINT: &str = "a name may hold letters, digits, `-`, `_` and single dots";

/// A name becomes a file's name, so it may not lead anywhere else.
fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 100 || name.starts_with('.') || name.contains("..") || !name.chars().all(plain) {
        let shown: String = name.chars().take(100).collect();
        return Err(format!("`{shown}` is no profile name"));
    }
    Ok(())
}
