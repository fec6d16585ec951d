//! `id`, `id@1.2.0`, `id@^1.2`.

use super::RegistryError;
use crate::capability::is_id;
use semver::{Version, VersionReq};
use std::ffi::OsStr;
use std::path::Path;

/// What a reference asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The id.
    pub id: String,
    wanted: Wanted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    /// The highest that is no pre-release.
    Latest,
    /// A whole version means itself, and not `^` as in a manifest.
    Exact(Version),
    Range(VersionReq),
}

impl Reference {
    /// Reads a reference.
    pub fn parse(reference: &str) -> Result<Self, RegistryError> {
        let bad = |message: String| RegistryError::BadReference { reference: reference.into(), message };
        let (id, version) = match reference.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (reference, None),
        };
        if !is_id(id) {
            return Err(bad(format!("`{id}` is not an id")));
        }
        let wanted = match version {
            None => Wanted::Latest,
            Some(text) => match Version::parse(text) {
                Ok(version) => Wanted::Exact(version),
                Err(_) => VersionReq::parse(text)
                    .map(Wanted::Range)
                    .map_err(|error| bad(format!("`{text}` is not a version requirement: {error}")))?,
            },
        };
        Ok(Self { id: id.into(), wanted })
    }

    /// Whether a version answers it.
    pub fn fits(&self, version: &Version) -> bool {
        match &self.wanted {
            Wanted::Latest => version.pre.is_empty(),
            Wanted::Exact(wanted) => wanted == version,
            Wanted::Range(range) => range.matches(version),
        }
    }

    /// Whether a folder's name says that this capability stands in it.
    pub(super) fn is_name_of(&self, dir: &Path) -> bool {
        let name = dir.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.split('@').next() == Some(self.id.as_str())
    }

    /// Whether it means this one version and no other.
    pub(super) fn names(&self, version: &Version) -> bool {
        matches!(&self.wanted, Wanted::Exact(wanted) if wanted == version)
    }
}
