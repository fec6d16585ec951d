//! The system call filter. Every call is made with arguments that the kernel refuses for another reason than a right:
//! without the filter it says so, with it the call is refused before.

use libc::{
    CLONE_FS, CLONE_NEWNS, CLONE_NEWUSER, SYS_add_key, SYS_bpf, SYS_chroot, SYS_clock_adjtime, SYS_clock_settime,
    SYS_clone, SYS_clone3, SYS_execveat, SYS_fanotify_mark, SYS_fsconfig, SYS_fsmount, SYS_fsopen, SYS_fspick,
    SYS_io_uring_enter, SYS_io_uring_register, SYS_io_uring_setup, SYS_ioctl, SYS_kcmp, SYS_keyctl, SYS_memfd_create,
    SYS_mount, SYS_mount_setattr, SYS_move_mount, SYS_move_pages, SYS_name_to_handle_at, SYS_open_tree,
    SYS_perf_event_open, SYS_personality, SYS_pidfd_getfd, SYS_pivot_root, SYS_process_madvise, SYS_ptrace,
    SYS_request_key, SYS_set_mempolicy, SYS_setns, SYS_settimeofday, SYS_socket, SYS_umount2, SYS_unshare,
    SYS_userfaultfd, TIOCSTI,
};
use serde_json::{Map, Value, json};
use toolcell_tests::cage::Cage;
use toolcell_tests::{for_both, needs};

