//! Processes: birth, rights, death.

use super::{SysError, check};
use nix::errno::Errno;
use std::ffi::{CString, c_char};
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

/// A process id, as the calling process's pid namespace counts.
pub type Pid = libc::pid_t;

/// Which side of a fork this is.
pub enum Forked<T> {
    /// The new process.
    Child,
    /// The old one, with what it knows of the new one.
    Parent(T),
}

/// Proof that this process has one thread, kept by whoever starts none while holding it. It cannot go to another
/// thread, and a fork's child, which has one thread by its nature, holds it on.
pub struct OneThread(PhantomData<*const ()>);

impl OneThread {
    /// Asks the kernel.
    ///
    /// # Errors
    /// EBUSY when there are more threads, or it cannot be told.
    pub fn proven() -> Result<Self, SysError> {
        // A folder has two links of its own, and one for each thread here.
        let counted = std::fs::metadata("/proc/self/task").map(|task| task.nlink() == 3);
        // Changes nothing in a process with one thread, and fails in any other (unshare(2)). Only where there is no
        // /proc: a container's seccomp profile may kill for the call whatever it is for.
        let alone = || nix::sched::unshare(nix::sched::CloneFlags::CLONE_THREAD).is_ok();
        let proven = counted.unwrap_or_else(|_| alone());
        if proven { Ok(Self(PhantomData)) } else { Err(SysError::new("unshare", "threads", Errno::EBUSY)) }
    }
}

/// Forks the calling process.
///
/// # Errors
/// EAGAIN at a process limit, ENOMEM.
pub fn fork(_: &OneThread) -> Result<Forked<Pid>, SysError> {
    // SAFETY: the process has one thread, so no lock can be held by a thread that the child does not have.
    match unsafe { libc::fork() } {
        -1 => Err(SysError::new("fork", "", Errno::last())),
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(pid)),
    }
}

/// Clones the calling process into the new namespaces of `flags`, with a pidfd. With `for_parent` the child belongs
/// to the caller's own parent (CLONE_PARENT, so that the runner itself waits for init) and ends without a signal.
///
/// # Errors
/// EPERM or ENOSPC where namespaces are not to be had, ENOSYS where clone3 is blocked, EAGAIN.
pub fn clone_into(flags: i32, for_parent: bool, _: &OneThread) -> Result<Forked<(Pid, OwnedFd)>, SysError> {
    let mut pidfd: libc::c_int = -1;
    let (parent, exit_signal) = if for_parent { (libc::CLONE_PARENT, 0) } else { (0, libc::SIGCHLD as u64) };
    let args = libc::clone_args {
        flags: (flags | parent | libc::CLONE_PIDFD) as u64,
        pidfd: &raw mut pidfd as u64,
        child_tid: 0,
        parent_tid: 0,
        exit_signal,
        stack: 0,
        stack_size: 0,
        tls: 0,
        set_tid: 0,
        set_tid_size: 0,
        cgroup: 0,
    };
    // SAFETY: without CLONE_VM this is a fork: the child goes on with its own copy of this stack. `args` and
    // `pidfd` outlive the call. The process has one thread (see `fork`).
    let mut pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<libc::clone_args>()) };
    if pid < 0 && Errno::last() == Errno::ENOSYS {
        // A container's default seccomp profile answers so, for clone to be used, whose flags it can see.
        let flags = args.flags | exit_signal;
        // SAFETY: as above; CLONE_PIDFD stores where the parent's thread id would go (clone(2)), and the null stack
        // and the others are unused.
        pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0usize, &raw mut pidfd, 0usize, 0usize) };
    }
    match check("clone", "namespaces", pid)? {
        0 => Ok(Forked::Child),
        // SAFETY: CLONE_PIDFD made the kernel store a new descriptor in `pidfd`; nothing else owns it.
        pid => Ok(Forked::Parent((pid as Pid, unsafe { OwnedFd::from_raw_fd(pidfd) }))),
    }
}

/// Ends this process at once: no destructors, no exit handlers (which belong to the process it was forked from).
pub fn exit_now(code: i32) -> ! {
    // SAFETY: takes an integer and does not return.
    unsafe { libc::_exit(code) }
}

/// Sets every signal to its default action and unblocks all, whatever the caller of toolcell had set.
pub fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: SIG_DFL installs no handler. Numbers that cannot be set (SIGKILL, SIGSTOP, the C library's own)
        // are refused by the call, which is what is wanted.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let _ = nix::sys::signal::SigSet::empty().thread_set_mask();
}

