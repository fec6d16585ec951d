//! Registries: folders of capabilities (DESIGN: section 4, layout).

mod error;
mod near;
mod reference;
#[cfg(test)]
mod tests;
mod walk;

pub use error::RegistryError;
pub use reference::Reference;

use crate::capability::{self, Capability, Loaded};
use crate::file_error::FileError;
use crate::tool::{self, ToolFile};
use semver::Version;
use std::path::{Path, PathBuf};
use walk::{Folder, Walk};

/// Registry roots, the earlier wins.
#[derive(Clone, Debug)]
pub struct Registry {
    roots: Vec<PathBuf>,
}

/// A capability that was found, with what it takes to run it.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The registry root it stands below.
    pub root: PathBuf,
    /// Its folder.
    pub dir: PathBuf,
    /// Its contract.
    pub capability: Loaded<Capability>,
    /// How it is run.
    pub tool: Loaded<ToolFile>,
}

/// One folder of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The registry root it stands below.
    pub root: PathBuf,
    /// The folder.
    pub dir: PathBuf,
    /// Its contract, or what is wrong with it.
    pub capability: Result<Loaded<Capability>, FileError>,
}

/// A folder that may answer a reference, with its contract once that had to be read.
struct Candidate {
    dir: PathBuf,
    version: Version,
    capability: Option<Loaded<Capability>>,
}

impl Registry {
    /// A registry of these roots.
    pub fn new(roots: Vec<PathBuf>) -> Self {
        Self { roots }
    }

    /// Finds the capability that a reference means. The first root that holds a fitting version wins; in it, the
    /// highest version.
    pub fn find(&self, reference: &str) -> Result<Found, RegistryError> {
        if self.roots.is_empty() {
            return Err(RegistryError::NoRegistry);
        }
        let wanted = Reference::parse(reference)?;
        let mut available: Vec<Version> = Vec::new();
        let mut ids = Vec::new();
        let (mut unread, mut bare) = (None, None);
        for root in &self.roots {
            let Walk { folders, errors, bare: without } = walk::walk(root);
            bare = bare.or_else(|| without.into_iter().find(|dir| dir != root && wanted.is_name_of(dir)));
            unread = unread.or(errors.into_iter().next().map(|(_, error)| error));
            let (named, others): (Vec<_>, Vec<_>) = folders.into_iter().partition(|folder| folder.id == wanted.id);
            ids.extend(others.into_iter().map(|folder| folder.id));
            let candidates = candidates(named, &wanted)?;
            if let Some(found) = pick(root, candidates, &wanted, &mut available)? {
                return Ok(found);
            }
        }
        if !available.is_empty() {
            available.sort_by(|a, b| b.cmp(a));
            available.dedup();
            let available = available.iter().map(Version::to_string).collect();
            return Err(RegistryError::NoVersion { reference: reference.into(), available });
        }
        // A folder that could not be read may be the one that was meant.
        match unread {
            Some(error) => Err(error.into()),
            None => {
                Err(RegistryError::Unknown { reference: reference.into(), near: near::near(&wanted.id, ids), bare })
            }
        }
    }

    /// Everything below the roots, the broken with what is wrong with it.
    pub fn list(&self) -> Vec<Listed> {
        let mut list: Vec<Listed> = Vec::new();
        for root in &self.roots {
            let Walk { folders, errors, .. } = walk::walk(root);
            let mut here: Vec<Listed> = Vec::new();
            for folder in folders {
                let capability = read(&folder).and_then(|loaded| no_twin(loaded, &folder, &here));
                here.push(Listed { root: root.clone(), dir: folder.dir, capability });
            }
            let broken =
                errors.into_iter().map(|(dir, error)| Listed { root: root.clone(), dir, capability: Err(error) });
            list.extend(here.into_iter().chain(broken));
        }
        list
    }
}

fn no_twin(loaded: Loaded<Capability>, folder: &Folder, here: &[Listed]) -> Result<Loaded<Capability>, FileError> {
    let same = |listed: &&Listed| {
        listed
            .capability
            .as_ref()
            .is_ok_and(|other| other.value.id == loaded.value.id && other.value.version == loaded.value.version)
    };
    match here.iter().find(same) {
        None => Ok(loaded),
        Some(twin) => {
            let message = format!("`{}@{}` is also in {}", folder.id, loaded.value.version, twin.dir.display());
            Err(FileError::new(&loaded.path, message).hint("remove one, or give it another version"))
        }
    }
}

/// The folders that have the id, with their versions. One without a version in its name has to be opened: an error
/// in it stops the search, for it may be the very version that is wanted, unless a folder names that exactly.
fn candidates(folders: Vec<Folder>, wanted: &Reference) -> Result<Vec<Candidate>, FileError> {
    let exact = folders.iter().any(|folder| folder.version.as_ref().is_some_and(|version| wanted.names(version)));
    let mut found = Vec::new();
    for folder in folders {
        match folder.version.clone() {
            Some(version) => found.push(Candidate { dir: folder.dir, version, capability: None }),
            None => match read(&folder) {
                Ok(loaded) => {
                    let version = loaded.value.version.clone();
                    found.push(Candidate { dir: folder.dir, version, capability: Some(loaded) });
                }
                Err(_) if exact => {}
                Err(error) => return Err(error),
            },
        }
    }
    Ok(found)
}

/// The highest candidate that fits, read whole.
fn pick(
    root: &Path,
    candidates: Vec<Candidate>,
    wanted: &Reference,
    available: &mut Vec<Version>,
) -> Result<Option<Found>, RegistryError> {
    available.extend(candidates.iter().map(|candidate| candidate.version.clone()));
    let mut fitting: Vec<Candidate> = candidates.into_iter().filter(|found| wanted.fits(&found.version)).collect();
    fitting.sort_by(|a, b| a.version.cmp(&b.version).then_with(|| b.dir.cmp(&a.dir)));
    let Some(best) = fitting.pop() else { return Ok(None) };
    if let Some(twin) = fitting.last().filter(|other| other.version == best.version) {
        return Err(RegistryError::Duplicate {
            id: wanted.id.clone(),
            version: best.version.to_string(),
            first: best.dir,
            second: twin.dir.clone(),
        });
    }
    let capability = match best.capability {
        Some(capability) => capability,
        None => read(&Folder { dir: best.dir.clone(), id: wanted.id.clone(), version: Some(best.version) })?,
    };
    let tool = tool::load(&best.dir)?;
    Ok(Some(Found { root: root.into(), dir: best.dir, capability, tool }))
}

/// Reads a folder's contract, which has to say what the folder's name says.
fn read(folder: &Folder) -> Result<Loaded<Capability>, FileError> {
    let loaded = capability::load(&folder.dir)?;
    let differs = |pointer: &str, inside: &str, outside: &str| {
        FileError::new(&loaded.path, format!("is `{inside}`, and the folder's name says `{outside}`"))
            .at(pointer)
            .hint("rename the folder, or correct the contract")
    };
    if loaded.value.id != folder.id {
        return Err(differs("/id", &loaded.value.id, &folder.id));
    }
    match &folder.version {
        Some(version) if *version != loaded.value.version => {
            Err(differs("/version", &loaded.value.version.to_string(), &version.to_string()))
        }
        _ => Ok(loaded),
    }
}
