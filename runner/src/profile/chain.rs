//! A profile with the files it was merged from, so that each rule can say which of them named it.

use super::file::{self, ProfileFile};
use super::{NAME_HINT, Profile, check_name, place, source, unknown};
use crate::file_error::{FileError, from_toml};
use crate::layer::Layer;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// One file of a chain of `extends`.
pub(super) struct Link {
    pub name: String,
    pub file: PathBuf,
    pub raw: ProfileFile,
    pub builtin: bool,
}

/// Which file of a chain named a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The profile's name.
    pub profile: String,
    /// Its file; for a built-in one, words that say so.
    pub file: String,
}

/// The paths of a profile, by what is allowed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// `[[filesystem.read]]`
    Read,
    /// `[[filesystem.write]]`
    Write,
    /// `[[filesystem.exec]]`
    Exec,
}

impl Section {
    /// Every section.
    pub const ALL: [Section; 3] = [Section::Read, Section::Write, Section::Exec];

    /// The section's name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Section::Read => "filesystem.read",
            Section::Write => "filesystem.write",
            Section::Exec => "filesystem.exec",
        }
    }

    /// The section's rules in a file.
    pub(super) fn of(self, raw: &ProfileFile) -> &[super::PathRule] {
        match self {
            Section::Read => &raw.filesystem.read,
            Section::Write => &raw.filesystem.write,
            Section::Exec => &raw.filesystem.exec,
        }
    }

    /// The section's rules in a merged profile.
    pub fn rules(self, profile: &Profile) -> &[super::PathRule] {
        match self {
            Section::Read => &profile.read,
            Section::Write => &profile.write,
            Section::Exec => &profile.exec,
        }
    }
}

/// The files from the named one to the one that extends nothing; at least one.
pub struct Chain(Vec<Link>);

impl Chain {
    /// Reads the named profile and all that it extends.
    ///
    /// # Errors
    /// The first file that is missing, broken, or extends one that came before.
    pub fn load(name: &str, user_dir: Option<&Path>) -> Result<Self, FileError> {
        files(name, user_dir).map(Self)
    }

    /// The profile, with everything it extends merged in.
    ///
    /// # Errors
    /// A file that contradicts what it extends.
    pub fn merged(&self) -> Result<Profile, FileError> {
        let mut profile: Option<Profile> = None;
        let mut ground: Option<Profile> = None;
        for link in self.0.iter().rev() {
            let merged = file::merge(profile.take(), link)?;
            if link.builtin {
                ground = Some(merged.clone());
            }
            profile = Some(merged);
        }
        let mut profile = profile.ok_or_else(|| unknown("", None))?;
        if let Some(ground) = ground.filter(|_| !profile.builtin) {
            profile.loosened = file::loosened(&profile, &ground);
        }
        Ok(profile)
    }

    /// The files, the named one first.
    pub fn origins(&self) -> Vec<Origin> {
        self.0.iter().map(origin).collect()
    }

    /// The files with what they say, the named one first.
    pub(super) fn links(&self) -> &[Link] {
        &self.0
    }

    /// Who named a path: the first to do so, since a child's second mention changes nothing.
    pub fn of_path(&self, section: Section, path: &Path) -> Option<Origin> {
        self.earliest(|raw| section.of(raw).iter().any(|rule| rule.path == path))
    }

    /// Who denied a system call.
    pub fn of_syscall(&self, name: &str) -> Option<Origin> {
        self.earliest(|raw| raw.syscalls.deny.iter().any(|one| one == name))
    }

    /// Who allowed a device.
    pub fn of_device(&self, path: &str) -> Option<Origin> {
        self.earliest(|raw| raw.devices.allow.iter().any(|one| one == path))
    }

    /// Who chose the network: the last to do so, since a child's word replaces its parent's.
    pub fn of_network(&self) -> Option<Origin> {
        self.latest(|raw| raw.network.mode.is_some())
    }

    /// Who named the hosts.
    pub fn of_hosts(&self) -> Option<Origin> {
        self.latest(|raw| raw.network.allow.is_some())
    }

    /// Who set a limit.
    pub fn of_limit(&self, key: &str) -> Option<Origin> {
        self.latest(|raw| serde_json::to_value(&raw.limits).is_ok_and(|limits| limits.get(key).is_some()))
    }

    /// Who said what the absence of a layer means.
    pub fn of_layer(&self, layer: Layer) -> Option<Origin> {
        self.latest(|raw| raw.require.contains_key(&layer))
    }

    fn latest(&self, names: impl Fn(&ProfileFile) -> bool) -> Option<Origin> {
        self.0.iter().find(|link| names(&link.raw)).map(origin)
    }

    fn earliest(&self, names: impl Fn(&ProfileFile) -> bool) -> Option<Origin> {
        self.0.iter().rev().find(|link| names(&link.raw)).map(origin)
    }
}

pub(super) fn origin(link: &Link) -> Origin {
    Origin { profile: link.name.clone(), file: link.file.display().to_string() }
}

/// The files from the named one to the one that extends nothing.
fn files(name: &str, user_dir: Option<&Path>) -> Result<Vec<Link>, FileError> {
    let mut links: Vec<Link> = Vec::new();
    let mut next = Some(name.to_owned());
    while let Some(name) = next.take() {
        let blame = |error: FileError| match links.last() {
            Some(child) => {
                let mut at = FileError::new(&child.file, error.message).at("/extends");
                at.hint = error.hint;
                at
            }
            None => error,
        };
        if links.iter().any(|link| link.name == name) {
            let way: Vec<&str> = links.iter().map(|link| link.name.as_str()).chain([name.as_str()]).collect();
            let fact = format!("profiles extend each other in a circle: {}", way.join(" -> "));
            return Err(blame(FileError::new("", fact)).hint("let one of them extend a built-in profile instead"));
        }
        check_name(&name).map_err(|fact| blame(FileError::new(place(user_dir), fact).hint(NAME_HINT)))?;
        let (file, text, builtin) = source(&name, user_dir)?.ok_or_else(|| blame(unknown(&name, user_dir)))?;
        let raw: ProfileFile = from_toml(&text, &file)?;
        if raw.extends.is_none() && !builtin {
            return Err(FileError::new(file, "extends nothing; a profile of your own has to start from another")
                .at("/extends")
                .hint("add `extends = \"strict\"`"));
        }
        next = raw.extends.clone();
        links.push(Link { name, file, raw, builtin });
    }
    Ok(links)
}
