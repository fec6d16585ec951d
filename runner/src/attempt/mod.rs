//! One attempt: the Call is dereferenced (secrets, ids, pipes, control group), launched and supervised. What was
//! seen becomes the Outcome; nothing is judged here.

use crate::call::{Call, Landlock, Stdin};
mod pipes;
mod start;

use crate::cell::client::Launcher;
use crate::cell::protocol::{Launch, StageError, Step};
use crate::cgroup::Group;
use crate::collect::collect_by;
use crate::event::EventSink;
use crate::host::Host;
use crate::identity::Lease;
use crate::layer::{Layer, LayerReport, LayerState, Layers, Need};
use crate::outcome::{Events, KillCause, Outcome, StartFailure, StartFailureKind, Usage};
use crate::scratch::Scratch;
use crate::secrets::Secrets;
use crate::start_failure::{from_stage, internal, no_id, sandbox};
use crate::supervise::{Bounds, Live, Over, supervise};
use crate::sys::SysError;
use crate::text::Text;
use pipes::{Ends, pipes};
use serde_json::Value;
use start::start;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What belongs to the attempt and not to the Call.
pub struct Attempt<'a> {
    /// The Call.
    pub call: &'a Call,
    /// Values the Call holds only placeholders for, by JSON Pointer.
    pub sensitive: &'a BTreeMap<String, Value>,
    /// The call's id.
    pub call_id: &'a str,
    /// Which attempt, from 1.
    pub number: u32,
    /// Where its items go while it runs; None: nobody looks.
    pub events: Option<&'a EventSink>,
    /// The variables that carry the trace context.
    pub trace_env: &'a [(String, String)],
    /// When the whole call ends.
    pub deadline: Instant,
    /// Turns true when the caller cancels.
    pub cancel: watch::Receiver<bool>,
    /// Where collected files go; None: they are listed only.
    pub out: Option<PathBuf>,
}

/// Runs one attempt.
pub async fn run(launcher: &Launcher, host: &Host, attempt: &Attempt<'_>) -> Outcome {
    let begun = Instant::now();
    let mut outcome = match prepare(host, attempt, true) {
        Ok(prepared) => launch(launcher, host, attempt, prepared).await,
        Err(failure) => unstarted(host, attempt, failure),
    };
    if cgroup_refused(attempt.call, &outcome) {
        // The group was made but may not be entered: as good as none, and said so.
        let why = outcome.failure.take().map(|failure| failure.message).unwrap_or_default();
        outcome = match prepare(host, attempt, false) {
            Ok(prepared) => launch(launcher, host, attempt, prepared).await,
            Err(failure) => unstarted(host, attempt, failure),
        };
        outcome.layers.insert(Layer::Cgroup, LayerReport::missing(why));
    }
    if outcome.failure.is_some() {
        // Nothing is in force where nothing runs; what is lacking stays, since it may be the reason.
        outcome.layers.retain(|_, report| matches!(report.state, LayerState::Missing | LayerState::Degraded));
    }
    outcome.usage.wall_ms.get_or_insert_with(|| millis(begun.elapsed()));
    outcome
}

