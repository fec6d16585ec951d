//! The temporary folder of a call without mounts: work, home and tmp below one 0700 folder on the host.

use crate::call::Call;
use crate::sys::SysError;
use crate::text::Text;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the folders' names begin with.
const PREFIX: &str = "toolcell-scratch-";
/// How old a folder is that somebody has had the time to hold.
const MOMENT: Duration = Duration::from_secs(10);

/// What stands in a Call for the attempt's own folder, at the beginning of a path.
pub const PLACEHOLDER: &str = "{scratch}";

/// The folder; removed with everything in it when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Opened before the tool runs, which could put a link in its place.
    out: Option<OwnedFd>,
    /// Held while the folder is in use: another start of toolcell removes those that nobody holds.
    _lock: Option<Flock<File>>,
}

impl Scratch {
    /// Makes the folder and its sub-folders, under a name nobody else has.
    pub fn make(call: &Call) -> Result<Self, SysError> {
        // Only who makes such a folder looks for what another left: TMPDIR may be large.
        sweep();
        let mut scratch = empty_folder()?;
        let out = Self::place(Some(&scratch), &call.out_dir).as_path().to_path_buf();
        let folders = call.mounts.scratch.iter().map(|folder| Self::place(Some(&scratch), folder));
        for folder in folders.map(|text| text.as_path().to_path_buf()).chain([out.clone()]) {
            fs::create_dir_all(&folder).map_err(SysError::io("mkdir", folder.to_string_lossy()))?;
        }
        let open = fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(&out);
        scratch.out = Some(open.map_err(SysError::io("open", out.to_string_lossy()))?.into());
        Ok(scratch)
    }

    /// Makes the folders belong to the id the tool runs under.
    pub fn give(&self, id: u32) -> Result<(), SysError> {
        give(&self.path, id)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text with the placeholder replaced; as it is where there is no folder.
    pub fn place(scratch: Option<&Self>, text: &Text) -> Text {
        match (scratch, text.as_bytes().strip_prefix(PLACEHOLDER.as_bytes())) {
            (Some(scratch), Some(rest)) => {
                let mut path = Text::from(scratch.path.as_path()).as_bytes().to_vec();
                path.extend_from_slice(rest);
                Text::from(path)
            }
            _ => text.clone(),
        }
    }

    /// The out folder, as it was before the tool ran.
    pub fn take_out(&mut self) -> Option<OwnedFd> {
        self.out.take()
    }
}

fn give(path: &Path, id: u32) -> Result<(), SysError> {
    std::os::unix::fs::chown(path, Some(id), Some(id)).map_err(SysError::io("chown", path.to_string_lossy()))?;
    for entry in fs::read_dir(path).map_err(SysError::io("readdir", path.to_string_lossy()))?.flatten() {
        give(&entry.path(), id)?;
    }
    Ok(())
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// An empty 0700 folder that is removed when dropped.
pub fn empty_folder() -> Result<Scratch, SysError> {
    let template = std::env::temp_dir().join(format!("{PREFIX}XXXXXX"));
    let path = nix::unistd::mkdtemp(&template).map_err(SysError::on("mkdtemp", template.to_string_lossy()))?;
    let _lock = lock(&path);
    Ok(Scratch { out: None, path, _lock })
}

fn lock(folder: &Path) -> Option<Flock<File>> {
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(folder).ok()?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()
}

/// Removes folders that a killed runner of this user left behind: those that nobody holds and that are older than a
/// moment (one being made is not yet held).
fn sweep() {
    let uid = nix::unistd::geteuid();
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        let Ok(data) = entry.metadata() else { continue };
        let settled = data.modified().ok().and_then(|time| time.elapsed().ok()).is_none_or(|age| age > MOMENT);
        let ours = data.is_dir() && (data.uid() == uid.as_raw() || uid.is_root());
        if ours && settled && lock(&entry.path()).is_some() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_use_stays_and_one_that_was_left_goes() {
        let used = empty_folder().unwrap();
        let left = empty_folder().unwrap();
        let path = left.path().to_path_buf();
        let old = filetime(60);
        for folder in [used.path(), &path] {
            File::open(folder).unwrap().set_times(fs::FileTimes::new().set_modified(old)).unwrap();
        }
        sweep();
        assert!(path.is_dir(), "it is held");
        // As after a SIGKILL: the lock is gone, the folder is not.
        let mut left = std::mem::ManuallyDrop::new(left);
        left._lock = None;
        sweep();
        assert!(used.path().is_dir() && !path.exists());
    }

    fn filetime(seconds: u64) -> std::time::SystemTime {
        std::time::SystemTime::now() - Duration::from_secs(seconds)
    }
}
