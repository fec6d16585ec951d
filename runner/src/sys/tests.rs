//! What each block of the fence rests on, as far as one process can see it (docs/unsafe.md names the other tests).

use super::process::Pid;
use super::*;
use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, sendmsg, socketpair};
use std::ffi::CString;
use std::io::{IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Runs in a thread of its own, because capabilities and filters belong to a thread.
fn in_a_thread<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::spawn(what).join().expect("the thread ends")
}

fn of_this_thread(field: &str) -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(&format!("{field}:"))).unwrap_or_default();
    line.split_whitespace().nth(1).unwrap_or_default().to_owned()
}

fn is_cloexec(fd: &OwnedFd) -> bool {
    use nix::fcntl::{FcntlArg, FdFlag, fcntl};
    FdFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFD).unwrap()).contains(FdFlag::FD_CLOEXEC)
}

#[test]
fn a_process_with_threads_cannot_prove_that_it_has_one() {
    // The test's own thread is the second.
    in_a_thread(|| assert_eq!(OneThread::proven().err().map(|error| error.errno), Some(Errno::EBUSY)));
}

#[test]
fn each_descriptor_of_a_message_has_one_owner_and_is_closed_on_exec() {
    let (near, far) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
    let (reader, writer) = nix::unistd::pipe().unwrap();
    let raw = [reader.as_raw_fd(), writer.as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&raw)];
    sendmsg::<()>(far.as_raw_fd(), &[IoSlice::new(b"two")], &rights, MsgFlags::empty(), None).unwrap();
    sendmsg::<()>(far.as_raw_fd(), &[IoSlice::new(b"none")], &[], MsgFlags::empty(), None).unwrap();
    let mut bytes = [0; 8];
    let (length, fds) = receive(near.as_fd(), &mut bytes).unwrap();
    assert_eq!((&bytes[..length], fds.len()), (&b"two"[..], 2));
    assert!(fds.iter().all(is_cloexec) && !is_cloexec(&reader));
    drop((reader, writer));
    // What was received is a copy, and lives on when the sender's own is closed.
    let [reader, writer] = <[OwnedFd; 2]>::try_from(fds).unwrap();
    std::fs::File::from(writer).write_all(b"x").unwrap();
    assert_eq!(nix::unistd::read(&reader, &mut bytes).unwrap(), 1);
    let (length, fds) = receive(near.as_fd(), &mut bytes).unwrap();
    assert_eq!((&bytes[..length], fds.len()), (&b"none"[..], 0));
    drop(far);
    assert_eq!(receive(near.as_fd(), &mut bytes).unwrap().0, 0);
}

#[test]
fn a_filter_is_installed_whole_or_not_at_all() {
    let allow = libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
    let installed = |length: usize| {
        in_a_thread(move || {
            nix::sys::prctl::set_no_new_privs().unwrap();
            (install_filter(&vec![allow; length]).map_err(|error| error.errno), of_this_thread("Seccomp"))
        })
    };
    let before = of_this_thread("Seccomp");
    assert_eq!(installed(1), (Ok(()), "2".to_owned()));
    // 65537 is 1 in 16 bits.
    assert_eq!(installed(usize::from(u16::MAX) + 2), (Err(Errno::EINVAL), before.clone()));
    assert_eq!(installed(0), (Err(Errno::EINVAL), before));
}

#[test]
fn capabilities_are_given_up_for_this_thread() {
    in_a_thread(|| {
        cap_drop().unwrap();
        assert!(["CapEff", "CapPrm", "CapInh", "CapAmb"].iter().all(|set| of_this_thread(set) == "0000000000000000"));
    });
    in_a_thread(|| {
        let root = nix::unistd::geteuid().is_root();
        match cap_drop_all() {
            Ok(()) => assert_eq!(of_this_thread("CapBnd"), "0000000000000000"),
            Err(error) => assert!(!root && error.errno == Errno::EPERM, "{error}"),
        }
    });
}

#[test]
fn ignored_signals_are_told_from_others() {
    // Rust's runtime ignores SIGPIPE.
    assert!(is_ignored(libc::SIGPIPE) && !is_ignored(libc::SIGUSR1) && !is_ignored(libc::SIGKILL));
}

#[test]
fn every_end_of_a_child_is_seen_once() {
    let run = |script: &str| Command::new("/bin/sh").args(["-c", script]).process_group(0).spawn().unwrap().id() as Pid;
    let pid = run("exit 7");
    assert!(matches!(reap(pid, false), Reaped::Exited(found, 7) if found == pid));
    assert!(matches!(reap(pid, false), Reaped::Childless));
    // A real-time signal too.
    let pid = run("kill -40 $$");
    assert!(matches!(reap(pid, false), Reaped::Killed(found, 40) if found == pid));
    let pid = run("read x");
    let looked = reap(pid, true);
    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
    assert!(matches!(looked, Reaped::Nothing | Reaped::Exited(..)));
    if matches!(looked, Reaped::Nothing) {
        assert!(!matches!(reap(pid, false), Reaped::Nothing));
    }
}

#[test]
fn close_on_exec_begins_where_it_is_said() {
    use nix::fcntl::{FcntlArg, fcntl};
    use std::os::fd::FromRawFd as _;
    let file = std::fs::File::open("/dev/null").unwrap();
    let copy = |least: i32| {
        let raw = fcntl(&file, FcntlArg::F_DUPFD(least)).unwrap();
        // SAFETY: fcntl has just made this descriptor, so nothing else owns it.
        unsafe { OwnedFd::from_raw_fd(raw) }
    };
    // Higher than any descriptor of the tests beside this one.
    let (below, above) = (copy(900), copy(950));
    cloexec_from(above.as_raw_fd()).unwrap();
    assert!(!is_cloexec(&below) && is_cloexec(&above));
}

#[test]
fn what_cannot_be_done_says_what_and_on_what() {
    let missing = CString::new("/nowhere/program").unwrap();
    assert_eq!(exec(&missing, std::slice::from_ref(&missing), &[]), Errno::ENOENT);
    let with_nul = Path::new("/usr\0/bin");
    let error = detached_tree(with_nul, true).unwrap_err();
    assert_eq!(error.call, "open_tree");
    assert!(matches!(error.errno, Errno::ENOENT | Errno::EPERM), "a path with NUL names nothing: {error}");
    let file: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
    assert_eq!(pidfd_kill(file.as_fd(), 0).unwrap_err().errno, Errno::EBADF);
    let error = tree_attributes(file.as_fd(), "null", u64::MAX, None).unwrap_err();
    assert!(matches!(error.errno, Errno::EINVAL | Errno::EPERM), "{error}");
    assert!(move_mount(file.as_fd(), Path::new("/nowhere")).is_err());
    reap_pidfd(file.as_fd());
}

#[test]
fn the_landlock_abi_is_a_small_number() {
    assert!(landlock_abi() < 100);
}
