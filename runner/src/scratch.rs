//! The temporary folder of a call without mounts: work, home and tmp below one 0700 folder on the host.

use crate::call::Call;
use crate::sys::SysError;
use crate::text::Text;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What stands in a Call for the attempt's own folder, at the beginning of a path.
pub const PLACEHOLDER: &str = "{scratch}";

/// The folder; removed with everything in it when dropped.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Opened before the tool runs, which could put a link in its place.
    out: Option<OwnedFd>,
}

impl Scratch {
    /// Makes the folder and its sub-folders, under a name nobody else has.
    pub fn make(call: &Call) -> Result<Self, SysError> {
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
    let template = std::env::temp_dir().join("toolcell-XXXXXX");
    let path = nix::unistd::mkdtemp(&template).map_err(SysError::on("mkdtemp", template.to_string_lossy()))?;
    Ok(Scratch { out: None, path })
}
