//! Groups that a killed runner left, told from those in use by locks: a group is held by its runner, and the folder above
//! it by whoever is just making one. The kernel lets go of both with the process, however that ends.

use super::{CgroupError, PREFIX, Place, files};
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, DirEntry, File};
use std::path::Path;
use std::time::Duration;

/// How old a group is at least that is looked at: most calls are over by then, and no lock is asked for.
const YOUNG: Duration = Duration::from_millis(200);
/// How old a group is that nobody can be making any more, where the folder above cannot be locked.
const SETTLED: Duration = Duration::from_secs(10);
/// How often, and with which pause, the lock of the folder above is asked for. Another start holds it for less than
/// that; somebody else may hold it for ever, and must not be able to stop calls.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_micros(500);

/// Holds a group. None: somebody else does, which keeps a sweep away just as well.
///
/// # Errors
/// When the folder cannot be opened.
pub fn lock(dir: &Path) -> Result<Option<Flock<File>>, CgroupError> {
    let file = File::open(dir).map_err(|error| CgroupError::at(dir, &error))?;
    Ok(Flock::lock(file, FlockArg::LockExclusiveNonblock).ok())
}

/// Keeps sweepers from the groups below `base` while one is being made.
pub fn making(base: &Path) -> Option<Flock<File>> {
    let mut file = File::open(base).ok()?;
    for _ in 0..TRIES {
        match Flock::lock(file, FlockArg::LockSharedNonblock) {
            Ok(held) => return Some(held),
            Err((back, _)) => file = back,
        }
        std::thread::sleep(PAUSE);
    }
    None
}

/// Removes the groups that a killed runner left.
pub fn sweep(place: &Place) {
    for base in place.bases() {
        let entries = fs::read_dir(base).into_iter().flatten().flatten();
        let old: Vec<(DirEntry, Duration)> =
            entries.filter_map(|entry| age(&entry).filter(|age| *age >= YOUNG).map(|age| (entry, age))).collect();
        if old.is_empty() {
            continue;
        }
        let alone = File::open(base).ok().and_then(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).ok());
        for (entry, _) in old.iter().filter(|(_, age)| alone.is_some() || *age >= SETTLED) {
            if lock(&entry.path()).is_ok_and(|held| held.is_some()) {
                files::remove_at_once(&entry.path());
            }
        }
    }
}

/// How old a group of toolcell's is; None for what is none.
fn age(entry: &DirEntry) -> Option<Duration> {
    entry.file_name().to_str().filter(|name| name.starts_with(PREFIX))?;
    let made = entry.metadata().and_then(|data| data.modified()).ok()?;
    // A clock that was set back makes old groups younger than now; they are as old as they are far away.
    Some(made.elapsed().unwrap_or_else(|ahead| ahead.duration()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    /// Folders stand in for groups: what is tested are the locks.
    fn group(base: &Path, name: &str, seconds: u64) -> std::path::PathBuf {
        let path = base.join(format!("{PREFIX}{name}"));
        fs::create_dir(&path).unwrap();
        let made = std::time::SystemTime::now() - Duration::from_secs(seconds);
        File::open(&path).unwrap().set_times(fs::FileTimes::new().set_modified(made)).unwrap();
        path
    }

    #[test]
    fn what_nobody_holds_goes_at_once_and_what_is_held_or_being_made_stays() {
        let dir = TestDir::new("sweep");
        let place = Place::V2 { base: dir.path().to_path_buf() };
        let (held, left, young) =
            (group(dir.path(), "held", 60), group(dir.path(), "left", 1), group(dir.path(), "young", 0));
        let foreign = dir.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        let _held = lock(&held).unwrap().unwrap();
        assert!(lock(&held).unwrap().is_none());
        sweep(&place);
        assert!(held.exists() && young.exists() && foreign.exists() && !left.exists());
    }

    #[test]
    fn while_one_is_being_made_only_what_is_long_settled_goes() {
        let dir = TestDir::new("sweep");
        let place = Place::V2 { base: dir.path().to_path_buf() };
        let (new, old) = (group(dir.path(), "new", 2), group(dir.path(), "old", 60));
        let making = making(dir.path()).unwrap();
        sweep(&place);
        assert!(new.exists() && !old.exists());
        drop(making);
        sweep(&place);
        assert!(!new.exists());
    }
}
