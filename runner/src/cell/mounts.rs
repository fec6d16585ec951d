//! Section `mounts`: the root the tool sees.

use super::protocol::{Launch, StageError, Step};
use crate::call::{Bind, Mounts};
use crate::sys::{self, SysError};
use crate::text::Text;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::stat::Mode;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where the new root is mounted before it becomes the root: any folder will do, it is covered in the call's own
/// mount namespace only.
const COVERED: [&str; 5] = ["/tmp", "/run", "/var", "/home", "/usr"];

/// The scratch tmpfs, until its folders are bound where they belong.
const SCRATCH: &str = ".scratch";

/// What will be bound, as detached mounts: opened before the root changes and (by a root launcher) before the
/// identity does, so that a folder below a 0700 folder still works.
pub struct Trees {
    binds: Vec<OwnedFd>,
    devices: Vec<OwnedFd>,
}

/// Opens every bind and device of the section. `owner_map` gives the user namespace that maps a bind's owner.
pub fn open_trees<'a>(
    mounts: &Mounts,
    owner_map: impl Fn(&Bind) -> Option<BorrowedFd<'a>>,
    unmapped: impl Fn(&str),
) -> Result<Trees, StageError> {
    let at = StageError::at(Step::Trees);
    let mut binds = Vec::with_capacity(mounts.binds.len());
    for bind in &mounts.binds {
        let tree = clone_tree(bind).map_err(&at)?;
        let on = bind.source.lossy();
        let map = owner_map(bind);
        match sys::tree_attributes(tree.as_fd(), &on, attributes(bind), map) {
            // Not every file system can map owners. What is only read may keep its own; what is written may not.
            Err(_) if map.is_some() && !bind.writable => {
                sys::tree_attributes(tree.as_fd(), &on, attributes(bind), None).map_err(&at)?;
                unmapped(&on);
            }
            set => set.map_err(&at)?,
        }
        binds.push(tree);
    }
    let device = |path: &Text| {
        let tree = sys::detached_tree(path.as_path(), false)?;
        sys::tree_attributes(tree.as_fd(), &path.lossy(), libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC, None)?;
        Ok(tree)
    };
    let devices = mounts.devices.iter().map(device).collect::<Result<_, SysError>>().map_err(&at)?;
    Ok(Trees { binds, devices })
}

/// An ordinary user may not clone a mount without those locked below it: they come along where nothing is written.
fn clone_tree(bind: &Bind) -> Result<OwnedFd, SysError> {
    match sys::detached_tree(bind.source.as_path(), bind.recursive) {
        Err(error) if error.errno == nix::errno::Errno::EINVAL && !bind.recursive && !bind.writable => {
            sys::detached_tree(bind.source.as_path(), true)
        }
        cloned => cloned,
    }
}

fn attributes(bind: &Bind) -> u64 {
    let mut set = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    if !bind.writable {
        set |= libc::MOUNT_ATTR_RDONLY;
    }
    if !bind.exec {
        set |= libc::MOUNT_ATTR_NOEXEC;
    }
    set
}

/// Builds the private root and makes it the root. Returns the scratch tmpfs, to look at when the call is over, and
/// what became of /proc.
pub fn enter_root(launch: &Launch, trees: &Trees) -> Result<Entered, StageError> {
    let mounts = &launch.mounts;
    new_root(mounts)?;
    for (bind, tree) in mounts.binds.iter().zip(&trees.binds) {
        place(tree.as_fd(), &bind.target).map_err(StageError::at(Step::Binds))?;
    }
    for (path, tree) in mounts.devices.iter().zip(&trees.devices) {
        place(tree.as_fd(), path).map_err(StageError::at(Step::Devices))?;
    }
    let proc_error = if mounts.proc { mount_proc().err() } else { None };
    let scratch = mount_scratch(launch).map_err(StageError::at(Step::Scratch))?;
    make_files(mounts).map_err(StageError::at(Step::Files))?;
    pivot()?;
    let out = launch.out_dir.as_ref().map(|path| make_out(path.as_path())).transpose();
    let out = out.map_err(StageError::at(Step::Scratch))?;
    seal()?;
    Ok(Entered { scratch, out, proc_error })
}

/// What [`enter_root`] leaves behind.
pub struct Entered {
    /// The scratch tmpfs.
    pub scratch: Option<OwnedFd>,
    /// The folder whose files are collected.
    pub out: Option<OwnedFd>,
    /// Why there is no /proc.
    pub proc_error: Option<SysError>,
}

fn make_out(path: &Path) -> Result<OwnedFd, SysError> {
    fs::create_dir_all(path).map_err(SysError::io("mkdir", path.to_string_lossy()))?;
    nix::fcntl::open(path, dir_flags(), Mode::empty()).map_err(SysError::on("open", path.to_string_lossy()))
}

fn dir_flags() -> nix::fcntl::OFlag {
    use nix::fcntl::OFlag;
    OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW
}

