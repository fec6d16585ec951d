//! Why a capability was not found, and the way out.

use crate::file_error::FileError;
use std::path::PathBuf;

/// Why a capability was not found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RegistryError {
    /// No folder has this id.
    #[error("there is no capability `{reference}`")]
    Unknown {
        /// What was asked for.
        reference: String,
        /// Ids that look like it.
        near: Vec<String>,
        /// A folder of that name that holds no contract.
        bare: Option<PathBuf>,
    },
    /// The id is there, and no version of it fits.
    #[error("no version of the capability fits `{reference}`")]
    NoVersion {
        /// What was asked for.
        reference: String,
        /// The versions that are there, the highest first.
        available: Vec<String>,
    },
    /// Not an id, or not a version requirement after `@`.
    #[error("`{reference}` is not a reference to a capability: {message}")]
    BadReference {
        /// What was asked for.
        reference: String,
        /// What is wrong with it.
        message: String,
    },
    /// The capability's files are broken.
    #[error(transparent)]
    File(#[from] FileError),
    /// Two folders of one root hold the same version.
    #[error("`{id}@{version}` is there twice: {} and {}", first.display(), second.display())]
    Duplicate {
        /// The id.
        id: String,
        /// The version.
        version: String,
        /// One folder.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// No root is configured.
    #[error("no registry is configured")]
    NoRegistry,
}

impl RegistryError {
    /// The way out.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { bare: Some(dir), .. } => {
                format!("{} has its name and holds no capability.json", dir.display())
            }
            Self::Unknown { near, .. } if near.is_empty() => "`toolcell list` shows what there is".into(),
            Self::Unknown { near, .. } => format!("near it: {}", near.join(", ")),
            Self::NoVersion { available, .. } => format!("there are: {}", available.join(", ")),
            Self::BadReference { .. } => "write `id`, `id@1.2.0` or `id@^1.2`".into(),
            Self::File(error) => return error.hint.clone(),
            Self::Duplicate { .. } => "remove one, or give it another version".into(),
            Self::NoRegistry => {
                "name one with --registry DIR, TOOLCELL_REGISTRY, or `registry` in toolcell.toml".into()
            }
        })
    }
}
