//! Section `seccomp`: the system call filter, compiled by us into a search tree, because the kernel's cost of
//! installing it grows with the number of compares on each path.

mod bpf;
mod numbers;
mod table;

use crate::call::{Family, Seccomp};
use bpf::{Action, Argument, Check, Rule};
pub use numbers::number_of;
pub use table::{DENIED, Group};

const EPERM: u32 = libc::EPERM as u32;

/// The filter of a section. Names in `deny` that this machine does not have mean nothing here; resolve refuses those
/// that no machine has.
pub fn program(section: &Seccomp) -> Vec<libc::sock_filter> {
    let mut rules: Vec<Rule> = table::denied_numbers().map(|nr| Rule::always(nr, Action::Errno(EPERM))).collect();
    rules.extend(table::ABSENT.iter().map(|nr| Rule::always(*nr, Action::Errno(libc::ENOSYS as u32))));
    rules.extend(argument_rules(section));
    for name in &section.deny {
        if let Some(nr) = number_of(name) {
            rules.retain(|rule| rule.nr != nr as u32);
            rules.push(Rule::always(nr, Action::Errno(EPERM)));
        }
    }
    bpf::compile(rules)
}

/// Calls that are allowed or not by an argument.
fn argument_rules(section: &Seccomp) -> Vec<Rule> {
    let mut rules = vec![
        socket(section),
        // A pair inside the call reaches nobody; other families have no pairs worth having.
        Rule::only(libc::SYS_socketpair, vec![Check::equals(0, libc::AF_UNIX as u32)], libc::EAFNOSUPPORT as u32),
        Rule::refuse_bits(libc::SYS_clone, 0, NEW_NAMESPACES, EPERM),
        Rule::refuse_bits(libc::SYS_unshare, 0, NEW_NAMESPACES, EPERM),
        // Bytes pushed into a terminal are typed into the shell of whoever watches it.
        Rule::refuse(libc::SYS_ioctl, vec![1], vec![libc::TIOCSTI as u32, TIOCLINUX], EPERM),
        // Its mode stands in memory, where a filter cannot look; callers fall back to openat.
        Rule::always(libc::SYS_openat2, Action::Errno(libc::ENOSYS as u32)),
        Rule::only(libc::SYS_personality, vec![Check::equals(0, 0), Check::equals(0, u32::MAX)], EPERM),
    ];
    rules.extend(set_id_rules());
    rules.extend(init_rules());
    if section.deny_memory_exec {
        rules.push(Rule::always(libc::SYS_memfd_create, Action::Errno(EPERM)));
        rules.push(Rule::refuse_bits(libc::SYS_execveat, 4, libc::AT_EMPTY_PATH as u32, EPERM));
    }
    rules
}

/// A set-uid file left in a folder of the caller's would outlive the call, with the caller's rights.
fn set_id_rules() -> Vec<Rule> {
    const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;
    const CREATES: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u32;
    let mode = |nr, index| Rule::refuse_bits(nr, index, SET_ID, EPERM);
    // Without O_CREAT the mode is not passed, and whatever stands in the register means nothing.
    let open = |nr, flags, mode| Rule::refuse_both(nr, (flags, CREATES), (mode, SET_ID), EPERM);
    let mut rules = vec![
        mode(libc::SYS_fchmod, 1),
        mode(libc::SYS_fchmodat, 2),
        mode(SYS_FCHMODAT2, 2),
        mode(libc::SYS_mknodat, 2),
        open(libc::SYS_openat, 2, 3),
    ];
    #[cfg(target_arch = "x86_64")]
    rules.extend([
        mode(libc::SYS_chmod, 1),
        mode(libc::SYS_creat, 1),
        mode(libc::SYS_mknod, 1),
        open(libc::SYS_open, 1, 2),
    ]);
    rules
}

/// The same number on every architecture (since Linux 6.6).
const SYS_FCHMODAT2: libc::c_long = 452;

/// Limits and scheduling of pid 1, which has the tool's id and would otherwise let it.
fn init_rules() -> Vec<Rule> {
    let by_pid = [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ];
    let mut rules: Vec<Rule> = by_pid.into_iter().map(|nr| Rule::refuse(nr, vec![0], vec![1], EPERM)).collect();
    // setpriority and ioprio_set name a kind first: a process, or all of a user's, of whom init is one.
    let (process, user) = ((0, libc::PRIO_PROCESS), (0, libc::PRIO_USER));
    rules.push(Rule::refuse_any(libc::SYS_setpriority, &[(process, Some((1, 1))), (user, None)], EPERM));
    let (process, user) = ((0, IOPRIO_WHO_PROCESS), (0, IOPRIO_WHO_USER));
    rules.push(Rule::refuse_any(libc::SYS_ioprio_set, &[(process, Some((1, 1))), (user, None)], EPERM));
    rules
}

