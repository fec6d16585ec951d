//! System calls: what the filter answers, and why.

use super::{Rule, Sandbox, Stop, Verdict, filter};
use crate::call::Family;
use crate::cell::seccomp::{DENIED, number_of, program};
use crate::layer::Layer;

/// Whether a system call may be made. None: this machine has none of that name.
pub fn syscall(sandbox: &Sandbox<'_>, name: &str) -> Option<Verdict> {
    let number = number_of(name)?;
    let Some(section) = sandbox.seccomp else {
        return Some(Verdict::allowed("call", sandbox.without(Layer::Seccomp)));
    };
    let answers = filter::answers(&program(section), number);
    let refusals: Vec<u32> = answers.iter().copied().filter(|one| *one != libc::SECCOMP_RET_ALLOW).collect();
    let Some(refusal) = refusals.first() else {
        let by = Rule { rule: "the filter allows what nothing denies".to_owned(), from: None };
        let verdict = Verdict::allowed("call", by);
        return Some(Verdict { note: Some("the kernel's own checks remain".to_owned()), ..verdict });
    };
    let answer = named(*refusal);
    let stop = match answers.len() {
        1 => Stop { by: always(sandbox, name), ..Stop::new("seccomp", format!("{answer}: {}", reason(sandbox, name))) },
        _ => Stop::new("seccomp", format!("{answer} for some arguments: {}", by_argument(sandbox, name))),
    };
    let verdict = Verdict::stopped("call", vec![stop]);
    Some(match answers.len() {
        1 => verdict,
        _ => Verdict { allowed: None, note: Some("allowed with other arguments".to_owned()), ..verdict },
    })
}

fn named(answer: u32) -> String {
    if answer & libc::SECCOMP_RET_ACTION_FULL != libc::SECCOMP_RET_ERRNO {
        return "killed".to_owned();
    }
    let errno = nix::errno::Errno::from_raw((answer & libc::SECCOMP_RET_DATA) as i32);
    format!("{errno:?}")
}

/// The profile's rule, where the call is refused by one.
fn always(sandbox: &Sandbox<'_>, name: &str) -> Option<Rule> {
    let denied = sandbox.profile.deny_syscalls.iter().any(|one| one == name);
    denied.then(|| Rule { rule: format!("syscalls.deny {name}"), from: sandbox.chain.of_syscall(name) })
}

fn reason(sandbox: &Sandbox<'_>, name: &str) -> String {
    if sandbox.profile.deny_syscalls.iter().any(|one| one == name) {
        return "the profile denies it".to_owned();
    }
    if name == "socket" {
        return "without a network namespace no socket can be made".to_owned();
    }
    let group = DENIED.iter().find(|group| group.calls.contains(&name));
    let absent = match name {
        "clone3" => "its flags stand in memory, where a filter cannot look; callers fall back to clone",
        "openat2" => "its mode stands in memory, where a filter cannot look; callers fall back to openat",
        _ => "what it asks for passes the filter by; callers have another way",
    };
    format!("the built-in list has it: {}", group.map_or(absent, |group| group.why))
}

fn by_argument(sandbox: &Sandbox<'_>, name: &str) -> String {
    let text = match name {
        "socket" => return families(sandbox),
        "socketpair" => "only AF_UNIX has pairs",
        "clone" | "unshare" => "flags that make a namespace",
        "ioctl" => "TIOCSTI and TIOCLINUX, which type into a terminal",
        "personality" => "all but the plain one, and asking for it",
        "execveat" => "an empty path, which executes what is in no folder (syscalls.deny execveat with memfd_create)",
        "prlimit64" | "sched_setaffinity" | "sched_setattr" | "sched_setparam" | "sched_setscheduler" => {
            "pid 1, which is toolcell's"
        }
        "setpriority" | "ioprio_set" => "pid 1, which is toolcell's, alone or among all of a user's",
        _ => "a mode with set-uid or set-gid",
    };
    text.to_owned()
}

fn families(sandbox: &Sandbox<'_>) -> String {
    let families = sandbox.seccomp.map(|section| section.families.as_slice()).unwrap_or_default();
    let names = families.iter().map(|family| match family {
        Family::Unix => "AF_UNIX",
        Family::Inet => "AF_INET",
        Family::Inet6 => "AF_INET6",
        Family::NetlinkRoute => "AF_NETLINK with NETLINK_ROUTE",
    });
    format!("families other than {}", names.collect::<Vec<_>>().join(", "))
}
