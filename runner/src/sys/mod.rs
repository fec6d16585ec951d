//! The fence: system calls that no crate here wraps, as safe functions. The only unsafe code of the workspace's
//! runner; every block states the invariant that makes it sound.
#![expect(unsafe_code, reason = "raw system calls; each block states its invariant")]

mod bytes;
mod mount;
mod process;
mod receive;
#[cfg(test)]
mod tests;

pub use bytes::{environment_wipe, raise_loopback, watch};
pub use mount::{detached_tree, move_mount, tree_attributes};
pub use process::{
    Forked, OneThread, Reaped, adopt_signals, cap_drop, cap_drop_all, cloexec_from, clone_into, die_by, exec, exit_now,
    fork, give_back, install_filter, is_ignored, landlock_abi, live_with_only, nonblocking, pidfd_kill, reap,
    reap_an_init, reap_pidfd, reset_signals,
};
pub use receive::receive;

use nix::errno::Errno;

/// A system call that failed: which, on what, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}{}{on}: {errno}", if on.is_empty() { "" } else { " " })]
pub struct SysError {
    /// The system call's name.
    pub call: &'static str,
    /// What it was done to.
    pub on: String,
    /// The kernel's answer.
    pub errno: Errno,
}

impl SysError {
    /// An error of `call` done to `on`.
    pub fn new(call: &'static str, on: impl Into<String>, errno: Errno) -> Self {
        Self { call, on: on.into(), errno }
    }

    /// Shapes an error for `map_err`.
    pub fn on(call: &'static str, on: impl Into<String>) -> impl FnOnce(Errno) -> Self {
        let on = on.into();
        move |errno| Self { call, on, errno }
    }

    /// Shapes an I/O error for `map_err`.
    pub fn io(call: &'static str, on: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let on = on.into();
        move |error| Self { call, on, errno: Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)) }
    }
}

/// Turns a raw return value into a result.
fn check(call: &'static str, on: &str, value: libc::c_long) -> Result<libc::c_long, SysError> {
    if value < 0 { Err(SysError::new(call, on, Errno::last())) } else { Ok(value) }
}
