//! The host's config: which registries, which files, and what is granted to whom (DESIGN: section 7).
//!
//! What loosens comes from the user's file, a flag or the environment only. A file found upward from the working
//! directory came with whatever is worked on: it may name registries and narrow, and is trusted with nothing else.

mod file;
mod find;
mod grants;
#[cfg(test)]
mod tests;

pub use file::{ConfigFile, GrantEntry, SecretEntry};
pub use grants::glob;

use crate::call::{IdRange, SecretSource};
use crate::file_error::FileError;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The host ids of a root runner where the config names none.
pub const DEFAULT_IDENTITY: IdRange = IdRange { base: 1_900_000_000, count: 65_536 };

/// The config, merged from all its sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Where capabilities are looked for, in order; absolute.
    pub registries: Vec<PathBuf>,
    /// The flag or variable that names them, where one does.
    pub registries_by: Option<&'static str>,
    /// Those that grants and secrets apply to.
    pub trusted_registries: Vec<PathBuf>,
    /// What input files have to lie below; absolute.
    pub file_roots: Vec<PathBuf>,
    /// What is granted.
    pub grants: Vec<Grant>,
    /// Secrets by the variable the tool sees.
    pub secrets: BTreeMap<String, SecretRule>,
    /// The ids a root runner gives to tools.
    pub identity: IdRange,
    /// The user's own profiles, where there are any.
    pub profiles_dir: Option<PathBuf>,
    /// A file found upward that is not believed, and why.
    pub ignored: Option<FileError>,
}

/// What is granted to whom: to the capabilities that a pattern names, or to `exec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// A pattern of capability ids; null with `exec`.
    pub capability: Option<String>,
    /// For `exec`.
    pub exec: bool,
    /// Profiles, by name.
    pub profiles: Vec<String>,
    /// Variables of the runner's environment, by name.
    pub env: Vec<String>,
}

/// Where a secret comes from, and who may have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRule {
    /// Where launch reads it.
    pub source: SecretSource,
    /// Patterns of capability ids.
    pub for_: Vec<String>,
}

/// What a config is made from.
pub struct Sources<'a> {
    /// The flag `--config`.
    pub config: Option<PathBuf>,
    /// The flag `--registry`, folders with `:` between them.
    pub registry: Option<OsString>,
    /// The environment.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
    /// The working directory; absolute.
    pub cwd: PathBuf,
    /// The caller's user id.
    pub uid: u32,
}

impl Sources<'_> {
    /// A variable that is set and not empty.
    fn var(&self, name: &str) -> Option<OsString> {
        (self.env)(name).filter(|value| !value.is_empty())
    }
}

impl Config {
    /// Reads the user's config and the one found upward, checks both, and merges them with flags and environment.
    pub fn load(sources: &Sources) -> Result<Config, FileError> {
        let user = find::user_file(sources)?;
        let (own, folder) = match &user {
            find::User::File(path) => (file::read_user(path.as_path(), sources.uid)?, path.parent()),
            find::User::Folder(folder) => (file::ConfigFile::default(), Some(folder.as_path())),
            find::User::Nowhere => (file::ConfigFile::default(), None),
        };
        let (upward, ignored) = match find::upward_file(sources, &user) {
            Some(Ok(path)) => (Some((file::read_upward(&path, &user)?, path)), None),
            Some(Err(why)) => (None, Some(why)),
            None => (None, None),
        };
        let (registries, trusted, registries_by) = registries(sources, &own, folder, upward.as_ref());
        Ok(Config {
            registries_by,
            trusted_registries: if trusted { registries.clone() } else { Vec::new() },
            registries,
            file_roots: file_roots(sources, &own, upward.as_ref())?,
            secrets: file::secrets(&own, folder),
            identity: own.identity.unwrap_or(DEFAULT_IDENTITY),
            profiles_dir: folder.map(|folder| folder.join("profiles")).filter(|dir| dir.is_dir()),
            grants: file::grants(own),
            ignored,
        })
    }
}

/// The folder of what toolcell keeps: TOOLCELL_STATE, else the XDG state folder; None where neither is known.
pub fn state_folder(env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    folder("TOOLCELL_STATE").or_else(|| {
        let base = folder("XDG_STATE_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/state")));
        base.map(|base| base.join("toolcell"))
    })
}

/// The registries of the first source that names any, whether that source is trusted, and the flag or variable it is.
fn registries(
    sources: &Sources,
    own: &ConfigFile,
    folder: Option<&Path>,
    upward: Option<&(ConfigFile, PathBuf)>,
) -> (Vec<PathBuf>, bool, Option<&'static str>) {
    let from_list = |list: Option<OsString>| list.map(|list| split(&list, &sources.cwd)).unwrap_or_default();
    let from_file = |list: &Option<Vec<PathBuf>>, base: &Path| -> Vec<PathBuf> {
        list.iter().flatten().map(|path| absolute(base, path)).collect()
    };
    let trusted = [
        (from_list(sources.registry.clone()), Some("--registry")),
        (from_list(sources.var("TOOLCELL_REGISTRY")), Some("TOOLCELL_REGISTRY")),
        (from_file(&own.registry, folder.unwrap_or(&sources.cwd)), None),
    ];
    match (trusted.into_iter().find(|(list, _)| !list.is_empty()), upward) {
        (Some((list, by)), _) => (list, true, by),
        (None, Some((file, path))) => (from_file(&file.registry, path.parent().unwrap_or(Path::new("/"))), false, None),
        (None, None) => (Vec::new(), true, None),
    }
}

fn split(list: &OsStr, cwd: &Path) -> Vec<PathBuf> {
    let parts = list.as_bytes().split(|&b| b == b':').filter(|part| !part.is_empty());
    parts.map(|part| absolute(cwd, Path::new(OsStr::from_bytes(part)))).collect()
}

/// The path below `base`, without `.`; `..` stays, since what it means depends on links.
fn absolute(base: &Path, path: &Path) -> PathBuf {
    base.join(path).components().collect()
}

/// The user's roots, narrowed by the upward file's, which have to lie below them in fact and not by name only.
fn file_roots(
    sources: &Sources,
    own: &ConfigFile,
    upward: Option<&(ConfigFile, PathBuf)>,
) -> Result<Vec<PathBuf>, FileError> {
    let roots: Vec<PathBuf> = match &own.file_roots {
        Some(list) => list.iter().map(|path| absolute(&sources.cwd, path)).collect(),
        None => vec![sources.cwd.clone()],
    };
    let Some((Some(narrower), path)) = upward.map(|(file, path)| (file.file_roots.as_ref(), path)) else {
        return Ok(roots);
    };
    let real: Vec<PathBuf> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    let mut kept = Vec::new();
    for (index, root) in narrower.iter().enumerate() {
        let at = |message: String| FileError::new(path, message).at(format!("/file_roots/{index}"));
        let shown = root.display();
        let found = absolute(&sources.cwd, root)
            .canonicalize()
            .map_err(|error| at(format!("`{shown}` cannot be found: {error}")).hint("name a folder that exists"))?;
        if !real.iter().any(|allowed| found.starts_with(allowed)) {
            let list = roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ");
            return Err(at(format!("`{shown}` does not lie below a root of the user config ({list})")).hint(
                "a config found from the working directory may only narrow; widen `file_roots` in the user config",
            ));
        }
        kept.push(found);
    }
    Ok(kept)
}
