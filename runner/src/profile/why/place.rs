//! Where a path inside leads: through the links of the sandbox and the host to a mount, and to a file of the host.

use crate::call::{Bind, Mounts};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// What stands at a path inside.
#[derive(Clone, Debug)]
pub enum Place<'a> {
    /// A file or folder of the host, through a bind; without one, the host's own root.
    Host {
        /// The bind.
        bind: Option<&'a Bind>,
        /// Where it stands on the host.
        path: PathBuf,
    },
    /// The writable folders of the call's own.
    Scratch,
    /// /proc.
    Proc,
    /// A device.
    Device(PathBuf),
    /// A small file that is made up.
    Made,
    /// A folder that only leads to what is shown.
    Folder,
    /// Nothing.
    Absent,
    /// A link.
    Link(PathBuf),
}

/// A path, every link followed.
pub struct Found<'a> {
    /// The path inside.
    pub path: PathBuf,
    /// What stands there.
    pub place: Place<'a>,
    /// Folders of the host that have been gone through.
    pub passed: Vec<(Option<&'a Bind>, PathBuf)>,
}

/// The kernel follows no more.
const MOST_LINKS: usize = 40;

/// Follows a path. None: too many links.
pub fn find<'a>(mounts: &'a Mounts, asked: &Path) -> Option<Found<'a>> {
    let mut rest = parts(asked);
    let (mut path, mut passed, mut links) = (PathBuf::from("/"), Vec::new(), 0);
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            path.pop();
            continue;
        }
        let next = path.join(&part);
        let target = match look(mounts, &next) {
            Place::Absent => {
                let path = rest.into_iter().fold(next, |path, part| path.join(part));
                return Some(Found { path, place: Place::Absent, passed });
            }
            Place::Link(target) => Some(target),
            Place::Host { bind, path } => match std::fs::read_link(&path) {
                Ok(target) => Some(target),
                Err(_) => {
                    if !rest.is_empty() {
                        passed.push((bind, path));
                    }
                    None
                }
            },
            _ => None,
        };
        let Some(target) = target else {
            path = next;
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return None;
        }
        if target.is_absolute() {
            path = PathBuf::from("/");
        }
        parts(&target).into_iter().rev().for_each(|part| rest.push_front(part));
    }
    let place = look(mounts, &path);
    Some(Found { path, place, passed })
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        _ => None,
    });
    named.collect()
}

/// What stands at a path of which all but the last part has been followed. What is mounted last covers the rest.
fn look<'a>(mounts: &'a Mounts, path: &Path) -> Place<'a> {
    if path.starts_with("/proc") && (mounts.proc || !mounts.private_root) {
        return Place::Proc;
    }
    if !mounts.private_root {
        return Place::Host { bind: None, path: path.to_path_buf() };
    }
    if let Some(link) = mounts.links.iter().find(|link| link.path.as_path() == path) {
        return Place::Link(link.target.as_path().to_path_buf());
    }
    if mounts.files.iter().any(|file| file.path.as_path() == path) {
        return Place::Made;
    }
    if mounts.scratch.iter().any(|folder| path.starts_with(folder.as_path())) {
        return Place::Scratch;
    }
    if mounts.devices.iter().any(|device| device.as_path() == path) {
        return Place::Device(path.to_path_buf());
    }
    for bind in mounts.binds.iter().rev() {
        let Ok(below) = path.strip_prefix(bind.target.as_path()) else { continue };
        let source = bind.source.as_path();
        let source = std::fs::canonicalize(source).unwrap_or_else(|_| source.to_path_buf());
        // Joining nothing would put a slash behind a file.
        let host = if below.as_os_str().is_empty() { source } else { source.join(below) };
        return Place::Host { bind: Some(bind), path: host };
    }
    let targets = mounts.binds.iter().map(|bind| &bind.target).chain(&mounts.scratch).chain(&mounts.devices);
    let made = mounts.files.iter().map(|file| &file.path).chain(mounts.links.iter().map(|link| &link.path));
    match targets.chain(made).any(|one| one.as_path().starts_with(path)) {
        true => Place::Folder,
        false => Place::Absent,
    }
}
