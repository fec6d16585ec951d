//! What toolcell itself did or saw.

use crate::support::*;
use toolcell::outcome::End::{Exited, Signaled};
use toolcell::outcome::KillCause::{Cancelled, Deadline, Memory, OutputLimit};
use toolcell::outcome::{Outcome, StartFailureKind as Kind};

#[test]
fn no_process_was_started() {
    check(vec![
        ("no program", call(), failed(Kind::Program, None), "channel_failure start_failed host"),
        ("no sandbox", call(), failed(Kind::Sandbox, None), "channel_failure sandbox_unavailable host"),
        ("no secret", call(), failed(Kind::Secret, None), "channel_failure secret_missing host"),
        ("our own fault", call(), failed(Kind::Internal, None), "channel_failure internal runner"),
        ("deadline first", call(), failed(Kind::Ended, Some(Deadline)), "channel_failure timeout tool"),
        ("cancelled first", call(), failed(Kind::Ended, Some(Cancelled)), "call_error cancelled caller"),
        ("ended, nobody knows why", call(), failed(Kind::Ended, None), "channel_failure internal runner"),
        ("no memory to start in", call(), oom(failed(Kind::Internal, None)), "channel_failure out_of_memory tool"),
        ("the same, seen at once", call(), failed(Kind::Ended, Some(Memory)), "channel_failure out_of_memory tool"),
        (
            "failed while cancelling",
            call(),
            failed(Kind::Program, Some(Cancelled)),
            "channel_failure start_failed host",
        ),
        ("end not seen", call(), Outcome::default(), "channel_failure internal runner"),
    ]);
}

#[test]
fn the_runner_or_the_kernel_ended_it() {
    let cut = |outcome| and(outcome, |outcome: &mut Outcome| outcome.stdout.truncated = true);
    check(vec![
        ("SIGTERM at the deadline", call(), killed(Deadline, Signaled(15)), "channel_failure timeout tool"),
        ("SIGKILL after grace", call(), killed(Deadline, Signaled(9)), "channel_failure timeout tool"),
        ("exit 0 after the deadline", call(), killed(Deadline, Exited(0)), "channel_failure timeout tool"),
        ("exit 75 after the deadline", call(), killed(Deadline, Exited(75)), "channel_failure timeout tool"),
        ("cancelled", call(), killed(Cancelled, Signaled(9)), "call_error cancelled caller"),
        ("exit 0 after the cancel", call(), killed(Cancelled, Exited(0)), "call_error cancelled caller"),
        ("too much output", call(), killed(OutputLimit, Signaled(9)), "channel_failure output_limit tool"),
        ("output cut, exit 0", call(), cut(exited(0, "{}")), "channel_failure output_limit tool ! stdout_partial"),
        ("output cut, SIGPIPE", call(), cut(signaled(13)), "channel_failure output_limit tool"),
        ("output cut, exit 66", call(), cut(exited(66, "{}")), "channel_failure output_limit tool ! stdout_partial"),
        ("OOM of the tool", call(), killed(Memory, Signaled(9)), "channel_failure out_of_memory tool"),
        (
            "OOM of a grandchild, exit 0",
            call(),
            oom(exited(0, "{}")),
            "channel_failure out_of_memory tool ! stdout_partial",
        ),
        ("OOM, then exit 3", call(), oom(exited(3, "")), "channel_failure out_of_memory tool"),
        ("OOM, then SIGABRT", call(), oom(signaled(6)), "channel_failure out_of_memory tool"),
        (
            "a counter at zero",
            call(),
            and(signaled(9), |o| o.events.oom_kills = Some(0)),
            "channel_failure crashed tool",
        ),
        ("MemoryError, exit 3", call(), exited(3, ""), "channel_failure undeclared_exit tool"),
    ]);
}

#[test]
fn several_things_hold_at_once() {
    let secret = |outcome| and(outcome, |outcome: &mut Outcome| outcome.secret_in_output = true);
    check(vec![
        ("OOM, then the deadline", call(), oom(killed(Deadline, Signaled(9))), "channel_failure out_of_memory tool"),
        (
            "OOM and too much output",
            call(),
            oom(killed(OutputLimit, Signaled(9))),
            "channel_failure out_of_memory tool",
        ),
        ("OOM, then cancelled", call(), oom(killed(Cancelled, Signaled(9))), "call_error cancelled caller"),
        ("a secret, exit 0", call(), secret(exited(0, "{}")), "channel_failure secret_in_output tool"),
        ("a secret, exit 66", call(), secret(exited(66, "{}")), "channel_failure secret_in_output tool"),
        (
            "a secret, then deadline",
            call(),
            secret(killed(Deadline, Signaled(9))),
            "channel_failure secret_in_output tool",
        ),
        ("a secret, cancelled", call(), secret(killed(Cancelled, Exited(0))), "channel_failure secret_in_output tool"),
    ]);
}

#[test]
fn a_signal_that_nobody_of_ours_sent() {
    check(vec![
        ("SIGKILL is no timeout and no OOM", call(), signaled(9), "channel_failure crashed tool"),
        ("SIGTERM", call(), signaled(15), "channel_failure crashed tool"),
        ("SIGSEGV", call(), signaled(11), "channel_failure crashed tool"),
        ("a real-time signal", call(), signaled(40), "channel_failure crashed tool"),
        ("SIGSYS", call(), signaled(31), "channel_failure sandbox_violation tool"),
        ("SIGXFSZ", call(), signaled(25), "channel_failure file_size_limit tool"),
        ("no signal at all", call(), signaled(-7), "channel_failure crashed tool"),
        (
            "a crash after a whole answer",
            call(),
            and(exited(0, "{}"), |outcome| outcome.end = Some(Signaled(11))),
            "channel_failure crashed tool ! stdout_partial",
        ),
    ]);
}
