//! From a failed set-up step to the fact and the way out.

use crate::cell::protocol::{StageError, Step};
use crate::identity::NoId;
use crate::layer::Layer;
use crate::outcome::{StartFailure, StartFailureKind};
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::shortage;
use crate::sys::SysError;
use nix::errno::Errno;

/// The failure a stage error amounts to.
pub fn from_stage(error: &StageError) -> StartFailure {
    let errno = Errno::from_raw(error.errno);
    let kind = kind(error.step, errno);
    let on = if error.object.is_empty() { String::new() } else { format!(" {}", error.object) };
    let mut message = format!("step {}: {}{on}: {}", error.step.name(), error.call, errno.desc());
    if let Some(note) = &error.note {
        message = format!("{}: {note}", error.object);
    }
    StartFailure {
        kind,
        step: error.step.name().to_owned(),
        errno: Some(name(errno)),
        object: error.object.clone(),
        message,
        hint: hint(error, errno, kind),
    }
}

/// A step of the runner's own that failed: for want of something the host can give more of, or by a bug.
pub fn internal(error: SysError) -> StartFailure {
    let hint = match (shortage::way_out(error.errno), error.errno, error.call) {
        (Some(hint), ..) => Some(hint),
        (None, Errno::ENOSPC, _) => Some("free space on the file system, or raise its quota"),
        // The caller's TMPDIR is no bug of ours.
        (None, _, "mkdtemp") => Some("set TMPDIR to a folder that can be written"),
        _ => None,
    };
    StartFailure {
        kind: if hint.is_some() { StartFailureKind::Program } else { StartFailureKind::Internal },
        step: "prepare".to_owned(),
        errno: Some(name(error.errno)),
        object: error.on.clone(),
        message: error.to_string(),
        hint: hint.map(str::to_owned),
    }
}

/// The same, for a front that has no Call yet.
pub fn refusal(error: SysError) -> Refusal {
    let failure = internal(error);
    let reason = match failure.kind {
        StartFailureKind::Internal => Reason::Internal,
        _ => Reason::StartFailed,
    };
    let hint = failure.hint.unwrap_or_else(|| "report this, with this envelope".to_owned());
    let details = serde_json::json!({"step": failure.step, "errno": failure.errno, "object": failure.object});
    Refusal::new(reason, failure.message).hint(hint).with_details(details)
}

/// No id of its own for the tool.
pub fn no_id(why: NoId) -> StartFailure {
    let short = why.errno.and_then(shortage::way_out);
    let hint =
        short.unwrap_or("make /run/toolcell or /dev/shm writable for root, or widen [identity] in toolcell.toml");
    StartFailure {
        kind: if short.is_some() { StartFailureKind::Program } else { StartFailureKind::Sandbox },
        step: "prepare".to_owned(),
        errno: why.errno.map(name),
        object: "identity".to_owned(),
        message: format!("no id of its own can be given to the tool: {}", why.why),
        hint: Some(hint.to_owned()),
    }
}

/// A required layer that is not to be had.
pub fn sandbox(layer: Layer, why: impl Into<String>) -> StartFailure {
    let why = why.into();
    StartFailure {
        kind: StartFailureKind::Sandbox,
        step: "prepare".to_owned(),
        errno: None,
        object: layer.name().to_owned(),
        message: format!("the layer {layer} is required and not to be had here: {why}"),
        hint: Some(mend(layer).to_owned()),
    }
}

/// A level that is not reached.
pub fn below(why: String) -> StartFailure {
    StartFailure {
        kind: StartFailureKind::Sandbox,
        step: "prepare".to_owned(),
        errno: None,
        object: "level".to_owned(),
        message: why,
        hint: Some("ask for a lower level with --min-level, or choose a profile and a host that reach it; `toolcell doctor` tells".to_owned()),
    }
}

fn name(errno: Errno) -> String {
    format!("{errno:?}")
}

