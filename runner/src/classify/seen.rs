//! What toolcell itself did or saw: the strongest evidence.

use super::fault::Fault;
use crate::call::Call;
use crate::human;
use crate::outcome::{End, KillCause, Outcome, StartFailure, StartFailureKind};
use crate::reason::Reason;
use crate::signal;
use serde_json::json;

/// The code the tool ended with by itself; the fault where something stronger speaks.
///
/// Where several things hold, the order is: not started, secret in the output, cancelled, OOM killer, what else
/// `killed_by` says, standard output cut, a signal. The caller's own wish to stop outranks what befell the tool. The
/// OOM killer outranks the deadline and the output cap: a tool that lost a process to it and then waited for that
/// process until the deadline needs memory, not time; the envelope's `killed_by` still says `deadline`.
pub(super) fn exit_code(call: &Call, outcome: &Outcome) -> Result<u8, Fault> {
    if let Some(failure) = &outcome.failure {
        return Err(not_started(call, outcome, failure));
    }
    if outcome.secret_in_output {
        return Err(secret_in_output());
    }
    match outcome.killed_by {
        Some(KillCause::Cancelled) => Err(cancelled(outcome)),
        Some(KillCause::Memory) => Err(out_of_memory(call, outcome)),
        Some(_) | None if oom_killed(outcome) => Err(out_of_memory(call, outcome)),
        Some(KillCause::Deadline) => Err(timeout(call, outcome)),
        Some(KillCause::OutputLimit) => Err(output_limit(call, outcome)),
        None if outcome.stdout.truncated => Err(output_limit(call, outcome)),
        None => match outcome.end {
            Some(End::Exited(code)) => Ok(code),
            Some(End::Signaled(number)) => Err(signaled(call, number)),
            None => Err(Fault::new(Reason::Internal, "the tool's end was not seen")
                .hint("report this, with this envelope; the tool may have done its work")),
        },
    }
}

fn oom_killed(outcome: &Outcome) -> bool {
    outcome.events.oom_kills.is_some_and(|kills| kills > 0)
}

fn not_started(call: &Call, outcome: &Outcome, failure: &StartFailure) -> Fault {
    let reason = match (failure.kind, outcome.killed_by) {
        (StartFailureKind::Ended, Some(KillCause::Cancelled)) => {
            return Fault::new(Reason::Cancelled, "the caller cancelled before the tool was started");
        }
        (StartFailureKind::Ended, Some(KillCause::Deadline)) => {
            let wall = call.limits.wall_ms;
            let message = format!("the deadline of {} passed before the tool was started", human::millis(wall));
            return Fault::new(Reason::Timeout, message)
                .hint("allow more with `--timeout` or `limits.wall`, or call again when the host is less busy")
                .details(json!({"limit_ms": wall, "started": false, "step": failure.step}));
        }
        (_, Some(KillCause::Memory)) => return out_of_memory(call, outcome),
        _ if oom_killed(outcome) => return out_of_memory(call, outcome),
        (StartFailureKind::Program, _) => Reason::StartFailed,
        (StartFailureKind::Sandbox, _) => Reason::SandboxUnavailable,
        (StartFailureKind::Secret, _) => Reason::SecretMissing,
        (StartFailureKind::Internal | StartFailureKind::Ended, _) => Reason::Internal,
    };
    let hint = failure.hint.clone().unwrap_or_else(|| start_hint(reason).to_owned());
    let details = json!({"step": failure.step, "errno": failure.errno, "object": failure.object});
    Fault::new(reason, failure.message.clone()).hint(hint).details(details)
}

fn start_hint(reason: Reason) -> &'static str {
    match reason {
        Reason::StartFailed => "check `command` in tool.toml; `toolcell plan` prints the program that was looked for",
        Reason::SandboxUnavailable => "`toolcell doctor` says what this host lacks and how to mend it",
        Reason::SecretMissing => "give it a value in toolcell.toml: `[secrets.NAME]` with `file` or `env`, and `for`",
        _ => "report this, with this envelope",
    }
}

