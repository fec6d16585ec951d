//! Facts about this host, found once and handed to whoever decides by them.

mod fact;

pub use fact::Fact;

use crate::cgroup::Place;
use crate::sys;

/// What this host offers. Tests build it by hand.
#[derive(Clone, Debug)]
pub struct Host {
    /// The caller's effective user id.
    pub uid: u32,
    /// The caller's effective group id.
    pub gid: u32,
    /// Whether the caller is a root that may give calls ids of their own.
    pub root: bool,
    /// The kernel's Landlock ABI; 0: none.
    pub landlock_abi: u32,
    /// Where calls' control groups are made, or why there are none.
    pub cgroup: Result<Place, String>,
    /// Whether calls can have namespaces and a root of their own. Asked only where a profile can do without; taken for
    /// granted until [`crate::probe::namespaces`] is put in its place.
    pub namespaces: Fact,
    /// Whether a core dump limit of 1 keeps cores from being written.
    pub core_limit_holds: bool,
}

impl Host {
    /// Looks at the host this process runs on. `ids`: the range a root runner takes ids from.
    pub fn detect(ids: crate::call::IdRange) -> Self {
        let uid = nix::unistd::geteuid().as_raw();
        Self {
            uid,
            gid: nix::unistd::getegid().as_raw(),
            root: uid == 0
                && maps_hold(&read("/proc/self/uid_map"), ids)
                && maps_hold(&read("/proc/self/gid_map"), ids),
            landlock_abi: sys::landlock_abi(),
            cgroup: Place::find(),
            namespaces: Fact::known(Ok(())),
            core_limit_holds: !read("/proc/sys/kernel/core_pattern").starts_with('@'),
        }
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Whether an id map holds the whole range: a root in a container often has no such ids to give.
fn maps_hold(map: &str, ids: crate::call::IdRange) -> bool {
    map.lines().any(|line| {
        let mut fields = line.split_whitespace().filter_map(|field| field.parse::<u64>().ok());
        let (Some(first), Some(_), Some(count)) = (fields.next(), fields.next(), fields.next()) else { return false };
        first <= u64::from(ids.base) && u64::from(ids.base) + u64::from(ids.count) <= first + count
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_root_without_the_range_is_an_ordinary_user() {
        let ids = crate::call::IdRange { base: 1_900_000_000, count: 65_536 };
        assert!(maps_hold("         0          0 4294967295\n", ids));
        assert!(!maps_hold("         0     100000      65536\n", ids));
        assert!(!maps_hold("", ids));
    }
}