type Call = (&'static str, i64, [i64; 6]);

/// An address, and a process id, that is never there.
const BAD: i64 = 1;
const NOBODY: i64 = 999_999_999;

/// Refused with EPERM in every profile.
const DENIED: &[Call] = &[
    ("mount", SYS_mount, [BAD, BAD, BAD, 0, 0, 0]),
    ("umount2", SYS_umount2, [BAD, -1, 0, 0, 0, 0]),
    ("chroot", SYS_chroot, [BAD, 0, 0, 0, 0, 0]),
    ("open_tree", SYS_open_tree, [-1, BAD, -1, 0, 0, 0]),
    ("mount_setattr", SYS_mount_setattr, [-1, BAD, -1, 0, 0, 0]),
    ("fsconfig", SYS_fsconfig, [-1, 9999, 0, 0, 0, 0]),
    ("setns", SYS_setns, [-1, 0, 0, 0, 0, 0]),
    ("unshare a user namespace", SYS_unshare, [CLONE_NEWUSER as i64 | 1, 0, 0, 0, 0, 0]),
    ("unshare mounts", SYS_unshare, [CLONE_NEWNS as i64 | 1, 0, 0, 0, 0, 0]),
    ("clone a user namespace", SYS_clone, [(CLONE_NEWUSER | CLONE_FS) as i64, 0, 0, 0, 0, 0]),
    ("clone mounts", SYS_clone, [(CLONE_NEWNS | CLONE_FS) as i64, 0, 0, 0, 0, 0]),
    ("add_key", SYS_add_key, [BAD, BAD, 0, 0, 0, 0]),
    ("request_key", SYS_request_key, [BAD, BAD, 0, 0, 0, 0]),
    ("keyctl", SYS_keyctl, [9999, 0, 0, 0, 0, 0]),
    ("bpf", SYS_bpf, [9999, BAD, 0x10_0000, 0, 0, 0]),
    ("perf_event_open", SYS_perf_event_open, [BAD, 0, 0, -1, -1, 0]),
    ("userfaultfd", SYS_userfaultfd, [0x4000_0001, 0, 0, 0, 0, 0]),
    ("ptrace", SYS_ptrace, [16, NOBODY, 0, 0, 0, 0]),
    ("kcmp", SYS_kcmp, [NOBODY, NOBODY, 0, 0, 0, 0]),
    ("pidfd_getfd", SYS_pidfd_getfd, [-1, 0, 0, 0, 0, 0]),
    ("process_madvise", SYS_process_madvise, [-1, 0, 0, 0, -1, 0]),
    ("move_pages", SYS_move_pages, [NOBODY, 1, 0, 0, 0, -1]),
    ("name_to_handle_at", SYS_name_to_handle_at, [-1, BAD, BAD, BAD, -1, 0]),
    ("fanotify_mark", SYS_fanotify_mark, [-1, 0xffff_ffff, 0, 0, 0, 0]),
    ("settimeofday", SYS_settimeofday, [BAD, BAD, 0, 0, 0, 0]),
    ("clock_settime", SYS_clock_settime, [0, BAD, 0, 0, 0, 0]),
    ("clock_adjtime", SYS_clock_adjtime, [9999, BAD, 0, 0, 0, 0]),
    ("set_mempolicy", SYS_set_mempolicy, [9999, 0, 0, 0, 0, 0]),
    ("push a byte into a terminal", SYS_ioctl, [-1, TIOCSTI as i64, BAD, 0, 0, 0]),
    ("paste into a console", SYS_ioctl, [-1, 0x541C, BAD, 0, 0, 0]),
    // The upper half of a request is not looked at by the kernel.
    ("push a byte by a long request", SYS_ioctl, [-1, (1 << 32) | TIOCSTI as i64, BAD, 0, 0, 0]),
    ("another personality", SYS_personality, [0x0040_0000, 0, 0, 0, 0, 0]),
];

/// Refused with EPERM in every profile; without the filter only root of some namespace gets further.
const DENIED_TO_ROOT: &[Call] = &[
    ("pivot_root", SYS_pivot_root, [BAD, BAD, 0, 0, 0, 0]),
    ("fsopen", SYS_fsopen, [BAD, -1, 0, 0, 0, 0]),
    ("fsmount", SYS_fsmount, [-1, -1, 0, 0, 0, 0]),
    ("fspick", SYS_fspick, [-1, BAD, -1, 0, 0, 0]),
    ("move_mount", SYS_move_mount, [-1, BAD, -1, BAD, -1, 0]),
];

/// Refused with EPERM by strict alone.
const DENIED_BY_STRICT: &[Call] = &[
    ("memfd_create", SYS_memfd_create, [BAD, 0, 0, 0, 0, 0]),
    ("execveat without a path", SYS_execveat, [-1, BAD, 0, 0, libc::AT_EMPTY_PATH as i64, 0]),
];

/// Answered as if the kernel did not know them.
const ABSENT: &[Call] = &[
    ("clone3", SYS_clone3, [0; 6]),
    ("io_uring_setup", SYS_io_uring_setup, [0; 6]),
    ("io_uring_enter", SYS_io_uring_enter, [-1, 0, 0, 0, 0, 0]),
    ("io_uring_register", SYS_io_uring_register, [-1, 9999, 0, 0, 0, 0]),
];

/// Socket families that neither strict nor standard gives. The type asked for is one that no family has.
const FAMILIES: [(&str, i64); 10] = [
    ("netlink", 16),
    ("packet", 17),
    ("key", 15),
    ("bluetooth", 31),
    ("tipc", 30),
    ("alg", 38),
    ("nfc", 39),
    ("vsock", 40),
    ("smc", 43),
    ("xdp", 44),
];

fn answers(cage: &Cage, profile: &str, calls: &[Call]) -> Map<String, Value> {
    let list = calls.iter().map(|(name, number, arguments)| {
        let parts = [json!(name), json!(number)].into_iter().chain(arguments.iter().map(|one| json!(one)));
        Value::Array(parts.collect())
    });
    let own = calls == DENIED_TO_ROOT;
    let act = json!({"try": "system_calls", "calls": list.collect::<Vec<_>>(), "own": own});
    cage.probe(profile, &act)["answers"].as_object().expect("an object").clone()
}

/// Each call gets `errno` under `profiles`, and another answer under `control`.
fn filtered(cage: &Cage, calls: &[Call], errno: &str, control: &str, profiles: &[&str]) {
    let free = answers(cage, control, calls);
    for (name, ..) in calls {
        assert!(free[*name] != errno, "the control: without the filter, {name} has to reach the kernel");
    }
    for profile in profiles {
        let held = answers(cage, profile, calls);
        for (name, ..) in calls {
            assert_eq!(held[*name], errno, "{name} under {profile}; without the filter {}", free[*name]);
        }
    }
}

/// How a call of the act alone ends: the envelope's reason, or the probe's result.
fn end(cage: &Cage, profile: &str, act: &str) -> String {
    let answer = cage.call(profile, &json!({"try": act}));
    if answer.status() == "ok" {
        answer.at("/output/result").as_str().unwrap_or_default().to_owned()
    } else {
        answer.reason()
    }
}

for_both! {
    fn dangerous_calls_are_refused_in_every_profile(cage: &Cage) {
        filtered(cage, DENIED, "EPERM", "no-seccomp", &["strict", "standard", "network"]);
    }

    fn not_even_root_of_a_nested_namespace_mounts(cage: &Cage) {
        let nested: &[Call] = &[("unshare", SYS_unshare, [CLONE_NEWUSER as i64, 0, 0, 0, 0, 0])];
        needs!(answers(cage, "no-seccomp", nested)["unshare"] == "ok", "user namespaces do not nest here");
        filtered(cage, DENIED_TO_ROOT, "EPERM", "no-seccomp", &["strict", "standard"]);
    }

    fn strict_refuses_code_in_memory_and_standard_does_not(cage: &Cage) {
        filtered(cage, DENIED_BY_STRICT, "EPERM", "no-seccomp", &["strict"]);
        let standard = answers(cage, "standard", DENIED_BY_STRICT);
        assert!(standard.values().all(|answer| answer == "EFAULT"), "{standard:?}");
    }

    fn newer_calls_look_absent(cage: &Cage) {
        filtered(cage, ABSENT, "ENOSYS", "no-seccomp", &["strict", "standard", "network"]);
    }

    fn foreign_socket_families_look_absent(cage: &Cage) {
        let call = |(name, family): (&'static str, i64)| (name, SYS_socket, [family, 15, 0, 0, 0, 0]);
        let calls: Vec<Call> = FAMILIES.map(call).to_vec();
        filtered(cage, &calls, "EAFNOSUPPORT", "no-seccomp", &["strict", "standard"]);
    }

    fn only_routing_netlink_is_open_with_the_hosts_network(cage: &Cage) {
        const RAW: i64 = libc::SOCK_RAW as i64;
        let calls: Vec<Call> = vec![
            ("route", SYS_socket, [16, RAW, 0, 0, 0, 0]),
            ("audit", SYS_socket, [16, RAW, 9, 0, 0, 0]),
            ("uevent", SYS_socket, [16, RAW, 15, 0, 0, 0]),
        ];
        let found = answers(cage, "network", &calls);
        assert_eq!(json!(found), json!({"route": "ok", "audit": "EAFNOSUPPORT", "uevent": "EAFNOSUPPORT"}));
        assert_eq!(answers(cage, "no-seccomp", &calls)["uevent"], "ok");
    }

    fn a_nested_user_namespace_is_refused(cage: &Cage) {
        let calls: &[Call] = &[("unshare", SYS_unshare, [CLONE_NEWUSER as i64, 0, 0, 0, 0, 0])];
        let free = answers(cage, "no-seccomp", calls);
        assert_eq!(answers(cage, "strict", calls)["unshare"], "EPERM");
        needs!(free["unshare"] == "ok", "user namespaces do not nest here");
    }

    fn a_profile_of_ones_own_denies_more(cage: &Cage) {
        cage.profile("no-pipes", "extends = \"strict\"\n[syscalls]\ndeny = [\"pipe2\"]\n");
        let calls: &[Call] = &[("pipe2", libc::SYS_pipe2, [BAD, -1, 0, 0, 0, 0])];
        filtered(cage, calls, "EPERM", "strict", &["no-pipes"]);
    }

    fn the_numbers_of_another_abi_end_the_tool(cage: &Cage) {
        needs!(cfg!(target_arch = "x86_64"), "only x86_64 has x32 and 32-bit numbers");
        assert_eq!(end(cage, "strict", "x32"), "sandbox_violation");
        assert_eq!(end(cage, "standard", "x32"), "sandbox_violation");
        let free = end(cage, "no-seccomp", "x32");
        assert!(["ok", "ENOSYS"].contains(&free.as_str()), "the control: {free}");
        let gate = end(cage, "no-seccomp", "int80");
        needs!(gate == "ok", "this kernel has no gate for 32-bit programs");
        assert_eq!(end(cage, "strict", "int80"), "sandbox_violation");
    }

    fn a_violation_names_the_signal(cage: &Cage) {
        needs!(cfg!(target_arch = "x86_64"), "only x86_64 has x32 numbers");
        let answer = cage.call("strict", &json!({"try": "x32"}));
        assert_eq!(answer.at("/exit/signal"), "SIGSYS");
        assert_eq!(answer.at("/killed_by"), Value::Null);
    }
}