/// Makes a runner independent of a careless caller: unblocks every signal, and lets children be waited for even where
/// the caller ignores SIGCHLD. Other dispositions (nohup's, a background shell's) are the caller's to choose.
pub fn adopt_signals() {
    // SAFETY: SIG_DFL installs no handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    // A file size limit of the caller's is to be an error, not the end.
    // SAFETY: SIG_IGN installs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let _ = nix::sys::signal::SigSet::empty().thread_set_mask();
}

/// Whether this process ignores a signal, as its caller may have it do.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: sigaction is plain data for which all zeroes is a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: a null new action only asks; `action` outlives the call.
    unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    action.sa_sigaction == libc::SIG_IGN
}

/// Gives a signal back its own course; one that is ignored stays so.
pub fn give_back(signal: i32) {
    if !is_ignored(signal) {
        // SAFETY: SIG_DFL installs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Ends this process by a signal, as if it had never been caught.
pub fn die_by(signal: i32) {
    // SAFETY: SIG_DFL installs no handler; raise takes an integer.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Lives on with the standard three descriptors and `kept`, which becomes the fourth; every other one is closed. Ends
/// the process with 1 where the kernel refuses (EMFILE; ENOSYS before Linux 5.9).
///
/// It does not return, and `what`, which is copied, owns nothing: so no value of the callers that owned one of the
/// others is used or dropped again.
pub fn live_with_only<T: Copy>(kept: OwnedFd, what: T, alone: OneThread, life: fn(OwnedFd, T, OneThread) -> !) -> ! {
    match keep_only(kept) {
        Ok(kept) => life(kept, what, alone),
        Err(_) => exit_now(1),
    }
}

fn keep_only(kept: OwnedFd) -> Result<OwnedFd, SysError> {
    const PLACE: i32 = 3;
    let raw = kept.into_raw_fd();
    if raw != PLACE {
        // SAFETY: takes integers. What is closed has owners only among values that are never used again (see
        // `live_with_only`).
        check("dup3", "", unsafe { libc::dup3(raw, PLACE, libc::O_CLOEXEC) }.into())?;
    }
    // SAFETY: as above; integers only.
    let done = unsafe { libc::syscall(libc::SYS_close_range, PLACE as libc::c_uint + 1, libc::c_uint::MAX, 0) };
    check("close_range", "", done)?;
    // SAFETY: the descriptor has just been put there, and its former owner gave it up.
    Ok(unsafe { OwnedFd::from_raw_fd(PLACE) })
}

/// Marks every descriptor from `first` on close-on-exec.
///
/// # Errors
/// ENOSYS before Linux 5.11.
pub fn cloexec_from(first: i32) -> Result<(), SysError> {
    // SAFETY: takes three integers and changes only flags of this process's descriptors.
    let done = unsafe {
        libc::syscall(libc::SYS_close_range, first as libc::c_uint, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    check("close_range", "", done).map(|_| ())
}

/// Gives up every capability the thread has, and what it could pass on.
///
/// # Errors
/// None that a kernel gives for giving up.
pub fn cap_drop() -> Result<(), SysError> {
    // SAFETY: integers only.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    // _LINUX_CAPABILITY_VERSION_3 with its two 32-bit halves of (effective, permitted, inheritable).
    let header = Header { version: 0x2008_0522, pid: 0 };
    let none = [[0u32; 3]; 2];
    // SAFETY: header and data have the layout capset(2) asks for with this version, and outlive the call.
    let done = unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) };
    check("capset", "", done).map(|_| ())
}

/// Gives up every capability for good: also those in the bounding set, which an exec could bring back.
///
/// # Errors
/// EPERM when the bounding set may not be changed.
pub fn cap_drop_all() -> Result<(), SysError> {
    for cap in 0..64 {
        // SAFETY: integers only.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, cap, 0, 0, 0) } != 0 {
            match Errno::last() {
                // The first number the kernel does not know ends the list.
                Errno::EINVAL => break,
                errno => return Err(SysError::new("prctl", format!("PR_CAPBSET_DROP {cap}"), errno)),
            }
        }
    }
    cap_drop()
}

/// Installs a seccomp filter on this thread. Needs no_new_privs or CAP_SYS_ADMIN.
///
/// # Errors
/// EINVAL for a program the kernel does not take, EACCES without no_new_privs.
pub fn install_filter(program: &[libc::sock_filter]) -> Result<(), SysError> {
    // Cut to 16 bits, another program would be installed.
    let len = u16::try_from(program.len()).map_err(|_| SysError::new("seccomp", "filter", Errno::EINVAL))?;
    let prog = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    // SAFETY: `prog` points at `program` with its true length; the kernel copies it during the call.
    let done = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const prog) };
    check("seccomp", "filter", done).map(|_| ())
}

