//! The file format of the config, and its rules.

use super::find::{User, check_owner};
use super::{Grant, SecretRule, absolute};
use crate::call::{IdRange, SecretSource};
use crate::file_error::{FileError, escape, from_toml, not_regular, read_text};
use crate::text::Text;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A toolcell.toml as it is written.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigFile {
    /// Folders of capabilities, relative to this file.
    pub registry: Option<Vec<PathBuf>>,
    /// What input files have to lie below, relative to the working directory.
    pub file_roots: Option<Vec<PathBuf>>,
    /// What is granted (user config only).
    pub grant: Option<Vec<GrantEntry>>,
    /// Secrets by the variable the tool sees (user config only).
    pub secrets: Option<BTreeMap<String, SecretEntry>>,
    /// The ids a root runner gives to tools (user config only).
    pub identity: Option<IdRange>,
}

/// One `[[grant]]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantEntry {
    /// A pattern of capability ids.
    #[serde(default)]
    pub capability: Option<String>,
    /// For `exec`, instead of a capability.
    #[serde(default)]
    pub exec: bool,
    /// Profiles, by name.
    #[serde(default)]
    pub profiles: Vec<String>,
    /// Variables, by name.
    #[serde(default)]
    pub env: Vec<String>,
}

/// One `[secrets.NAME]`: `file` or `env`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretEntry {
    /// A file that holds it, relative to the config file.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// A variable of the runner's environment.
    #[serde(default)]
    pub env: Option<String>,
    /// Patterns of the capabilities that may have it.
    #[serde(rename = "for")]
    pub for_: Vec<String>,
}

/// The user's file: ownership, form and rules.
pub(super) fn read_user(path: &Path, uid: u32) -> Result<ConfigFile, FileError> {
    let meta = std::fs::metadata(path).map_err(|error| FileError::io(path, "cannot be read", &error))?;
    if !meta.is_file() {
        return Err(not_regular(path));
    }
    check_owner(path, meta.uid(), meta.mode(), uid)?;
    let file: ConfigFile = from_toml(&read_text(path)?, path)?;
    check(&file, path)?;
    Ok(file)
}

/// The file found upward: it may not loosen.
pub(super) fn read_upward(path: &Path, user: &User) -> Result<ConfigFile, FileError> {
    let file: ConfigFile = from_toml(&read_text(path)?, path)?;
    let keys =
        [("grant", file.grant.is_some()), ("secrets", file.secrets.is_some()), ("identity", file.identity.is_some())];
    let Some((key, _)) = keys.into_iter().find(|(_, present)| *present) else { return Ok(file) };
    let place = match user {
        User::File(own) => format!(", {}", own.display()),
        User::Folder(folder) => format!(", {}", folder.join("toolcell.toml").display()),
        User::Nowhere => String::new(),
    };
    Err(FileError::new(path, format!("`{key}` may not stand in a config found from the working directory"))
        .at(format!("/{key}"))
        .hint(format!("move it to the user config{place}")))
}

fn check(file: &ConfigFile, path: &Path) -> Result<(), FileError> {
    for (index, grant) in file.grant.iter().flatten().enumerate() {
        let at = |message: &str| FileError::new(path, message).at(format!("/grant/{index}"));
        match (&grant.capability, grant.exec) {
            (Some(_), true) => {
                return Err(at("has both `capability` and `exec = true`").hint("write two grants"));
            }
            (None, false) => {
                return Err(at("does not say for whom").hint("add `capability = \"...\"` or `exec = true`"));
            }
            _ => {}
        }
        for (place, name) in grant.profiles.iter().enumerate() {
            check_profile(name, path).map_err(|error| error.at(format!("/grant/{index}/profiles/{place}")))?;
        }
    }
    for (name, secret) in file.secrets.iter().flatten() {
        check_secret(name, secret)
            .map_err(|(fact, hint)| FileError::new(path, fact).at(format!("/secrets/{}", escape(name))).hint(hint))?;
    }
    if let Some(range) = file.identity {
        let last = range.count.checked_sub(1).and_then(|more| range.base.checked_add(more));
        // 4294967295 is "no id" to the kernel.
        if range.base == 0 || last.is_none_or(|last| last == u32::MAX) {
            let fact = format!("{} ids from {} are no range of user ids", range.count, range.base);
            return Err(FileError::new(path, fact)
                .at("/identity")
                .hint("name a base above 0 and a count of at least 1 that end below 4294967295"));
        }
    }
    Ok(())
}

/// A grant for a profile nobody knows would grant nothing, in silence.
fn check_profile(name: &str, path: &Path) -> Result<(), FileError> {
    if crate::profile::BUILT_IN.iter().any(|(known, _)| *known == name) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("/")).join("profiles");
    let known = crate::profile::names(Some(&folder));
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let fact = format!("grants the profile `{name}`, which does not exist; known are {}", known.join(", "));
    Err(FileError::new(path, fact).hint(format!("correct its name, or write {}/{name}.toml", folder.display())))
}

fn check_secret(name: &str, secret: &SecretEntry) -> Result<(), (String, &'static str)> {
    if !is_variable(name) {
        return Err((format!("`{name}` is no name of a variable"), "use letters, digits and `_`, a letter first"));
    }
    if name.starts_with("TOOLCELL_") {
        return Err((format!("`{name}` is a name of toolcell's own"), "use a name that does not begin with TOOLCELL_"));
    }
    match (&secret.file, &secret.env) {
        (Some(_), Some(_)) => return Err(("has both `file` and `env`".into(), "remove one of them")),
        (None, None) => {
            return Err(("does not say where it comes from".into(), "add `file = \"...\"` or `env = \"...\"`"));
        }
        (None, Some(variable)) if !is_variable(variable) => {
            return Err((
                format!("`{variable}` is no name of a variable"),
                "use letters, digits and `_`, a letter first",
            ));
        }
        _ => {}
    }
    if secret.for_.is_empty() {
        return Err(("is for no capability".into(), "add `for = [\"...\"]`, or remove the secret"));
    }
    Ok(())
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The secrets of a checked file.
pub(super) fn secrets(file: &ConfigFile, folder: Option<&Path>) -> BTreeMap<String, SecretRule> {
    let base = folder.unwrap_or(Path::new("/"));
    let rule = |entry: &SecretEntry| {
        let source = match (&entry.file, &entry.env) {
            (Some(path), _) => SecretSource::File(Text::from(absolute(base, path).as_path())),
            (None, Some(name)) => SecretSource::Env(name.clone()),
            (None, None) => return None,
        };
        Some(SecretRule { source, for_: entry.for_.clone() })
    };
    file.secrets.iter().flatten().filter_map(|(name, entry)| Some((name.clone(), rule(entry)?))).collect()
}

/// The grants of a checked file.
pub(super) fn grants(file: ConfigFile) -> Vec<Grant> {
    let entries = file.grant.unwrap_or_default().into_iter();
    entries
        .map(|entry| Grant { capability: entry.capability, exec: entry.exec, profiles: entry.profiles, env: entry.env })
        .collect()
}
