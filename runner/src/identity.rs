//! Host ids for the calls of a root runner: one for each call in flight, across all runners of the host, because
//! processes of one id can signal each other and share its process limit.

use crate::call::IdRange;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Where the locks stand: gone after a reboot, as the processes are. The second is for a root whose /run is read-only,
/// as in containers.
const FOLDERS: [&str; 2] = ["/run/toolcell/ids", "/dev/shm/toolcell/ids"];

/// A process begins its search in one of this many places, so that the locks do not fill the folder.
const PLACES: u32 = 256;

/// An id that nothing else uses while this value lives. The lock behind it vanishes with the process, however that
/// ends.
#[derive(Debug)]
pub struct Lease {
    /// The user and group id on the host.
    pub id: u32,
    _lock: Flock<File>,
}

impl Lease {
    /// Takes a free id of the range.
    ///
    /// # Errors
    /// When the folder cannot be used, or every id is taken.
    pub fn take(range: IdRange) -> Result<Self, NoId> {
        let [first, second] = FOLDERS.map(Path::new);
        Self::take_in(first, range).or_else(|first| {
            Self::take_in(second, range)
                .map_err(|second| NoId { why: format!("{}; {}", first.why, second.why), errno: second.errno })
        })
    }

    fn take_in(folder: &Path, range: IdRange) -> Result<Self, NoId> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(NoId::io(folder))?;
        // Somebody else's folder could hand the same id out twice.
        let owner = fs::metadata(folder).map_err(NoId::io(folder))?.uid();
        if owner != nix::unistd::geteuid().as_raw() {
            return Err(NoId::new(format!("{} belongs to user id {owner}", folder.display())));
        }
        // From a different place for each process, so that many seldom try the same one; from the same place for each
        // call of a process, so that what the launcher keeps by id is met again.
        let start = std::process::id().wrapping_mul(2_654_435_761) % range.count.clamp(1, PLACES);
        for step in 0..range.count {
            let offset = (start + step) % range.count;
            let id = range.base + offset;
            let path = folder.join(id.to_string());
            let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
            let file = file.map_err(NoId::io(&path))?;
            if let Ok(lock) = Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                return Ok(Self { id, _lock: lock });
            }
        }
        Err(NoId::new(format!("all {} ids from {} on are in use", range.count, range.base)))
    }
}

/// Why there is no id to be had.
#[derive(Debug)]
pub struct NoId {
    /// The fact.
    pub why: String,
    /// The kernel's answer, where it was the kernel's.
    pub errno: Option<Errno>,
}

impl NoId {
    fn new(why: String) -> Self {
        Self { why, errno: None }
    }

    fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |error| Self {
            why: format!("{}: {error}", path.display()),
            errno: error.raw_os_error().map(Errno::from_raw),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_is_given_out_twice_and_a_dropped_one_comes_back() {
        let folder = std::env::temp_dir().join(format!("toolcell-ids-{}", std::process::id()));
        let range = IdRange { base: 1000, count: 3 };
        let mut leases: Vec<Lease> = (0..3).map(|_| Lease::take_in(&folder, range).unwrap()).collect();
        let mut ids: Vec<u32> = leases.iter().map(|lease| lease.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [1000, 1001, 1002]);
        assert!(Lease::take_in(&folder, range).unwrap_err().why.contains("in use"));
        let freed = leases.pop().unwrap().id;
        assert_eq!(Lease::take_in(&folder, range).unwrap().id, freed);
        fs::remove_dir_all(&folder).unwrap();
    }
}