fn secret_in_output() -> Fault {
    Fault::new(Reason::SecretInOutput, "the value of a secret stood in standard output; the output is withheld")
        .hint("the tool must not print its secrets: mend the tool, and replace the secret if the output went elsewhere")
}

fn cancelled(outcome: &Outcome) -> Fault {
    let how = if outcome.escalated { ", and the tool had to be killed with SIGKILL" } else { "" };
    Fault::new(Reason::Cancelled, format!("the caller cancelled the call{how}"))
        .details(json!({"escalated": outcome.escalated, "oom_kills": outcome.events.oom_kills}))
}

fn timeout(call: &Call, outcome: &Outcome) -> Fault {
    let limits = &call.limits;
    let grace = human::millis(limits.grace_ms);
    let how = match (outcome.unreaped, outcome.escalated) {
        (true, _) => "something of it is in uninterruptible sleep and could not be ended".to_owned(),
        (false, true) => format!("it was killed with SIGKILL after a grace of {grace}"),
        (false, false) => format!("it ended within the grace of {grace}"),
    };
    let message = format!("the tool was still running at the deadline of {}; {how}", human::millis(limits.wall_ms));
    let details = json!({
        "limit_ms": limits.wall_ms, "grace_ms": limits.grace_ms, "started": true, "escalated": outcome.escalated,
    });
    Fault::new(Reason::Timeout, message)
        .hint("allow more with `--timeout` or `limits.wall`, as far as the profile does, or ask for less at once")
        .details(details)
}

fn out_of_memory(call: &Call, outcome: &Outcome) -> Fault {
    let limit = human::bytes(call.limits.memory);
    let peak = outcome.usage.memory_peak_bytes;
    let used = peak.map_or_else(|| "peak not measured".to_owned(), |peak| format!("peak {}", human::bytes(peak)));
    Fault::new(Reason::OutOfMemory, format!("the kernel's OOM killer struck in the call (limit {limit}, {used})"))
        .hint("allow more with `--memory` or `limits.memory`, as far as the profile does, or ask for less at once")
        .details(json!({
            "limit_bytes": call.limits.memory, "peak_bytes": peak,
            "oom_kills": outcome.events.oom_kills, "killed_by": outcome.killed_by,
        }))
}

fn output_limit(call: &Call, outcome: &Outcome) -> Fault {
    let limit = call.limits.stdout;
    Fault::new(Reason::OutputLimit, format!("standard output grew beyond its limit of {}", human::bytes(limit)))
        .hint("raise `limits.stdout` in tool.toml, as far as the profile allows, or ask for less at once")
        .details(json!({"limit_bytes": limit, "stdout_bytes": outcome.stdout.total}))
}

fn signaled(call: &Call, number: i32) -> Fault {
    let name = signal::name(number);
    let details = json!({"signal": name, "signal_number": number});
    match number {
        libc::SIGSYS => {
            Fault::new(Reason::SandboxViolation, "the system call filter killed the tool (SIGSYS)".to_owned())
                .hint("the tool made a call of a foreign architecture (32-bit or x32); use a native program")
                .details(details)
        }
        libc::SIGXFSZ => {
            let limit = call.limits.file_size;
            let message = format!("a file grew beyond the limit of {} (SIGXFSZ)", human::bytes(limit));
            Fault::new(Reason::FileSizeLimit, message)
                .hint("raise `limits.file_size` in tool.toml, as far as the profile allows, or write less")
                .details(json!({"limit_bytes": limit, "signal": name, "signal_number": number}))
        }
        _ => Fault::new(Reason::Crashed, format!("the tool was killed by {name}, which toolcell did not send"))
            .hint("the end of `stderr` may show where; the tool or someone outside the call sent the signal")
            .details(details),
    }
}