/// linux/ioprio.h
const IOPRIO_WHO_PROCESS: u32 = 1;
/// linux/ioprio.h
const IOPRIO_WHO_USER: u32 = 3;

const TIOCLINUX: u32 = 0x541C;

const NEW_NAMESPACES: u32 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u32
    | CLONE_NEWTIME;

/// Only unshare takes it; in clone these bits are the exit signal, whose value 0x80 no signal has.
const CLONE_NEWTIME: u32 = 0x80;

fn socket(section: &Seccomp) -> Rule {
    let families = section.families.iter().map(|family| match family {
        Family::Unix => Check::equals(0, libc::AF_UNIX as u32),
        Family::Inet => Check::equals(0, libc::AF_INET as u32),
        Family::Inet6 => Check::equals(0, libc::AF_INET6 as u32),
        Family::NetlinkRoute => Check {
            first: Argument::equals(0, libc::AF_NETLINK as u32),
            second: Some(Argument::equals(2, libc::NETLINK_ROUTE as u32)),
        },
    });
    Rule::only(libc::SYS_socket, families.collect(), libc::EAFNOSUPPORT as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bpf::run;

    fn section(deny: &[&str]) -> Seccomp {
        Seccomp {
            deny: deny.iter().map(|name| (*name).to_owned()).collect(),
            families: vec![Family::Inet, Family::NetlinkRoute],
            deny_memory_exec: true,
        }
    }

    fn call(nr: libc::c_long, args: [u64; 6]) -> u32 {
        run(&program(&section(&[])), bpf::ARCH, nr as u32, args)
    }

    const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

    fn errno(errno: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | errno as u32
    }

    #[test]
    fn every_denied_call_is_denied_and_ordinary_ones_pass() {
        for nr in table::denied_numbers() {
            assert_eq!(call(nr, [0; 6]), errno(libc::EPERM), "number {nr}");
        }
        for nr in [libc::SYS_read, libc::SYS_execve, libc::SYS_mmap, libc::SYS_futex, libc::SYS_getrandom] {
            assert_eq!(call(nr, [0; 6]), ALLOW, "number {nr}");
        }
        assert_eq!(call(libc::SYS_clone3, [0; 6]), errno(libc::ENOSYS));
        assert_eq!(call(libc::SYS_io_uring_setup, [0; 6]), errno(libc::ENOSYS));
    }

    #[test]
    fn a_foreign_architecture_and_x32_are_killed() {
        let program = program(&section(&[]));
        assert_eq!(run(&program, 0x4000_0003, 102, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        if cfg!(target_arch = "x86_64") {
            let read = libc::SYS_read as u32;
            assert_eq!(run(&program, bpf::ARCH, 0x4000_0000 | read, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
        }
    }

    #[test]
    fn sockets_are_judged_by_family_and_netlink_by_protocol() {
        let socket = |family: i32, protocol: u64| call(libc::SYS_socket, [family as u64, 1, protocol, 0, 0, 0]);
        assert_eq!(socket(libc::AF_INET, 0), ALLOW);
        assert_eq!(socket(libc::AF_INET6, 0), errno(libc::EAFNOSUPPORT));
        assert_eq!(socket(libc::AF_UNIX, 0), errno(libc::EAFNOSUPPORT));
        assert_eq!(socket(libc::AF_PACKET, 0), errno(libc::EAFNOSUPPORT));
        assert_eq!(socket(libc::AF_NETLINK, libc::NETLINK_ROUTE as u64), ALLOW);
        assert_eq!(socket(libc::AF_NETLINK, libc::NETLINK_NETFILTER as u64), errno(libc::EAFNOSUPPORT));
        assert_eq!(call(libc::SYS_socketpair, [libc::AF_UNIX as u64, 1, 0, 0, 0, 0]), ALLOW);
    }

    #[test]
    fn a_family_with_high_bits_set_is_judged_as_the_kernel_reads_it() {
        // socket(2) takes an int: the kernel drops the upper half, and so must the filter.
        assert_eq!(call(libc::SYS_socket, [(7 << 32) | libc::AF_INET as u64, 1, 0, 0, 0, 0]), ALLOW);
        assert_eq!(
            call(libc::SYS_socket, [(2 << 32) | libc::AF_UNIX as u64, 1, 0, 0, 0, 0]),
            errno(libc::EAFNOSUPPORT)
        );
    }

    #[test]
    fn namespaces_terminals_and_personalities_are_judged_by_argument() {
        assert_eq!(call(libc::SYS_clone, [libc::SIGCHLD as u64, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(call(libc::SYS_clone, [libc::CLONE_NEWUSER as u64, 0, 0, 0, 0, 0]), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_unshare, [libc::CLONE_NEWNS as u64, 0, 0, 0, 0, 0]), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_unshare, [libc::CLONE_FILES as u64, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(call(libc::SYS_ioctl, [0, libc::TIOCSTI, 0, 0, 0, 0]), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_ioctl, [0, libc::TIOCGWINSZ, 0, 0, 0, 0]), ALLOW);
        assert_eq!(call(libc::SYS_personality, [0xffff_ffff, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(call(libc::SYS_personality, [0x0040_0000, 0, 0, 0, 0, 0]), errno(libc::EPERM));
    }

    #[test]
    fn set_id_bits_are_refused_wherever_a_mode_is_given() {
        assert_eq!(call(libc::SYS_fchmodat, [0, 0, 0o4755, 0, 0, 0]), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_fchmodat, [0, 0, 0o755, 0, 0, 0]), ALLOW);
        let create = libc::O_CREAT as u64;
        assert_eq!(call(libc::SYS_openat, [0, 0, create, 0o2755, 0, 0]), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_openat, [0, 0, create, 0o644, 0, 0]), ALLOW);
        assert_eq!(call(libc::SYS_openat, [0, 0, 0, 0o6777, 0, 0]), ALLOW, "no mode is passed without O_CREAT");
        assert_eq!(call(libc::SYS_openat, [0, 0, libc::O_DIRECTORY as u64, 0o6777, 0, 0]), ALLOW);
        assert_eq!(call(libc::SYS_openat2, [0; 6]), errno(libc::ENOSYS));
    }

    #[test]
    fn pid_1_keeps_its_limits_and_others_may_change_their_own() {
        assert_eq!(call(libc::SYS_prlimit64, [1, 0, 0, 0, 0, 0]), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_prlimit64, [0; 6]), ALLOW);
        assert_eq!(call(libc::SYS_setpriority, [0, 1, 0, 0, 0, 0]), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_setpriority, [0, 2, 0, 0, 0, 0]), ALLOW);
        assert_eq!(call(libc::SYS_setpriority, [2, 1000, 19, 0, 0, 0]), errno(libc::EPERM), "a whole user is init too");
        assert_eq!(call(libc::SYS_ioprio_set, [1, 1, 0, 0, 0, 0]), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_ioprio_set, [3, 1000, 0, 0, 0, 0]), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_ioprio_set, [1, 0, 0, 0, 0, 0]), ALLOW);
    }

    #[test]
    fn code_in_memory_files_is_refused_where_asked() {
        let empty = [0, 0, 0, 0, libc::AT_EMPTY_PATH as u64, 0];
        assert_eq!(call(libc::SYS_execveat, empty), errno(libc::EPERM));
        assert_eq!(call(libc::SYS_execveat, [0; 6]), ALLOW);
        assert_eq!(call(libc::SYS_memfd_create, [0; 6]), errno(libc::EPERM));
        let loose = Seccomp { deny_memory_exec: false, ..section(&[]) };
        assert_eq!(run(&program(&loose), bpf::ARCH, libc::SYS_memfd_create as u32, [0; 6]), ALLOW);
    }

    #[test]
    fn a_profile_may_deny_more() {
        let program = program(&section(&["getdents64", "socket"]));
        assert_eq!(run(&program, bpf::ARCH, libc::SYS_getdents64 as u32, [0; 6]), errno(libc::EPERM));
        assert_eq!(run(&program, bpf::ARCH, libc::SYS_socket as u32, [2, 1, 0, 0, 0, 0]), errno(libc::EPERM));
    }

    #[test]
    fn every_denied_name_is_known_and_every_group_says_why() {
        for group in DENIED {
            assert!(!group.why.is_empty());
            for name in group.calls {
                assert!(number_of(name).is_some() || table::not_here(name), "{name}");
            }
        }
    }
}
