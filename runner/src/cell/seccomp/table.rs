//! Which system calls are denied in every profile that asks for seccomp, and why.

use super::numbers::number_of;

/// Calls denied for one reason.
pub struct Group {
    /// The reason.
    pub why: &'static str,
    /// The calls, by the kernel's names.
    pub calls: &'static [&'static str],
}

/// The built-in deny list; each fails with EPERM. (clone3 and io_uring fail with ENOSYS: callers have a fallback for
/// that, and their arguments cannot be seen by a filter.)
pub const DENIED: &[Group] = &[
    Group {
        why: "mounts and roots: the view of the file system is the sandbox's, not the tool's",
        calls: &[
            "mount",
            "umount2",
            "pivot_root",
            "chroot",
            "open_tree",
            "move_mount",
            "fsopen",
            "fsconfig",
            "fsmount",
            "fspick",
            "mount_setattr",
            "open_tree_attr",
            "statmount",
            "listmount",
        ],
    },
    Group { why: "other namespaces: joining one leaves this one", calls: &["setns"] },
    Group {
        why: "the kernel itself: modules, images, reboot, swap, accounting, logs",
        calls: &[
            "init_module",
            "finit_module",
            "delete_module",
            "kexec_load",
            "kexec_file_load",
            "reboot",
            "swapon",
            "swapoff",
            "acct",
            "syslog",
            "quotactl",
            "quotactl_fd",
            "nfsservctl",
        ],
    },
    Group {
        why: "other processes' memory and descriptors",
        calls: &[
            "ptrace",
            "process_vm_readv",
            "process_vm_writev",
            "process_madvise",
            "kcmp",
            "pidfd_getfd",
            "move_pages",
            "migrate_pages",
        ],
    },
    Group {
        why: "keyrings are not namespaced by themselves and outlive the call",
        calls: &["add_key", "request_key", "keyctl"],
    },
    Group {
        why: "programs inside the kernel, and counters that measure other tenants",
        calls: &["bpf", "perf_event_open"],
    },
    Group { why: "faults handled in user space make kernel races winnable", calls: &["userfaultfd"] },
    Group {
        why: "clocks and names of the host",
        calls: &["settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname", "setdomainname"],
    },
    Group {
        why: "file handles open what no path in the sandbox leads to; fanotify watches whole mounts",
        calls: &["open_by_handle_at", "name_to_handle_at", "fanotify_init", "fanotify_mark"],
    },
    Group { why: "hardware ports, segments and old machine modes", calls: &["iopl", "ioperm", "modify_ldt"] },
    Group { why: "terminals of others", calls: &["vhangup"] },
    Group {
        why: "memory placement reaches beyond the call",
        calls: &["set_mempolicy", "mbind", "set_mempolicy_home_node"],
    },
    Group { why: "memory hidden from everyone, also from whoever has to account for it", calls: &["memfd_secret"] },
    Group {
        why: "rarely used, often broken: old or unfinished interfaces",
        calls: &[
            "uselib",
            "ustat",
            "sysfs",
            "_sysctl",
            "lookup_dcookie",
            "getpmsg",
            "putpmsg",
            "afs_syscall",
            "tuxcall",
            "security",
            "vserver",
        ],
    },
];

/// Calls that are answered as if the kernel did not have them.
pub const ABSENT: &[libc::c_long] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// The numbers of [`DENIED`] on this machine.
pub fn denied_numbers() -> impl Iterator<Item = libc::c_long> {
    DENIED.iter().flat_map(|group| group.calls).filter_map(|name| number_of(name))
}

/// Whether a name of the deny list belongs to the other machine.
#[cfg(test)]
pub fn not_here(name: &str) -> bool {
    cfg!(target_arch = "aarch64") && ONLY_X86.contains(&name)
}

#[cfg(test)]
const ONLY_X86: &[&str] = &[
    "_sysctl",
    "afs_syscall",
    "create_module",
    "get_kernel_syms",
    "getpmsg",
    "ioperm",
    "iopl",
    "modify_ldt",
    "putpmsg",
    "query_module",
    "security",
    "sysfs",
    "tuxcall",
    "uselib",
    "ustat",
    "vserver",
];