fn kind(step: Step, errno: Errno) -> StartFailureKind {
    match step {
        Step::Exec | Step::WorkDir => StartFailureKind::Program,
        _ if shortage::way_out(errno).is_some() => StartFailureKind::Program,
        // A source that is gone is no fault of the sandbox.
        Step::Trees if errno == Errno::ENOENT => StartFailureKind::Program,
        Step::Receive | Step::Fork => StartFailureKind::Internal,
        _ => StartFailureKind::Sandbox,
    }
}

fn hint(error: &StageError, errno: Errno, kind: StartFailureKind) -> Option<String> {
    let (step, note) = (error.step, error.note.as_deref().unwrap_or_default());
    if let Some(short) = shortage::way_out(errno).filter(|_| kind == StartFailureKind::Program) {
        return Some(short.to_owned());
    }
    let text = match (kind, step, errno) {
        (StartFailureKind::Sandbox, Step::Clone | Step::Maps, Errno::ENOSPC) => {
            "raise the limit: sysctl user.max_user_namespaces (and its siblings for the other namespaces)"
        }
        (StartFailureKind::Sandbox, Step::Clone, Errno::ENOSYS) => {
            "clone3 is blocked, as a container's default seccomp profile does: allow it, or run under a profile for containers"
        }
        // user_namespaces(7): to map id 0 takes CAP_SETFCAP.
        (StartFailureKind::Sandbox, Step::Maps, Errno::EPERM) if nix::unistd::geteuid().is_root() => {
            "a root without capabilities cannot map its own id: run toolcell as an ordinary user, or keep CAP_SETFCAP"
        }
        (StartFailureKind::Sandbox, Step::Trees | Step::NewRoot, Errno::EPERM | Errno::ENOSYS) => mend(Layer::UserNs),
        (StartFailureKind::Sandbox, ..) => mend(step.layer().unwrap_or(Layer::UserNs)),
        (StartFailureKind::Program, Step::Exec, Errno::ENOENT) if note.contains("\\r\"") => {
            "the script has the line ends of Windows: save it with LF only"
        }
        (StartFailureKind::Program, Step::Exec, Errno::ENOENT) if note.contains("interpreter") => {
            "install it, or name another in the `#!` line, such as #!/bin/sh; the sandbox shows /usr, the capability's folder as /tool, and what the profile names"
        }
        (StartFailureKind::Program, Step::Exec, Errno::ENOENT) if note.contains("loader") => {
            "link the program statically, or install the loader it was linked for"
        }
        (StartFailureKind::Program, Step::Exec, Errno::ENOENT) => {
            "the sandbox shows /usr, the capability's folder as /tool, and what the profile names: put the program there"
        }
        (StartFailureKind::Program, Step::Exec, Errno::ENOEXEC) => {
            "begin a script with a line such as #!/bin/sh; build a program for this machine"
        }
        (StartFailureKind::Program, Step::Exec, Errno::EACCES) => {
            "make the program executable for everyone; under `strict` only the tool's own program, its interpreter and loader may be executed"
        }
        (StartFailureKind::Program, Step::WorkDir, Errno::EACCES) => {
            "the folder is shut to the tool's id, and its file system cannot map owners: let others read and enter it"
        }
        (StartFailureKind::Program, Step::Exec, Errno::E2BIG) => {
            "shorten the arguments, or pass the data on standard input"
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// What mends a missing layer.
pub fn mend(layer: Layer) -> &'static str {
    match layer {
        Layer::UserNs => {
            "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0, or in a container a seccomp profile that allows clone, unshare and mount; without them a profile that names the namespaces and root best_effort runs at level 1"
        }
        Layer::Proc => "unmask /proc (Kubernetes: procMount: Unmasked), or do not require the layer proc",
        Layer::Cgroup => {
            "delegate a control group (systemd-run --user --scope -p Delegate=yes toolcell ...), or do not require the layer cgroup"
        }
        Layer::Landlock => {
            "use a kernel with Landlock (5.13 or later, `landlock` in the lsm= list), or do not require the layer landlock"
        }
        Layer::Rlimits => "set kernel.core_pattern to a file or a pipe",
        _ => "run on a host that allows it, or name the layer best_effort in a profile that the config grants",
    }
}