fn new_root(mounts: &Mounts) -> Result<(), StageError> {
    let at = StageError::at(Step::NewRoot);
    // Without this, what is mounted below would appear on a host whose root is shared.
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)
        .map_err(SysError::on("mount", "/ private"))
        .map_err(&at)?;
    let base = COVERED.into_iter().find(|path| Path::new(path).is_dir()).unwrap_or("/tmp");
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    // A few for every path that is made on the way to a target.
    let inodes = 4096 + 16 * (mounts.binds.len() + mounts.files.len() + mounts.links.len());
    let options = format!("mode=755,size=4m,nr_inodes={inodes}");
    mount(Some("toolcell"), base, Some("tmpfs"), flags, Some(options.as_str()))
        .map_err(SysError::on("mount", "tmpfs for the new root"))
        .map_err(&at)?;
    nix::unistd::chdir(base).map_err(SysError::on("chdir", base)).map_err(&at)
}

/// The path inside as a path below the new root, which is the working directory until the pivot.
fn below(path: &Text) -> PathBuf {
    path.as_path().strip_prefix("/").unwrap_or(path.as_path()).to_path_buf()
}

fn parents(path: &Path) -> Result<(), SysError> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.exists() => {
            fs::create_dir_all(parent).map_err(SysError::io("mkdir", parent.to_string_lossy()))
        }
        _ => Ok(()),
    }
}

fn place(tree: BorrowedFd<'_>, target: &Text) -> Result<(), SysError> {
    let path = below(target);
    let is_dir = nix::sys::stat::fstat(tree)
        .map_err(SysError::on("fstat", target.lossy()))
        .map(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFDIR)?;
    if !path.exists() {
        parents(&path)?;
        let made = if is_dir { fs::create_dir(&path) } else { fs::write(&path, "") };
        made.map_err(SysError::io("create", target.lossy()))?;
    }
    sys::move_mount(tree, &path)
}

fn mount_proc() -> Result<(), SysError> {
    fs::create_dir_all("proc").map_err(SysError::io("mkdir", "/proc"))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "proc", Some("proc"), flags, Some("hidepid=2")).map_err(SysError::on("mount", "/proc"))
}

fn mount_scratch(launch: &Launch) -> Result<Option<OwnedFd>, SysError> {
    if launch.mounts.scratch.is_empty() {
        return Ok(None);
    }
    fs::create_dir(SCRATCH).map_err(SysError::io("mkdir", SCRATCH))?;
    let options = format!("mode=755,size={},nr_inodes={}", launch.limits.tmp, launch.limits.tmp_inodes);
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("scratch"), SCRATCH, Some("tmpfs"), flags, Some(options.as_str()))
        .map_err(SysError::on("mount", "scratch tmpfs"))?;
    for (number, target) in launch.mounts.scratch.iter().enumerate() {
        let folder = Path::new(SCRATCH).join(number.to_string());
        make_scratch_dir(&folder, target)?;
        place(sys::detached_tree(&folder, false)?.as_fd(), target)?;
    }
    let kept = nix::fcntl::open(SCRATCH, dir_flags(), Mode::empty()).map_err(SysError::on("open", SCRATCH))?;
    umount2(SCRATCH, MntFlags::MNT_DETACH).map_err(SysError::on("umount", SCRATCH))?;
    fs::remove_dir(SCRATCH).map_err(SysError::io("rmdir", SCRATCH))?;
    Ok(Some(kept))
}

/// Makes one scratch folder; those that programs expect to be world-writable are.
fn make_scratch_dir(folder: &Path, target: &Text) -> Result<(), SysError> {
    fs::create_dir(folder).map_err(SysError::io("mkdir", target.lossy()))?;
    let shared = matches!(target.as_bytes(), b"/tmp" | b"/dev/shm");
    let mode = if shared { 0o1777 } else { 0o700 };
    fs::set_permissions(folder, fs::Permissions::from_mode(mode)).map_err(SysError::io("chmod", target.lossy()))
}

fn make_files(mounts: &Mounts) -> Result<(), SysError> {
    for file in &mounts.files {
        let path = below(&file.path);
        parents(&path)?;
        fs::write(&path, &file.content).map_err(SysError::io("write", file.path.lossy()))?;
    }
    for link in &mounts.links {
        let path = below(&link.path);
        parents(&path)?;
        std::os::unix::fs::symlink(link.target.as_path(), &path).map_err(SysError::io("symlink", link.path.lossy()))?;
    }
    Ok(())
}

fn pivot() -> Result<(), StageError> {
    let at = StageError::at(Step::Pivot);
    // The new root is put over the old one and the old one taken from under it, so that no folder for it is needed.
    nix::unistd::pivot_root(".", ".").map_err(SysError::on("pivot_root", "/")).map_err(&at)?;
    umount2(".", MntFlags::MNT_DETACH).map_err(SysError::on("umount", "old root")).map_err(&at)?;
    nix::unistd::chdir("/").map_err(SysError::on("chdir", "/")).map_err(&at)?;
    Ok(())
}

/// Seals the root read-only; what has to be made in it has been made.
fn seal() -> Result<(), StageError> {
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)
        .map_err(SysError::on("mount", "/ read-only"))
        .map_err(StageError::at(Step::Pivot))
}
