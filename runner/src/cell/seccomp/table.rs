//! Which system calls are denied in every profile that asks for seccomp, and why; and the numbers of all by name.

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

/// The number of a system call on this machine; None for a name it does not have.
pub fn number_of(name: &str) -> Option<libc::c_long> {
    NUMBERS.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| NUMBERS[at].1)
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

macro_rules! numbers {
    ($($(#[$only:meta])? $name:literal $number:expr;)+) => {
        /// Every system call by name, sorted.
        static NUMBERS: &[(&str, libc::c_long)] = &[$($(#[$only])? ($name, $number),)+];
    };
}

numbers! {
    #[cfg(target_arch = "x86_64")] "_sysctl" libc::SYS__sysctl;
    "accept" libc::SYS_accept;
    "accept4" libc::SYS_accept4;
    #[cfg(target_arch = "x86_64")] "access" libc::SYS_access;
    "acct" libc::SYS_acct;
    "add_key" libc::SYS_add_key;
    "adjtimex" libc::SYS_adjtimex;
    #[cfg(target_arch = "x86_64")] "afs_syscall" libc::SYS_afs_syscall;
    #[cfg(target_arch = "x86_64")] "alarm" libc::SYS_alarm;
    #[cfg(target_arch = "x86_64")] "arch_prctl" libc::SYS_arch_prctl;
    "bind" libc::SYS_bind;
    "bpf" libc::SYS_bpf;
    "brk" libc::SYS_brk;
    "capget" libc::SYS_capget;
    "capset" libc::SYS_capset;
    "chdir" libc::SYS_chdir;
    #[cfg(target_arch = "x86_64")] "chmod" libc::SYS_chmod;
    #[cfg(target_arch = "x86_64")] "chown" libc::SYS_chown;
    "chroot" libc::SYS_chroot;
    "clock_adjtime" libc::SYS_clock_adjtime;
    "clock_getres" libc::SYS_clock_getres;
    "clock_gettime" libc::SYS_clock_gettime;
    "clock_nanosleep" libc::SYS_clock_nanosleep;
    "clock_settime" libc::SYS_clock_settime;
    "clone" libc::SYS_clone;
    "clone3" libc::SYS_clone3;
    "close" libc::SYS_close;
    "close_range" libc::SYS_close_range;
    "connect" libc::SYS_connect;
    "copy_file_range" libc::SYS_copy_file_range;
    #[cfg(target_arch = "x86_64")] "creat" libc::SYS_creat;
    "delete_module" libc::SYS_delete_module;
    "dup" libc::SYS_dup;
    #[cfg(target_arch = "x86_64")] "dup2" libc::SYS_dup2;
    "dup3" libc::SYS_dup3;
    #[cfg(target_arch = "x86_64")] "epoll_create" libc::SYS_epoll_create;
    "epoll_create1" libc::SYS_epoll_create1;
    "epoll_ctl" libc::SYS_epoll_ctl;
    #[cfg(target_arch = "x86_64")] "epoll_ctl_old" libc::SYS_epoll_ctl_old;
    "epoll_pwait" libc::SYS_epoll_pwait;
    "epoll_pwait2" libc::SYS_epoll_pwait2;
    #[cfg(target_arch = "x86_64")] "epoll_wait" libc::SYS_epoll_wait;
    #[cfg(target_arch = "x86_64")] "epoll_wait_old" libc::SYS_epoll_wait_old;
    #[cfg(target_arch = "x86_64")] "eventfd" libc::SYS_eventfd;
    "eventfd2" libc::SYS_eventfd2;
    "execve" libc::SYS_execve;
    "execveat" libc::SYS_execveat;
    "exit" libc::SYS_exit;
    "exit_group" libc::SYS_exit_group;
    "faccessat" libc::SYS_faccessat;
    "faccessat2" libc::SYS_faccessat2;
    "fadvise64" libc::SYS_fadvise64;
    "fallocate" libc::SYS_fallocate;
    "fanotify_init" libc::SYS_fanotify_init;
    "fanotify_mark" libc::SYS_fanotify_mark;
    "fchdir" libc::SYS_fchdir;
    "fchmod" libc::SYS_fchmod;
    "fchmodat" libc::SYS_fchmodat;
    #[cfg(target_arch = "x86_64")] "fchmodat2" libc::SYS_fchmodat2;
    "fchown" libc::SYS_fchown;
    "fchownat" libc::SYS_fchownat;
    "fcntl" libc::SYS_fcntl;
    "fdatasync" libc::SYS_fdatasync;
    "fgetxattr" libc::SYS_fgetxattr;
    "finit_module" libc::SYS_finit_module;
    "flistxattr" libc::SYS_flistxattr;
    "flock" libc::SYS_flock;
    #[cfg(target_arch = "x86_64")] "fork" libc::SYS_fork;
    "fremovexattr" libc::SYS_fremovexattr;
    "fsconfig" libc::SYS_fsconfig;
    "fsetxattr" libc::SYS_fsetxattr;
    "fsmount" libc::SYS_fsmount;
    "fsopen" libc::SYS_fsopen;
    "fspick" libc::SYS_fspick;
    "fstat" libc::SYS_fstat;
    "fstatfs" libc::SYS_fstatfs;
    "fsync" libc::SYS_fsync;
    "ftruncate" libc::SYS_ftruncate;
    "futex" libc::SYS_futex;
    "futex_waitv" libc::SYS_futex_waitv;
    #[cfg(target_arch = "x86_64")] "futimesat" libc::SYS_futimesat;
    "get_mempolicy" libc::SYS_get_mempolicy;
    "get_robust_list" libc::SYS_get_robust_list;
    #[cfg(target_arch = "x86_64")] "get_thread_area" libc::SYS_get_thread_area;
    "getcpu" libc::SYS_getcpu;
    "getcwd" libc::SYS_getcwd;
    #[cfg(target_arch = "x86_64")] "getdents" libc::SYS_getdents;
    "getdents64" libc::SYS_getdents64;
    "getegid" libc::SYS_getegid;
    "geteuid" libc::SYS_geteuid;
    "getgid" libc::SYS_getgid;
    "getgroups" libc::SYS_getgroups;
    "getitimer" libc::SYS_getitimer;
    "getpeername" libc::SYS_getpeername;
    "getpgid" libc::SYS_getpgid;
    #[cfg(target_arch = "x86_64")] "getpgrp" libc::SYS_getpgrp;
    "getpid" libc::SYS_getpid;
    #[cfg(target_arch = "x86_64")] "getpmsg" libc::SYS_getpmsg;
    "getppid" libc::SYS_getppid;
    "getpriority" libc::SYS_getpriority;
    "getrandom" libc::SYS_getrandom;
    "getresgid" libc::SYS_getresgid;
    "getresuid" libc::SYS_getresuid;
    #[cfg(target_arch = "x86_64")] "getrlimit" libc::SYS_getrlimit;
    "getrusage" libc::SYS_getrusage;
    "getsid" libc::SYS_getsid;
    "getsockname" libc::SYS_getsockname;
    "getsockopt" libc::SYS_getsockopt;
    "gettid" libc::SYS_gettid;
    "gettimeofday" libc::SYS_gettimeofday;
    "getuid" libc::SYS_getuid;
    "getxattr" libc::SYS_getxattr;
    "init_module" libc::SYS_init_module;
    "inotify_add_watch" libc::SYS_inotify_add_watch;
    #[cfg(target_arch = "x86_64")] "inotify_init" libc::SYS_inotify_init;
    "inotify_init1" libc::SYS_inotify_init1;
    "inotify_rm_watch" libc::SYS_inotify_rm_watch;
    "io_cancel" libc::SYS_io_cancel;
    "io_destroy" libc::SYS_io_destroy;
    "io_getevents" libc::SYS_io_getevents;
    "io_setup" libc::SYS_io_setup;
    "io_submit" libc::SYS_io_submit;
    "io_uring_enter" libc::SYS_io_uring_enter;
    "io_uring_register" libc::SYS_io_uring_register;
    "io_uring_setup" libc::SYS_io_uring_setup;
    "ioctl" libc::SYS_ioctl;
    #[cfg(target_arch = "x86_64")] "ioperm" libc::SYS_ioperm;
    #[cfg(target_arch = "x86_64")] "iopl" libc::SYS_iopl;
    "ioprio_get" libc::SYS_ioprio_get;
    "ioprio_set" libc::SYS_ioprio_set;
    "kcmp" libc::SYS_kcmp;
    "kexec_file_load" libc::SYS_kexec_file_load;
    "kexec_load" libc::SYS_kexec_load;
    "keyctl" libc::SYS_keyctl;
    "kill" libc::SYS_kill;
    "landlock_add_rule" libc::SYS_landlock_add_rule;
    "landlock_create_ruleset" libc::SYS_landlock_create_ruleset;
    "landlock_restrict_self" libc::SYS_landlock_restrict_self;
    #[cfg(target_arch = "x86_64")] "lchown" libc::SYS_lchown;
    "lgetxattr" libc::SYS_lgetxattr;
    #[cfg(target_arch = "x86_64")] "link" libc::SYS_link;
    "linkat" libc::SYS_linkat;
    "listen" libc::SYS_listen;
    "listmount" 458;
    "listxattr" libc::SYS_listxattr;
    "llistxattr" libc::SYS_llistxattr;
    "lookup_dcookie" libc::SYS_lookup_dcookie;
    "lremovexattr" libc::SYS_lremovexattr;
    "lseek" libc::SYS_lseek;
    "lsetxattr" libc::SYS_lsetxattr;
    #[cfg(target_arch = "x86_64")] "lstat" libc::SYS_lstat;
    "madvise" libc::SYS_madvise;
    "mbind" libc::SYS_mbind;
    "membarrier" libc::SYS_membarrier;
    "memfd_create" libc::SYS_memfd_create;
    "memfd_secret" libc::SYS_memfd_secret;
    "migrate_pages" libc::SYS_migrate_pages;
    "mincore" libc::SYS_mincore;
    #[cfg(target_arch = "x86_64")] "mkdir" libc::SYS_mkdir;
    "mkdirat" libc::SYS_mkdirat;
    #[cfg(target_arch = "x86_64")] "mknod" libc::SYS_mknod;
    "mknodat" libc::SYS_mknodat;
    "mlock" libc::SYS_mlock;
    "mlock2" libc::SYS_mlock2;
    "mlockall" libc::SYS_mlockall;
    "mmap" libc::SYS_mmap;
    #[cfg(target_arch = "x86_64")] "modify_ldt" libc::SYS_modify_ldt;
    "mount" libc::SYS_mount;
    "mount_setattr" libc::SYS_mount_setattr;
    "move_mount" libc::SYS_move_mount;
    "move_pages" libc::SYS_move_pages;
    "mprotect" libc::SYS_mprotect;
    "mq_getsetattr" libc::SYS_mq_getsetattr;
    "mq_notify" libc::SYS_mq_notify;
    "mq_open" libc::SYS_mq_open;
    "mq_timedreceive" libc::SYS_mq_timedreceive;
    "mq_timedsend" libc::SYS_mq_timedsend;
    "mq_unlink" libc::SYS_mq_unlink;
    "mremap" libc::SYS_mremap;
    "mseal" libc::SYS_mseal;
    "msgctl" libc::SYS_msgctl;
    "msgget" libc::SYS_msgget;
    "msgrcv" libc::SYS_msgrcv;
    "msgsnd" libc::SYS_msgsnd;
    "msync" libc::SYS_msync;
    "munlock" libc::SYS_munlock;
    "munlockall" libc::SYS_munlockall;
    "munmap" libc::SYS_munmap;
    "name_to_handle_at" libc::SYS_name_to_handle_at;
    "nanosleep" libc::SYS_nanosleep;
    "newfstatat" libc::SYS_newfstatat;
    "nfsservctl" libc::SYS_nfsservctl;
    #[cfg(target_arch = "x86_64")] "open" libc::SYS_open;
    "open_by_handle_at" libc::SYS_open_by_handle_at;
    "open_tree" libc::SYS_open_tree;
    "open_tree_attr" 467;
    "openat" libc::SYS_openat;
    "openat2" libc::SYS_openat2;
    #[cfg(target_arch = "x86_64")] "pause" libc::SYS_pause;
    "perf_event_open" libc::SYS_perf_event_open;
    "personality" libc::SYS_personality;
    "pidfd_getfd" libc::SYS_pidfd_getfd;
    "pidfd_open" libc::SYS_pidfd_open;
    "pidfd_send_signal" libc::SYS_pidfd_send_signal;
    #[cfg(target_arch = "x86_64")] "pipe" libc::SYS_pipe;
    "pipe2" libc::SYS_pipe2;
    "pivot_root" libc::SYS_pivot_root;
    "pkey_alloc" libc::SYS_pkey_alloc;
    "pkey_free" libc::SYS_pkey_free;
    "pkey_mprotect" libc::SYS_pkey_mprotect;
    #[cfg(target_arch = "x86_64")] "poll" libc::SYS_poll;
    "ppoll" libc::SYS_ppoll;
    "prctl" libc::SYS_prctl;
    "pread64" libc::SYS_pread64;
    "preadv" libc::SYS_preadv;
    "preadv2" libc::SYS_preadv2;
    "prlimit64" libc::SYS_prlimit64;
    "process_madvise" libc::SYS_process_madvise;
    "process_mrelease" libc::SYS_process_mrelease;
    "process_vm_readv" libc::SYS_process_vm_readv;
    "process_vm_writev" libc::SYS_process_vm_writev;
    "pselect6" libc::SYS_pselect6;
    "ptrace" libc::SYS_ptrace;
    #[cfg(target_arch = "x86_64")] "putpmsg" libc::SYS_putpmsg;
    "pwrite64" libc::SYS_pwrite64;
    "pwritev" libc::SYS_pwritev;
    "pwritev2" libc::SYS_pwritev2;
    "quotactl" libc::SYS_quotactl;
    "quotactl_fd" libc::SYS_quotactl_fd;
    "read" libc::SYS_read;
    "readahead" libc::SYS_readahead;
    #[cfg(target_arch = "x86_64")] "readlink" libc::SYS_readlink;
    "readlinkat" libc::SYS_readlinkat;
    "readv" libc::SYS_readv;
    "reboot" libc::SYS_reboot;
    "recvfrom" libc::SYS_recvfrom;
    "recvmmsg" libc::SYS_recvmmsg;
    "recvmsg" libc::SYS_recvmsg;
    "remap_file_pages" libc::SYS_remap_file_pages;
    "removexattr" libc::SYS_removexattr;
    #[cfg(target_arch = "x86_64")] "rename" libc::SYS_rename;
    #[cfg(target_arch = "x86_64")] "renameat" libc::SYS_renameat;
    "renameat2" libc::SYS_renameat2;
    "request_key" libc::SYS_request_key;
    "restart_syscall" libc::SYS_restart_syscall;
    #[cfg(target_arch = "x86_64")] "rmdir" libc::SYS_rmdir;
    "rseq" libc::SYS_rseq;
    "rt_sigaction" libc::SYS_rt_sigaction;
    "rt_sigpending" libc::SYS_rt_sigpending;
    "rt_sigprocmask" libc::SYS_rt_sigprocmask;
    "rt_sigqueueinfo" libc::SYS_rt_sigqueueinfo;
    "rt_sigreturn" libc::SYS_rt_sigreturn;
    "rt_sigsuspend" libc::SYS_rt_sigsuspend;
    "rt_sigtimedwait" libc::SYS_rt_sigtimedwait;
    "rt_tgsigqueueinfo" libc::SYS_rt_tgsigqueueinfo;
    "sched_get_priority_max" libc::SYS_sched_get_priority_max;
    "sched_get_priority_min" libc::SYS_sched_get_priority_min;
    "sched_getaffinity" libc::SYS_sched_getaffinity;
    "sched_getattr" libc::SYS_sched_getattr;
    "sched_getparam" libc::SYS_sched_getparam;
    "sched_getscheduler" libc::SYS_sched_getscheduler;
    "sched_rr_get_interval" libc::SYS_sched_rr_get_interval;
    "sched_setaffinity" libc::SYS_sched_setaffinity;
    "sched_setattr" libc::SYS_sched_setattr;
    "sched_setparam" libc::SYS_sched_setparam;
    "sched_setscheduler" libc::SYS_sched_setscheduler;
    "sched_yield" libc::SYS_sched_yield;
    "seccomp" libc::SYS_seccomp;
    #[cfg(target_arch = "x86_64")] "security" libc::SYS_security;
    #[cfg(target_arch = "x86_64")] "select" libc::SYS_select;
    "semctl" libc::SYS_semctl;
    "semget" libc::SYS_semget;
    "semop" libc::SYS_semop;
    "semtimedop" libc::SYS_semtimedop;
    "sendfile" libc::SYS_sendfile;
    "sendmmsg" libc::SYS_sendmmsg;
    "sendmsg" libc::SYS_sendmsg;
    "sendto" libc::SYS_sendto;
    "set_mempolicy" libc::SYS_set_mempolicy;
    "set_mempolicy_home_node" libc::SYS_set_mempolicy_home_node;
    "set_robust_list" libc::SYS_set_robust_list;
    #[cfg(target_arch = "x86_64")] "set_thread_area" libc::SYS_set_thread_area;
    "set_tid_address" libc::SYS_set_tid_address;
    "setdomainname" libc::SYS_setdomainname;
    "setfsgid" libc::SYS_setfsgid;
    "setfsuid" libc::SYS_setfsuid;
    "setgid" libc::SYS_setgid;
    "setgroups" libc::SYS_setgroups;
    "sethostname" libc::SYS_sethostname;
    "setitimer" libc::SYS_setitimer;
    "setns" libc::SYS_setns;
    "setpgid" libc::SYS_setpgid;
    "setpriority" libc::SYS_setpriority;
    "setregid" libc::SYS_setregid;
    "setresgid" libc::SYS_setresgid;
    "setresuid" libc::SYS_setresuid;
    "setreuid" libc::SYS_setreuid;
    #[cfg(target_arch = "x86_64")] "setrlimit" libc::SYS_setrlimit;
    "setsid" libc::SYS_setsid;
    "setsockopt" libc::SYS_setsockopt;
    "settimeofday" libc::SYS_settimeofday;
    "setuid" libc::SYS_setuid;
    "setxattr" libc::SYS_setxattr;
    "shmat" libc::SYS_shmat;
    "shmctl" libc::SYS_shmctl;
    "shmdt" libc::SYS_shmdt;
    "shmget" libc::SYS_shmget;
    "shutdown" libc::SYS_shutdown;
    "sigaltstack" libc::SYS_sigaltstack;
    #[cfg(target_arch = "x86_64")] "signalfd" libc::SYS_signalfd;
    "signalfd4" libc::SYS_signalfd4;
    "socket" libc::SYS_socket;
    "socketpair" libc::SYS_socketpair;
    "splice" libc::SYS_splice;
    #[cfg(target_arch = "x86_64")] "stat" libc::SYS_stat;
    "statfs" libc::SYS_statfs;
    "statmount" 457;
    "statx" libc::SYS_statx;
    "swapoff" libc::SYS_swapoff;
    "swapon" libc::SYS_swapon;
    #[cfg(target_arch = "x86_64")] "symlink" libc::SYS_symlink;
    "symlinkat" libc::SYS_symlinkat;
    "sync" libc::SYS_sync;
    #[cfg(target_arch = "x86_64")] "sync_file_range" libc::SYS_sync_file_range;
    "syncfs" libc::SYS_syncfs;
    #[cfg(target_arch = "x86_64")] "sysfs" libc::SYS_sysfs;
    "sysinfo" libc::SYS_sysinfo;
    "syslog" libc::SYS_syslog;
    "tee" libc::SYS_tee;
    "tgkill" libc::SYS_tgkill;
    #[cfg(target_arch = "x86_64")] "time" libc::SYS_time;
    "timer_create" libc::SYS_timer_create;
    "timer_delete" libc::SYS_timer_delete;
    "timer_getoverrun" libc::SYS_timer_getoverrun;
    "timer_gettime" libc::SYS_timer_gettime;
    "timer_settime" libc::SYS_timer_settime;
    "timerfd_create" libc::SYS_timerfd_create;
    "timerfd_gettime" libc::SYS_timerfd_gettime;
    "timerfd_settime" libc::SYS_timerfd_settime;
    "times" libc::SYS_times;
    "tkill" libc::SYS_tkill;
    "truncate" libc::SYS_truncate;
    #[cfg(target_arch = "x86_64")] "tuxcall" libc::SYS_tuxcall;
    "umask" libc::SYS_umask;
    "umount2" libc::SYS_umount2;
    "uname" libc::SYS_uname;
    #[cfg(target_arch = "x86_64")] "unlink" libc::SYS_unlink;
    "unlinkat" libc::SYS_unlinkat;
    "unshare" libc::SYS_unshare;
    #[cfg(target_arch = "x86_64")] "uselib" libc::SYS_uselib;
    "userfaultfd" libc::SYS_userfaultfd;
    #[cfg(target_arch = "x86_64")] "ustat" libc::SYS_ustat;
    #[cfg(target_arch = "x86_64")] "utime" libc::SYS_utime;
    "utimensat" libc::SYS_utimensat;
    #[cfg(target_arch = "x86_64")] "utimes" libc::SYS_utimes;
    #[cfg(target_arch = "x86_64")] "vfork" libc::SYS_vfork;
    "vhangup" libc::SYS_vhangup;
    "vmsplice" libc::SYS_vmsplice;
    #[cfg(target_arch = "x86_64")] "vserver" libc::SYS_vserver;
    "wait4" libc::SYS_wait4;
    "waitid" libc::SYS_waitid;
    "write" libc::SYS_write;
    "writev" libc::SYS_writev;
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_names_are_sorted_for_the_search() {
        assert!(super::NUMBERS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
