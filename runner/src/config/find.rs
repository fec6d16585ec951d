//! Where the config files are, and whether the user's may be trusted.

use super::{Sources, absolute};
use crate::file_error::FileError;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const NAME: &str = "toolcell.toml";

/// The user's config.
pub(super) enum User {
    /// The file.
    File(PathBuf),
    /// No file, but the folder it would stand in.
    Folder(PathBuf),
    /// Neither XDG_CONFIG_HOME nor HOME is set.
    Nowhere,
}

/// The file that a flag or the environment names, which then has to exist; else the one of the XDG folder.
pub(super) fn user_file(sources: &Sources) -> Result<User, FileError> {
    let flag = sources.config.clone().map(|path| (path, "--config"));
    let named = flag.or_else(|| sources.var("TOOLCELL_CONFIG").map(|path| (path.into(), "TOOLCELL_CONFIG")));
    if let Some((path, by)) = named {
        let path = absolute(&sources.cwd, &path);
        return match std::fs::metadata(&path) {
            Ok(_) => Ok(User::File(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(FileError::new(path, "does not exist")
                .hint(format!("{by} names it; correct the path, or leave {by} out"))),
            Err(error) => Err(FileError::io(path, "cannot be read", &error)),
        };
    }
    let folder = |name: &str| sources.var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let Some(base) = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config"))) else {
        return Ok(User::Nowhere);
    };
    let folder = base.join("toolcell");
    let path = folder.join(NAME);
    match std::fs::metadata(&path) {
        Ok(_) => Ok(User::File(path)),
        // A folder one may not even look into is somebody else's: HOME often is, under sudo, cron and setpriv.
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied) =>
        {
            Ok(User::Folder(folder))
        }
        Err(error) => Err(FileError::io(path, "cannot be read", &error)),
    }
}

/// The first toolcell.toml from the working directory up to the root, unless it is the user's own file. One that anybody
/// else may have written is not believed, and no error: whoever can write /tmp must not be able to stop all calls there.
pub(super) fn upward_file(sources: &Sources, user: &User) -> Option<Result<PathBuf, FileError>> {
    let found = sources.cwd.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())?;
    let id = |path: &Path| std::fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    match user {
        User::File(own) if id(own) == id(&found) => None,
        _ => {
            let checked = std::fs::metadata(&found)
                .map_err(|error| FileError::io(&found, "cannot be read", &error))
                // One's own group may write a shared working copy: it can only tighten.
                .and_then(|meta| check_owner(&found, meta.uid(), meta.mode() & !0o020, sources.uid));
            Some(checked.map(|()| found))
        }
    }
}

/// Whoever can write the user's config can grant anything, so nobody else may.
pub(super) fn check_owner(path: &Path, owner: u32, mode: u32, uid: u32) -> Result<(), FileError> {
    let shown = path.display();
    if owner != uid && owner != 0 {
        let fact = format!("belongs to user id {owner}, not to you ({uid}) or root; it could grant anything");
        return Err(FileError::new(path, fact).hint(format!("look at what it says, then: chown {uid} '{shown}'")));
    }
    if mode & 0o022 != 0 {
        let fact =
            format!("may be written by others than its owner (mode {:03o}); they could grant anything", mode & 0o777);
        return Err(FileError::new(path, fact).hint(format!("chmod go-w '{shown}'")));
    }
    Ok(())
}
