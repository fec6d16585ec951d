//! Memory, device and runtime bits that have no safe wrapper.

use super::{OneThread, SysError};
use nix::errno::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use tokio::io::unix::AsyncFd;

unsafe extern "C" {
    static mut environ: *mut *mut libc::c_char;
}

/// Overwrites the environment block this process was started with, so that /proc/PID/environ shows nothing, and
/// leaves it an empty environment. For the launcher, whose memory is its own after the fork.
pub fn environment_wipe(_: &OneThread) {
    // SAFETY: the process has one thread, so nobody reads the environment meanwhile. `environ` is null or a
    // null-terminated array of NUL-terminated strings; each string's bytes are writable memory of this process (the
    // start-up block or the heap), and only bytes before its terminator are written.
    unsafe {
        let list = environ;
        if list.is_null() {
            return;
        }
        let mut at = list;
        while !(*at).is_null() {
            let text = *at;
            let length = libc::strlen(text);
            std::ptr::write_bytes(text, 0, length);
            at = at.add(1);
        }
        *list = std::ptr::null_mut();
    }
}

/// Registers a descriptor with the runtime, interest in reading and writing.
///
/// # Errors
/// When the runtime cannot watch it.
pub fn watch(fd: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd names the same open descriptor until it is dropped, and the AsyncFd owns it.
    unsafe { AsyncFd::register(fd) }.map_err(|failed| failed.into_parts().1)
}

/// Raises `lo` in the network namespace this process is in.
///
/// # Errors
/// EPERM without CAP_NET_ADMIN there.
pub fn raise_loopback() -> Result<(), SysError> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
        .map_err(SysError::on("socket", "AF_INET"))?;
    // SAFETY: ifreq is plain data for which all zeroes is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: SIOCSIFFLAGS reads an ifreq, which outlives the call.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) } != 0 {
        return Err(SysError::new("ioctl", "SIOCSIFFLAGS lo", Errno::last()));
    }
    Ok(())
}
