//! Section `limits`, as far as a process keeps them itself (the rest is the control group's).

use super::protocol::Launch;
use crate::sys::SysError;
use nix::sys::resource::{Resource, setrlimit};

/// Sets the resource limits of the calling process.
pub fn apply(launch: &Launch) -> Result<(), SysError> {
    let limits = &launch.limits;
    let mut wanted = vec![
        (Resource::RLIMIT_FSIZE, limits.file_size, "RLIMIT_FSIZE"),
        // 0 would be ignored by a piped core pattern (core(5)); 1 is not.
        (Resource::RLIMIT_CORE, 1, "RLIMIT_CORE"),
    ];
    if launch.rlimits_stand_in {
        // Not RLIMIT_AS: it kills runtimes that reserve address space they never touch.
        wanted.push((Resource::RLIMIT_DATA, limits.memory, "RLIMIT_DATA"));
        if launch.namespaces.user {
            // Counted by user and user namespace, so init counts too. Without a namespace it would count the
            // caller's other processes.
            wanted.push((Resource::RLIMIT_NPROC, limits.pids + 1, "RLIMIT_NPROC"));
        }
    }
    wanted.into_iter().try_for_each(|(resource, value, name)| set(resource, value, name))
}

/// Sets how many descriptors may be open: last, since every step before needs a few of its own.
pub fn descriptors(launch: &Launch) -> Result<(), SysError> {
    set(Resource::RLIMIT_NOFILE, launch.limits.open_files, "RLIMIT_NOFILE")
}

fn set(resource: Resource, value: u64, name: &'static str) -> Result<(), SysError> {
    let hard = nix::sys::resource::getrlimit(resource).map_err(SysError::on("getrlimit", name))?.1;
    let value = value.min(hard);
    setrlimit(resource, value, value).map_err(SysError::on("setrlimit", name))
}
