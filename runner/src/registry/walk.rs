//! The folders below a root.

use crate::capability::{FILE, is_id};
use crate::file_error::FileError;
use semver::Version;
use std::collections::HashSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How deep folders are looked for.
const MAX_DEPTH: usize = 16;

/// A capability's folder, by its name.
pub(super) struct Folder {
    pub(super) dir: PathBuf,
    pub(super) id: String,
    pub(super) version: Option<Version>,
}

/// What stands below a root.
#[derive(Default)]
pub(super) struct Walk {
    pub(super) folders: Vec<Folder>,
    /// Folders that could not be read, or are named wrongly.
    pub(super) errors: Vec<(PathBuf, FileError)>,
    /// Folders without a contract.
    pub(super) bare: Vec<PathBuf>,
}

/// Looks through a root, in the order of names. Each folder is entered once, whatever links lead to it.
pub(super) fn walk(root: &Path) -> Walk {
    let mut walk = Walk::default();
    let mut entered = HashSet::new();
    let mut open = vec![(root.to_path_buf(), 0)];
    while let Some((dir, depth)) = open.pop() {
        let failed = |error: std::io::Error| {
            let message = if depth == 0 { "the registry cannot be read" } else { "the folder cannot be read" };
            (dir.clone(), FileError::io(&dir, message, &error))
        };
        match dir.metadata() {
            Ok(metadata) if !entered.insert((metadata.dev(), metadata.ino())) => continue,
            Ok(_) => {}
            Err(error) => {
                walk.errors.push(failed(error));
                continue;
            }
        }
        if depth > 0 && dir.join(FILE).exists() {
            match named(&dir) {
                Ok(folder) => walk.folders.push(folder),
                Err(error) => walk.errors.push((dir, error)),
            }
            continue;
        }
        match sub_folders(&dir) {
            Ok(_) if depth == MAX_DEPTH => {}
            // The stack is emptied from its end.
            Ok(below) => {
                open.extend(below.into_iter().rev().map(|dir| (dir, depth + 1)));
                walk.bare.push(dir);
            }
            Err(error) => walk.errors.push(failed(error)),
        }
    }
    if walk.folders.is_empty() && root.join(FILE).exists() {
        let parent = root.parent().unwrap_or(root).display();
        let error = FileError::new(root, "this folder is itself a capability, and no registry");
        walk.errors.push((root.to_path_buf(), error.hint(format!("name its parent: {parent}"))));
    }
    walk
}

fn sub_folders(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let kind = entry.file_type()?;
        // A link that leads nowhere, or to a file, is no folder.
        if !hidden && (kind.is_dir() || (kind.is_symlink() && entry.path().is_dir())) {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

fn named(dir: &Path) -> Result<Folder, FileError> {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let (id, version) = match name.split_once('@') {
        Some((id, version)) => (id, Some(Version::parse(version))),
        None => (name.as_ref(), None),
    };
    match version.transpose() {
        Ok(version) if is_id(id) => Ok(Folder { dir: dir.into(), id: id.into(), version }),
        _ => Err(FileError::new(dir, format!("the folder's name `{name}` is no `id` or `id@version`"))
            .hint("name it after the contract's id, or id@version")),
    }
}
