//! Facts about this host, found once and handed to whoever decides by them.

mod fact;

pub use fact::{Fact, Trust};

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
                && may_give_ids(&read("/proc/self/status"))
                && maps_hold(&read("/proc/self/uid_map"), ids)
                && maps_hold(&read("/proc/self/gid_map"), ids),
            landlock_abi: sys::landlock_abi(),
            cgroup: Place::find(),
            namespaces: Fact::known(Ok(())),
            core_limit_holds: !read("/proc/sys/kernel/core_pattern").starts_with('@'),
        }
    }
}

/// Whether a root still has what giving others an id takes: a container's often has not, and is no more than an ordinary
/// user then.
fn may_give_ids(status: &str) -> bool {
    // CAP_CHOWN, CAP_SETGID, CAP_SETUID, CAP_SYS_ADMIN (capability.h).
    const NEEDED: u64 = 1 << 0 | 1 << 6 | 1 << 7 | 1 << 21;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & NEEDED == NEEDED)
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
    fn a_root_without_the_rights_to_give_ids_is_an_ordinary_user() {
        assert!(may_give_ids("Uid:\t0\nCapEff:\t000001ffffffffff\n"));
        // What a container engine leaves by default: no CAP_SYS_ADMIN.
        assert!(!may_give_ids("CapEff:\t00000000a80425fb\n"));
        assert!(!may_give_ids("CapEff:\t0000000000000000\n") && !may_give_ids(""));
    }

    #[test]
    fn a_container_root_without_the_range_is_an_ordinary_user() {
        let ids = crate::call::IdRange { base: 1_900_000_000, count: 65_536 };
        assert!(maps_hold("         0          0 4294967295\n", ids));
        assert!(!maps_hold("         0     100000      65536\n", ids));
        assert!(!maps_hold("", ids));
    }
}