fn cgroup_refused(call: &Call, outcome: &Outcome) -> bool {
    call.require.get(&Layer::Cgroup) == Some(&Need::BestEffort)
        && outcome.failure.as_ref().is_some_and(|failure| failure.step == Step::Cgroup.name())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What is held while the call runs.
struct Prepared {
    launch: Launch,
    secrets: Arc<Secrets>,
    input: Option<Vec<u8>>,
    group: Option<Group>,
    scratch: Option<Scratch>,
    lease: Option<Lease>,
    layers: Layers,
}

fn prepare(host: &Host, attempt: &Attempt<'_>, with_cgroup: bool) -> Result<Prepared, StartFailure> {
    let call = attempt.call;
    if Instant::now() >= attempt.deadline || *attempt.cancel.borrow() {
        return Err(ended());
    }
    let secrets = Arc::new(Secrets::read(&call.secrets)?);
    let mut layers = crate::enforce::expected(call, host)?;
    let need = call.require.get(&Layer::Cgroup).copied().unwrap_or(Need::Off);
    let group = if with_cgroup && need != Need::Off { group(host, attempt, need, &mut layers)? } else { None };
    let lease = call.namespaces.outside.map(Lease::take).transpose();
    let lease = lease.map_err(no_id)?;
    let scratch = if call.mounts.private_root { None } else { Some(Scratch::make(call).map_err(internal)?) };
    if let (Some(scratch), Some(lease)) = (&scratch, &lease) {
        scratch.give(lease.id).map_err(internal)?;
    }
    let launch = Launch {
        program: call.program.clone(),
        argv: call.argv.clone(),
        env: environment(attempt, scratch.as_ref()),
        cwd: Scratch::place(scratch.as_ref(), &call.cwd),
        namespaces: call.namespaces.clone(),
        mounts: call.mounts.clone(),
        landlock: call.landlock.clone().map(|section| place_rules(section, scratch.as_ref())),
        seccomp: call.seccomp.clone(),
        limits: call.limits.clone(),
        require: call.require.clone(),
        outside: lease.as_ref().map(|lease| (lease.id, lease.id)),
        out_dir: call.mounts.private_root.then(|| call.out_dir.clone()),
        rlimits_stand_in: group.is_none() && need != Need::Off,
        last_resort_ms: millis(attempt.deadline.saturating_duration_since(Instant::now()))
            .saturating_add(call.limits.grace_ms)
            .saturating_add(1000),
    };
    let input = input(call, attempt.sensitive);
    Ok(Prepared { launch, secrets, input, group, scratch, lease, layers })
}

fn place_rules(mut section: Landlock, scratch: Option<&Scratch>) -> Landlock {
    for rule in &mut section.rules {
        rule.path = Scratch::place(scratch, &rule.path);
    }
    section
}

fn ended() -> StartFailure {
    StartFailure {
        kind: StartFailureKind::Ended,
        step: "prepare".to_owned(),
        errno: None,
        object: String::new(),
        message: "the call was over before a process was started".to_owned(),
        hint: None,
    }
}

fn group(host: &Host, attempt: &Attempt<'_>, need: Need, layers: &mut Layers) -> Result<Option<Group>, StartFailure> {
    let id = uuid::Uuid::new_v4().simple().to_string();
    let made = host
        .cgroup
        .as_ref()
        .map_err(Clone::clone)
        .and_then(|place| Group::create(place, &id, &attempt.call.limits).map_err(|error| error.to_string()));
    match made {
        Ok(group) if need == Need::Required && !group.lacking.is_empty() => {
            Err(sandbox(Layer::Cgroup, group.lacking.join("; ")))
        }
        Ok(group) => {
            let report = match group.lacking.first() {
                None => LayerReport::enforced(),
                Some(why) => LayerReport::degraded(why.clone()),
            };
            layers.insert(Layer::Cgroup, report);
            Ok(Some(group))
        }
        Err(why) if need == Need::BestEffort => {
            layers.insert(Layer::Cgroup, LayerReport::missing(why));
            Ok(None)
        }
        Err(why) => Err(sandbox(Layer::Cgroup, why)),
    }
}

/// The tool's variables as `NAME=value`; a later one of the same name does not exist, because the Call refuses the
/// names used here.
fn environment(attempt: &Attempt<'_>, scratch: Option<&Scratch>) -> Vec<Text> {
    let left = attempt.deadline.saturating_duration_since(Instant::now());
    let own = [
        ("TOOLCELL_CALL_ID".to_owned(), Text::from(attempt.call_id)),
        ("TOOLCELL_DEADLINE_MS".to_owned(), Text::from(millis(left).to_string())),
        ("TOOLCELL_OUT".to_owned(), Scratch::place(scratch, &attempt.call.out_dir)),
    ];
    let trace = attempt.trace_env.iter().map(|(name, value)| (name.clone(), Text::from(value.as_str())));
    let call = attempt.call.env.iter().map(|(name, value)| (name.clone(), Scratch::place(scratch, value)));
    let join = |(name, value): (String, Text)| Text::from([name.as_bytes(), b"=", value.as_bytes()].concat());
    call.chain(own).chain(trace).map(join).collect()
}

fn input(call: &Call, sensitive: &BTreeMap<String, Value>) -> Option<Vec<u8>> {
    match &call.stdio.stdin {
        Stdin::None => None,
        Stdin::Bytes(bytes) => Some(bytes.as_bytes().to_vec()),
        Stdin::Json(value) if sensitive.is_empty() => serde_json::to_vec(value).ok(),
        Stdin::Json(value) => {
            let mut value = value.clone();
            for (pointer, real) in sensitive {
                if let Some(place) = value.pointer_mut(pointer) {
                    *place = real.clone();
                }
            }
            serde_json::to_vec(&value).ok()
        }
    }
}

fn unstarted(host: &Host, attempt: &Attempt<'_>, failure: StartFailure) -> Outcome {
    let killed_by = (failure.kind == StartFailureKind::Ended).then_some(if *attempt.cancel.borrow() {
        KillCause::Cancelled
    } else {
        KillCause::Deadline
    });
    let layers = crate::enforce::expected(attempt.call, host).unwrap_or_default();
    Outcome { failure: Some(failure), killed_by, layers, ..Outcome::default() }
}

async fn launch(launcher: &Launcher, host: &Host, attempt: &Attempt<'_>, mut prepared: Prepared) -> Outcome {
    let begun = Instant::now();
    let (live, fds) = match pipes(attempt, &mut prepared) {
        Ok(made) => made,
        Err(error) => return unstarted(host, attempt, internal(error)),
    };
    let pidfd = start(launcher, attempt, &prepared.launch, fds).await;
    // Another attempt needs the launcher again: a retry, or one without the control group.
    let may_refuse =
        (prepared.group.is_some() && !host.root) || attempt.call.require.get(&Layer::Root) == Some(&Need::BestEffort);
    if attempt.call.contract.retry.is_none() && !may_refuse {
        launcher.retire();
    }
    let Ends { report, lifeline, feed, stdout, stderr } = live;
    let live = match pidfd {
        Ok(pidfd) => Live { pidfd, report, lifeline, feed, stdout, stderr },
        Err(failure) => {
            start::lost(report, lifeline).await;
            return Outcome { layers: prepared.layers, ..unstarted(host, attempt, failure) };
        }
    };
    let bounds = Bounds { deadline: attempt.deadline, limits: &attempt.call.limits, cancel: attempt.cancel.clone() };
    match supervise(live, bounds).await {
        Ok(over) => conclude(attempt, prepared, over, begun),
        Err(error) => unstarted(host, attempt, internal(error)),
    }
}

fn conclude(attempt: &Attempt<'_>, prepared: Prepared, over: Over, begun: Instant) -> Outcome {
    let Over { seen, feed, stdout, stderr } = over;
    let Prepared { secrets, group, mut scratch, lease, mut layers, .. } = prepared;
    let failure = seen.failed.as_ref().map(from_stage).or_else(|| silent(&seen));
    layers.extend(seen.layers);
    if let Some(group) = group.as_ref().filter(|_| !attempt.call.namespaces.pid) {
        group.kill();
    }
    let counters = group.as_ref().map(Group::counters).unwrap_or_default();
    let margin = secrets.longest().saturating_sub(1);
    let mut stdout = stdout.finish(margin);
    let mut stderr = stderr.finish(margin);
    let secret_in_output = secrets.found_in(stdout.kept.as_bytes());
    if secret_in_output {
        stdout.kept = Text::default();
    }
    if !secrets.is_empty() {
        stderr.kept = Text::from(secrets.redact(stderr.kept.as_bytes()));
    }
    let killed_by = seen.killed_by.or((counters.oom_kills.unwrap_or(0) > 0).then_some(KillCause::Memory));
    let folder = seen.out.or_else(|| scratch.as_mut().and_then(Scratch::take_out));
    let collect_until = attempt.deadline + Duration::from_millis(attempt.call.limits.grace_ms + 200);
    let collected = match (&failure, folder) {
        (None, Some(folder)) => collect_by(collect_until, folder, attempt.call.limits.out, attempt.out.clone()),
        _ => crate::collect::Collected::default(),
    };
    let cpu_us = counters.cpu_us.or(seen.ending.as_ref().map(|ending| ending.cpu_us));
    if seen.unreaped {
        // What is left still has the id: nobody else may be given it.
        std::mem::forget(lease);
        drop((group, scratch));
    } else {
        drop((group, scratch, lease));
    }
    Outcome {
        end: if failure.is_some() { None } else { seen.end },
        killed_by: if failure.is_some() { seen.killed_by } else { killed_by },
        failure,
        escalated: seen.escalated,
        stdout,
        stderr,
        stdin_closed_early: feed.closed_early,
        secret_in_output,
        leaked_processes: seen.ending.as_ref().map_or(0, |ending| ending.leaked),
        unreaped: seen.unreaped,
        usage: Usage {
            wall_ms: Some(millis(begun.elapsed())),
            cpu_ms: cpu_us.map(|micros| micros / 1000),
            memory_peak_bytes: counters.memory_peak,
            pids_peak: counters.pids_peak,
        },
        events: Events {
            oom_kills: counters.oom_kills,
            pids_limit_hits: counters.pids_limit_hits,
            throttled_ms: counters.throttled_us.map(|micros| micros / 1000),
            tmp_full: seen.ending.as_ref().is_some_and(|ending| ending.tmp_full),
        },
        layers,
        unmapped: seen.unmapped,
        files: collected.files,
        files_truncated: collected.short,
    }
}

/// Init ended without a word: it was ended before the tool could start, or somebody killed it.
fn silent(seen: &crate::supervise::Seen) -> Option<StartFailure> {
    if seen.started || seen.ending.is_some() {
        return None;
    }
    if seen.killed_by.is_some() {
        return Some(ended());
    }
    let error = SysError::new("init", "ended before the tool started", nix::errno::Errno::EPIPE);
    Some(from_stage(&StageError::new(Step::Fork, error)))
}
