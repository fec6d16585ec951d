//! Facts beside the verdict.

use crate::call::Call;
use crate::envelope::{Warning, WarningCode};
use crate::human;
use crate::layer::{Layer, LayerState};
use crate::outcome::{Capture, Outcome};
use serde_json::{Value, json};

/// How much of a useless standard output a warning shows, bytes.
const SHOWN: usize = 4096;

/// One warning.
pub(super) fn warning(code: WarningCode, message: impl Into<String>, details: Value) -> Warning {
    Warning { code, message: message.into(), details }
}

/// Every warning that follows from the Call and the Outcome alone.
pub(super) fn warnings(call: &Call, outcome: &Outcome) -> Vec<Warning> {
    let notes = call.notes.iter().map(|note| warning(note.code, note.message.clone(), json!({})));
    notes
        .chain(layers(outcome))
        .chain(unmapped(outcome))
        .chain(limits_degraded(outcome))
        .chain(processes(call, outcome))
        .chain(limits_hit(call, outcome))
        .chain(streams(call, outcome))
        .collect()
}

/// What came on standard output and is no result, bounded; none when there was nothing.
pub(super) fn stdout_partial(why: &str, stdout: &Capture) -> Option<Warning> {
    let bytes = stdout.kept.as_bytes();
    if super::stdout::is_blank(bytes) {
        return None;
    }
    let (text, cut) = excerpt(bytes);
    let size = human::bytes(stdout.total.max(bytes.len() as u64));
    let message = format!("standard output ({size}) is no result: {why}");
    let details = json!({"text": text, "bytes": stdout.total, "truncated": cut || stdout.truncated});
    Some(warning(WarningCode::StdoutPartial, message, details))
}

/// The beginning and the end of a text, and whether something between them is left out.
fn excerpt(bytes: &[u8]) -> (String, bool) {
    if bytes.len() <= SHOWN {
        return (String::from_utf8_lossy(bytes).into_owned(), false);
    }
    let inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let head = SHOWN / 2 - (0..3).take_while(|back| inside(&(SHOWN / 2 - back))).count();
    let from = bytes.len() - SHOWN / 2;
    let tail = from + (0..3).take_while(|on| inside(&(from + on))).count();
    let (head, middle) = bytes.split_at(head);
    let (left_out, tail) = middle.split_at(tail - head.len());
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    (format!("{head}\n[{} bytes left out]\n{tail}", left_out.len()), true)
}

fn layers(outcome: &Outcome) -> impl Iterator<Item = Warning> {
    let together = without_namespaces(outcome);
    let alone = move |layer: &Layer| together.is_none() || !Layer::WITH_NAMESPACES.contains(layer);
    let one = outcome.layers.iter().filter(move |(layer, _)| alone(layer)).filter_map(|(layer, report)| {
        let state = match report.state {
            LayerState::Degraded => "degraded",
            LayerState::Missing => "missing",
            LayerState::Enforced | LayerState::Off => return None,
        };
        let why = report.why.as_deref().unwrap_or("no reason was given");
        let details = json!({"layer": layer, "state": report.state, "why": report.why});
        Some(warning(WarningCode::LayerDegraded, format!("sandbox layer `{layer}` is {state}: {why}"), details))
    });
    without_namespaces(outcome).into_iter().chain(one)
}

/// Namespaces, root and /proc that are missing for one reason are one fact.
fn without_namespaces(outcome: &Outcome) -> Option<Warning> {
    let missing = |layer: &Layer| outcome.layers.get(layer).filter(|report| report.state == LayerState::Missing);
    let why = missing(&Layer::Root)?.why.clone()?;
    let layers: Vec<Layer> = Layer::WITH_NAMESPACES.iter().filter(|layer| missing(layer).is_some()).copied().collect();
    let message = format!("the call ran without namespaces and a root of its own (level 1): {why}");
    let details = json!({"layers": layers, "state": LayerState::Missing, "why": why});
    Some(warning(WarningCode::LayerDegraded, message, details))
}

/// Read-only binds whose file system cannot map owners.
fn unmapped(outcome: &Outcome) -> impl Iterator<Item = Warning> {
    outcome.unmapped.iter().map(|path| {
        let message =
            format!("the files of {path} keep their owners: its file system cannot map them to the tool's id");
        warning(WarningCode::LayerDegraded, message, json!({"layer": Layer::UserNs, "path": path}))
    })
}

