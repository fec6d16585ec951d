//! Messages with descriptors.

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use std::io::IoSliceMut;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The most descriptors one message brings.
const MOST: usize = 16;

/// Receives one message; how long it is, and the descriptors that came with it, close-on-exec. Of more than 16 the
/// kernel drops the rest.
///
/// # Errors
/// EAGAIN on a socket that does not block; EINTR.
pub fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> Result<(usize, Vec<OwnedFd>), Errno> {
    let mut space = nix::cmsg_space!([i32; MOST]);
    let mut data = [IoSliceMut::new(bytes)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut data, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let mut fds = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = control {
            // SAFETY: the kernel made these descriptors for this process with the message that was received just now
            // (SCM_RIGHTS); the list is used up here, so each has one owner.
            fds.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
        }
    }
    Ok((message.bytes, fds))
}
