//! Collecting the files a tool left in its out folder, after everything of the call is dead.

use crate::outcome::OutFile;
use nix::dir::Dir;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, fstat, fstatat};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What was collected, and why it fell short, if it did.
#[derive(Debug, Default)]
pub struct Collected {
    /// The files, by name.
    pub files: Vec<OutFile>,
    /// The first reason for leaving something out, and how often there was one.
    pub short: Option<String>,
}

/// How long a copy may take to notice that its time is over.
const PATIENCE: Duration = Duration::from_millis(100);
/// The deepest folder that is looked into.
const MAX_DEPTH: usize = 32;
/// The most files that are taken.
const MAX_FILES: usize = 10_000;

/// Collects as [`collect`] does and comes back a moment after `deadline` at the latest: the folder that files are copied to
/// may lie on a file system that does not answer, and what hangs there is left to itself.
pub fn collect_by(deadline: Instant, folder: OwnedFd, cap: u64, target: Option<PathBuf>) -> Collected {
    let Some(target) = target else { return collect(folder, cap, None, deadline) };
    let (done, collected) = std::sync::mpsc::channel();
    let work = move || done.send(collect(folder, cap, Some(&target), deadline));
    let short = |why: &str| Collected { short: Some(why.to_owned()), ..Collected::default() };
    if std::thread::Builder::new().spawn(work).is_err() {
        return short("no thread could be started to copy them");
    }
    // Whatever it does by itself ends at the deadline.
    let patience = deadline.saturating_duration_since(Instant::now()) + PATIENCE;
    collected.recv_timeout(patience).unwrap_or_else(|_| short("the folder of --out did not answer in time"))
}

/// Collects regular files below `folder`: at most `cap` bytes, until `deadline`. With `target` they are copied there
/// under the same names; an existing file is never overwritten.
pub fn collect(folder: OwnedFd, cap: u64, target: Option<&Path>, deadline: Instant) -> Collected {
    let mut walk = Walk { left: cap, left_out: 0, target, deadline, found: Collected::default() };
    if fstat(&folder).is_ok_and(|stat| stat.st_nlink == 0) {
        walk.short(|| "the tool removed the out folder that it was given".to_owned());
    }
    walk.folder(folder, &PathBuf::new(), 0);
    walk.found.files.sort_by(|a, b| a.name.cmp(&b.name));
    if let (Some(short), 2..) = (&mut walk.found.short, walk.left_out) {
        *short += &format!(" (and {} more)", walk.left_out - 1);
    }
    walk.found
}

struct Walk<'a> {
    left: u64,
    left_out: u64,
    target: Option<&'a Path>,
    deadline: Instant,
    found: Collected,
}