/// The kernel's Landlock ABI; 0 when it has none.
pub fn landlock_abi() -> u32 {
    // LANDLOCK_CREATE_RULESET_VERSION, with a null attribute: only asks for the version.
    // SAFETY: a null pointer of size 0 is what landlock_create_ruleset(2) takes with this flag.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, 1u32) };
    u32::try_from(abi).unwrap_or(0)
}

/// Replaces this process by `program`. Returns only on failure.
pub fn exec(program: &CString, argv: &[CString], env: &[CString]) -> Errno {
    let pointers = |strings: &[CString]| -> Vec<*const c_char> {
        strings.iter().map(|s| s.as_ptr()).chain(std::iter::once(std::ptr::null())).collect()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    // SAFETY: three NUL-terminated strings or null-terminated arrays of such, all alive during the call.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr()) };
    Errno::last()
}

/// What a look at one's children found.
pub enum Reaped {
    /// This one ended by exit, with this code.
    Exited(Pid, u8),
    /// This one was ended by this signal.
    Killed(Pid, i32),
    /// None has ended.
    Nothing,
    /// There are none.
    Childless,
}

/// Waits for a child (`pid`, or any for -1), without waiting for it to end when `look` only. By the raw call: signals
/// above 31 are no signals to the crates, and death by one must not be lost.
pub fn reap(pid: Pid, look: bool) -> Reaped {
    let flags = if look { libc::WNOHANG } else { 0 };
    loop {
        let mut status = 0;
        // SAFETY: `status` outlives the call.
        let found = unsafe { libc::waitpid(pid, &raw mut status, flags) };
        match found {
            0 => return Reaped::Nothing,
            -1 if Errno::last() == Errno::EINTR => {}
            -1 => return Reaped::Childless,
            _ if libc::WIFEXITED(status) => {
                return Reaped::Exited(found, libc::WEXITSTATUS(status) as u8);
            }
            _ if libc::WIFSIGNALED(status) => return Reaped::Killed(found, libc::WTERMSIG(status)),
            _ => {}
        }
    }
}

/// Waits for any init that has ended, without waiting for its end; ordinary children are left alone.
pub fn reap_an_init() -> Reaped {
    // SAFETY: a null status is not written to. __WCLONE: only children made with another exit signal than SIGCHLD.
    match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG | libc::__WCLONE) } {
        0 => Reaped::Nothing,
        -1 => Reaped::Childless,
        pid => Reaped::Exited(pid, 0),
    }
}

/// Sends a signal through a pidfd: never to a process that took over the number.
///
/// # Errors
/// ESRCH when the process is gone.
pub fn pidfd_kill(pidfd: BorrowedFd<'_>, signal: libc::c_int) -> Result<(), SysError> {
    // SAFETY: integers and a null siginfo, which asks for kill(2)'s own.
    let done = unsafe {
        libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, std::ptr::null::<libc::siginfo_t>(), 0)
    };
    check("pidfd_send_signal", "init", done).map(|_| ())
}

/// Waits for the process of a pidfd, which has ended. __WALL because init is made with exit signal 0. ECHILD means
/// somebody else has waited for it, and is no error.
pub fn reap_pidfd(pidfd: BorrowedFd<'_>) {
    // SAFETY: siginfo_t is plain data for which all zeroes is a value.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOHANG | libc::__WALL;
    // SAFETY: `info` outlives the call.
    unsafe { libc::waitid(libc::P_PIDFD, pidfd.as_raw_fd() as libc::id_t, &raw mut info, flags) };
}

/// Makes reads and writes of a descriptor return instead of waiting.
///
/// # Errors
/// EBADF.
pub fn nonblocking(fd: BorrowedFd<'_>) -> Result<(), SysError> {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    let flags = fcntl(fd, FcntlArg::F_GETFL).map_err(SysError::on("fcntl", "F_GETFL"))?;
    let flags = OFlag::from_bits_retain(flags) | OFlag::O_NONBLOCK;
    fcntl(fd, FcntlArg::F_SETFL(flags)).map_err(SysError::on("fcntl", "F_SETFL")).map(|_| ())
}
