//! The mount API of Linux 5.2 and 5.12: detached trees and their attributes.

use super::{SysError, check};
use std::ffi::CString;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Which user namespace the owners of a detached tree are mapped through.
pub type Idmap<'a> = Option<BorrowedFd<'a>>;

fn c_path(path: &Path) -> CString {
    // A path with a NUL cannot come from the kernel, and resolve refuses one that comes from a file; what is
    // left after the cut names no existing object, so the call that follows fails with ENOENT.
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

/// Clones the mount at `path` into a detached tree (open_tree(2) with OPEN_TREE_CLONE). It appears nowhere until
/// [`move_mount`], and vanishes with the descriptor.
///
/// # Errors
/// EPERM without CAP_SYS_ADMIN over the mount namespace; ENOENT; EINVAL for a tree that may not be cloned.
pub fn detached_tree(path: &Path, recursive: bool) -> Result<OwnedFd, SysError> {
    let c = c_path(path);
    let mut flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC;
    if recursive {
        flags |= libc::AT_RECURSIVE as u32;
    }
    // SAFETY: `c` is a NUL-terminated string that outlives the call; the kernel only reads it.
    let fd = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, c.as_ptr(), flags) };
    let fd = check("open_tree", &path.to_string_lossy(), fd)?;
    // SAFETY: the kernel has just returned this descriptor, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Sets attributes on a whole detached tree (mount_setattr(2), recursive, submounts included).
///
/// `set` is a mask of MOUNT_ATTR_*; `idmap` maps the files' owners through that user namespace.
///
/// # Errors
/// EINVAL where the file system cannot be idmapped; EPERM.
pub fn tree_attributes(tree: BorrowedFd<'_>, on: &str, set: u64, idmap: Idmap<'_>) -> Result<(), SysError> {
    let mut attr = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    if let Some(userns) = idmap {
        attr.attr_set |= libc::MOUNT_ATTR_IDMAP;
        attr.userns_fd = userns.as_raw_fd() as u64;
    }
    // SAFETY: the empty path is a static NUL-terminated string and `attr` outlives the call, with its true size.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    check("mount_setattr", on, done).map(|_| ())
}

/// Puts a detached tree at `target`.
///
/// # Errors
/// ENOENT when the target is missing; ENOTDIR when one is a folder and the other a file.
pub fn move_mount(tree: BorrowedFd<'_>, target: &Path) -> Result<(), SysError> {
    let c = c_path(target);
    // SAFETY: both strings are NUL-terminated and outlive the call; the kernel only reads them.
    let done = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            c.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    check("move_mount", &target.to_string_lossy(), done).map(|_| ())
}