impl Walk<'_> {
    fn short(&mut self, reason: impl FnOnce() -> String) {
        self.left_out += 1;
        self.found.short.get_or_insert_with(reason);
    }

    fn folder(&mut self, folder: OwnedFd, below: &Path, depth: usize) {
        if depth > MAX_DEPTH {
            return self.short(|| format!("{} is deeper than {MAX_DEPTH} folders", below.display()));
        }
        let Ok(mut dir) = folder.try_clone().map_err(|_| ()).and_then(|fd| Dir::from_fd(fd).map_err(|_| ())) else {
            return self.short(|| format!("{} cannot be listed", below.display()));
        };
        for entry in dir.iter().flatten() {
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let Ok(text) = name.to_str() else {
                self.short(|| format!("a name in {} is not UTF-8", below.display()));
                continue;
            };
            let path = below.join(text);
            if Instant::now() > self.deadline || self.found.files.len() >= MAX_FILES {
                return self.short(|| format!("time or the limit of {MAX_FILES} files ran out at {}", path.display()));
            }
            self.entry(folder.as_fd(), &path, text, depth);
        }
    }

    fn entry(&mut self, folder: BorrowedFd<'_>, path: &Path, name: &str, depth: usize) {
        let kind = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW).map(|stat| stat.st_mode & libc::S_IFMT);
        // Not even opened: a device or a FIFO could hold the opener up, a link could lead anywhere.
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
        match kind {
            Ok(libc::S_IFDIR) => match openat(folder, name, flags | OFlag::O_DIRECTORY, Mode::empty()) {
                Ok(fd) => self.folder(fd, path, depth + 1),
                Err(errno) => self.short(|| format!("{}: {errno}", path.display())),
            },
            Ok(libc::S_IFREG) => match openat(folder, name, flags, Mode::empty()) {
                Ok(fd) => self.file(File::from(fd), path),
                Err(errno) => self.short(|| format!("{}: {errno}", path.display())),
            },
            Ok(_) => self.short(|| format!("{} is not a regular file", path.display())),
            Err(errno) => self.short(|| format!("{}: {errno}", path.display())),
        }
    }

    fn file(&mut self, mut file: File, path: &Path) {
        let bytes = fstat(&file).map_or(u64::MAX, |stat| stat.st_size as u64);
        if bytes > self.left {
            return self.short(|| format!("{} is larger than what is left of the limit", path.display()));
        }
        match self.copy(&mut file, path) {
            Ok(found) => {
                self.left = self.left.saturating_sub(found.bytes);
                self.found.files.push(found);
            }
            Err(error) => {
                // What was copied of it is no file of the tool's; one that was there before is not ours to remove.
                if error.kind() != std::io::ErrorKind::AlreadyExists
                    && let Some(target) = self.target
                {
                    let _ = std::fs::remove_file(target.join(path));
                }
                self.short(|| format!("{}: {error}", path.display()));
            }
        }
    }

    fn copy(&self, file: &mut File, path: &Path) -> std::io::Result<OutFile> {
        let mut sink = match self.target {
            None => None,
            Some(target) => {
                let to = target.join(path);
                if let Some(parent) = to.parent() {
                    std::fs::create_dir_all(parent)?;
                }
                Some((File::create_new(&to)?, to))
            }
        };
        let (mut hash, mut bytes) = (Sha256::new(), 0u64);
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let length = file.read(&mut chunk)?;
            if length == 0 {
                break;
            }
            if Instant::now() > self.deadline {
                return Err(std::io::Error::other("time ran out"));
            }
            hash.update(&chunk[..length]);
            bytes += length as u64;
            if let Some((sink, _)) = &mut sink {
                sink.write_all(&chunk[..length])?;
            }
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let stored = sink.map(|(_, to)| to.display().to_string());
        Ok(OutFile { name: path.display().to_string(), bytes, sha256, path: stored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(name: &str) -> PathBuf {
        let base = std::env::temp_dir().join(format!("toolcell-collect-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        std::fs::create_dir_all(base.join("out/sub")).unwrap();
        std::fs::write(base.join("out/a.txt"), "abc").unwrap();
        std::fs::write(base.join("out/sub/b.bin"), "0123456789").unwrap();
        base
    }

    fn run(base: &Path, cap: u64, target: Option<&Path>) -> Collected {
        let folder = OwnedFd::from(File::open(base.join("out")).unwrap());
        collect(folder, cap, target, Instant::now() + Duration::from_secs(10))
    }

    #[test]
    fn regular_files_are_taken_with_their_folders_and_digests() {
        let base = scene("plain");
        let target = base.join("kept");
        let found = run(&base, 1000, Some(&target));
        let names: Vec<&str> = found.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.txt", "sub/b.bin"]);
        assert_eq!(found.files[0].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(std::fs::read(target.join("sub/b.bin")).unwrap(), b"0123456789");
        assert!(found.short.is_none());
        std::fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn links_and_fifos_are_left_out_and_said() {
        let base = scene("links");
        std::os::unix::fs::symlink("/etc/passwd", base.join("out/leak")).unwrap();
        nix::unistd::mkfifo(&base.join("out/fifo"), Mode::S_IRWXU).unwrap();
        let found = run(&base, 1000, None);
        assert_eq!(found.files.len(), 2);
        let short = found.short.unwrap();
        assert!(short.contains("not a regular file") && short.ends_with(" (and 1 more)"), "{short}");
        std::fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn the_cap_holds_and_an_existing_file_is_not_overwritten() {
        let base = scene("cap");
        let found = run(&base, 5, None);
        assert_eq!(found.files.len(), 1);
        assert!(found.short.unwrap().contains("sub/b.bin"));
        let target = base.join("kept");
        std::fs::create_dir_all(&target).unwrap();
        std::fs::write(target.join("a.txt"), "mine").unwrap();
        let found = run(&base, 1000, Some(&target));
        assert_eq!(std::fs::read(target.join("a.txt")).unwrap(), b"mine");
        assert_eq!(found.files.len(), 1);
        std::fs::remove_dir_all(&base).unwrap();
    }
}