/// Limits by process stand in where the control group is less than whole.
fn limits_degraded(outcome: &Outcome) -> Option<Warning> {
    let state = |layer: Layer| outcome.layers.get(&layer).map(|report| report.state);
    let less = matches!(state(Layer::Cgroup), Some(LayerState::Missing));
    let stands_in = matches!(state(Layer::Rlimits), Some(LayerState::Enforced | LayerState::Degraded));
    (less && stands_in).then(|| {
        let message = "memory and processes are limited for each process, not for the call as a whole, and CPU not at all; \
                       `toolcell doctor` says how to get a control group";
        warning(WarningCode::LimitDegraded, message, json!({"limits": ["memory", "pids", "cpu"], "by": "rlimits"}))
    })
}

fn processes(call: &Call, outcome: &Outcome) -> impl Iterator<Item = Warning> {
    let leaked = (outcome.leaked_processes > 0).then(|| {
        let window = human::millis(call.limits.leak_window_ms);
        let count = outcome.leaked_processes;
        let were = if count == 1 { "was" } else { "were" };
        let message = format!("{count} of the tool's processes outlived it by {window} and {were} killed");
        let details = json!({"count": outcome.leaked_processes, "window_ms": call.limits.leak_window_ms});
        warning(WarningCode::LeakedProcesses, message, details)
    });
    let unreaped = outcome.unreaped.then(|| {
        let message = "a process in uninterruptible sleep was left behind; it ends when the kernel lets it go";
        warning(WarningCode::Unreaped, message, json!({}))
    });
    leaked.into_iter().chain(unreaped)
}

fn limits_hit(call: &Call, outcome: &Outcome) -> impl Iterator<Item = Warning> {
    let (events, limits) = (&outcome.events, &call.limits);
    let throttled =
        events.throttled_ms.zip(outcome.usage.wall_ms).filter(|(stopped, wall)| stopped.saturating_mul(10) > *wall);
    let throttled = throttled.map(|(stopped, wall)| {
        let (stopped_for, of) = (human::millis(stopped), human::millis(wall));
        let message = format!("the CPU quota (cpu = {}) stopped the tool for {stopped_for} of {of}", limits.cpu);
        let details = json!({"throttled_ms": stopped, "wall_ms": wall, "cpu": limits.cpu});
        warning(WarningCode::Throttled, message, details)
    });
    let pids = events.pids_limit_hits.filter(|hits| *hits > 0).map(|hits| {
        let (limit, forks) = (human::count(limits.pids, "process", "processes"), human::count(hits, "fork", "forks"));
        let message = format!("the limit of {limit} refused {forks}");
        warning(WarningCode::PidsLimitHit, message, json!({"limit": limits.pids, "hits": hits}))
    });
    let tmp = events.tmp_full.then(|| {
        let message = format!("the scratch space was full at the end (limit {})", human::bytes(limits.tmp));
        let details = json!({"limit_bytes": limits.tmp, "limit_inodes": limits.tmp_inodes});
        warning(WarningCode::TmpFull, message, details)
    });
    throttled.into_iter().chain(pids).chain(tmp)
}

fn streams(call: &Call, outcome: &Outcome) -> impl Iterator<Item = Warning> {
    let stdin = outcome.stdin_closed_early.then(|| {
        warning(WarningCode::StdinClosedEarly, "the tool closed its input before it had read all of it", json!({}))
    });
    let stderr = outcome.stderr.truncated.then(|| {
        let (total, limit) = (outcome.stderr.total, call.limits.stderr);
        let message = format!("standard error was cut to {} of {}", human::bytes(limit), human::bytes(total));
        warning(WarningCode::StderrTruncated, message, json!({"limit_bytes": limit, "stderr_bytes": total}))
    });
    let out = outcome.files_truncated.as_ref().map(|why| {
        let message = format!("not every file in the out folder was collected: {why}");
        warning(WarningCode::OutTruncated, message, json!({"limit_bytes": call.limits.out, "why": why}))
    });
    stdin.into_iter().chain(stderr).chain(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_keeps_both_ends_and_cuts_no_character() {
        assert_eq!(excerpt(b"short"), ("short".to_owned(), false));
        for shift in 0..4 {
            let text = "x".repeat(shift) + &"\u{1F600}".repeat(2000);
            let (shown, cut) = excerpt(text.as_bytes());
            assert!(cut && !shown.contains('\u{fffd}'), "{shift}");
            assert!(shown.len() <= SHOWN + 40 && shown.contains("bytes left out"));
        }
        let (shown, cut) = excerpt(&[0x80; 9000]);
        assert!(cut && shown.contains("bytes left out"));
    }
}
