//! `run`, `exec` and `plan`.

use super::args::{AnswerArgs, Common, Exec, ExecStdout, IdentityArgs, LimitArgs, Plan, Record, Run};
use super::input::{Waiting, input, read};
use super::watchdog::{self, Watched};
use super::{Started, machinery, print, runner, say};
use crate::call::StdoutKind;
use crate::cell::client::{Launcher, Seed};
use crate::envelope::Envelope;
use crate::event::EventSink;
use crate::human;
use crate::patience::Patience;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::resolve::{Input, Tighten};
use crate::runner::{Identity, Request, Runner, What, refuse};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// How long a call may take, as long as its profile is not known: what `strict` gives.
pub const WALL_MS: u64 = 30_000;
/// And how long it may take to end.
pub const GRACE_MS: u64 = 2_000;

pub fn run(run: Run, common: &Common, accepted: Instant, seed: Started) -> u8 {
    let order = Order::new(run.limits, run.identity, run.answer, accepted).reading(vec![run.input.input.clone()]);
    let nothing = Input::default();
    let what = What::Capability { reference: run.capability.clone(), input: nothing };
    let gather = move || Ok(What::Capability { reference: run.capability, input: input(&run.input)? });
    order.answer(what, gather, common, seed)
}

pub fn exec(exec: Exec, common: &Common, accepted: Instant, seed: Started) -> u8 {
    let sources = [&exec.call, &exec.stdin].into_iter().flatten().cloned().map(Some).collect();
    let order = Order::new(exec.limits, exec.identity, exec.answer, accepted).reading(sources);
    let stdout = match exec.stdout {
        ExecStdout::Json => StdoutKind::Json,
        ExecStdout::Jsonl => StdoutKind::Jsonl,
        ExecStdout::Text => StdoutKind::Text,
    };
    let what = What::Command { argv: exec.argv.clone(), stdin: None, stdout };
    let gather = move || {
        if let Some(file) = &exec.call {
            return read(file, "--call").map(What::Planned);
        }
        let stdin = exec.stdin.as_deref().map(|file| read(file, "--stdin")).transpose()?;
        Ok(What::Command { argv: exec.argv, stdin, stdout })
    };
    order.answer(what, gather, common, seed)
}

pub fn plan(plan: Plan, common: &Common, accepted: Instant) -> u8 {
    let made = || {
        let what = What::Capability { reference: plan.capability.clone(), input: input(&plan.input)? };
        let request = Request {
            what,
            tighten: plan.limits.tighten(),
            identity: Identity::default(),
            out: None,
            accepted,
            patience: None,
        };
        runner(common)?.plan(&request)
    };
    let text = made().and_then(|call| {
        let text = if plan.answer.pretty { serde_json::to_string_pretty(&call) } else { serde_json::to_string(&call) };
        text.map_err(|error| Refusal::new(Reason::Internal, error.to_string()))
    });
    match text {
        Ok(text) => say::out(format!("{text}\n").as_bytes()),
        Err(refusal) => say::refused(&refusal),
    }
}

/// What a command line asks for, but for the input.
struct Order {
    /// What the input is read from; None: standard input, where it is a pipe.
    sources: Vec<Option<PathBuf>>,
    tighten: Tighten,
    identity: Identity,
    answer: AnswerArgs,
    accepted: Instant,
    /// How long preparing may take.
    patience: Patience,
}

/// What a call needs.
struct Ready {
    runner: Runner,
    seed: Seed,
    events: Option<EventSink>,
}

impl Order {
    fn new(limits: LimitArgs, identity: IdentityArgs, answer: AnswerArgs, accepted: Instant) -> Self {
        let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let traceparent = identity.traceparent.map(|parent| (parent, None));
        let parent = traceparent.or_else(|| env("TRACEPARENT").map(|parent| (parent, env("TRACESTATE"))));
        let identity = Identity { call_id: identity.call_id, parent };
        let tighten = limits.tighten();
        let patience = Patience::new(accepted, tighten.wall.map_or(WALL_MS, |wall| wall.0), GRACE_MS);
        Self { sources: Vec::new(), tighten, identity, answer, accepted, patience }
    }

    fn reading(self, sources: Vec<Option<PathBuf>>) -> Self {
        Self { sources, ..self }
    }

    /// Answers with an envelope, whatever happens. `what` is the request without its input, which `gather` brings.
    fn answer(
        self,
        what: What,
        gather: impl FnOnce() -> Result<What, Refusal> + Send + 'static,
        common: &Common,
        seed: Started,
    ) -> u8 {
        let pretty = self.answer.pretty;
        let (identity, accepted, patience) = (self.identity.clone(), self.accepted, self.patience.clone());
        watchdog::watch(Watched { identity, accepted, patience, pretty });
        let (envelope, signal) = match self.prepare(common, seed) {
            Ok((ready, runtime, printer)) => {
                let done = runtime.block_on(self.make(ready, what, gather));
                // The thread that reads the input may still wait for a writer who never comes.
                runtime.shutdown_background();
                // The envelope is the last line.
                if let Some(printer) = printer {
                    say::let_signals_end_it();
                    let _ = printer.join();
                }
                done
            }
            Err(refusal) => (refuse(&self.identity, self.accepted, &refusal), None),
        };
        while !self.patience.prepared() {
            // The watchdog has answered, and ends this process.
            std::thread::park();
        }
        let code = print(&envelope, pretty);
        if common.verbose {
            say::note(&summary(&envelope));
        }
        if let Some(signal) = signal {
            // The envelope is out: now the signal takes its course, as the caller's shell expects.
            crate::sys::die_by(signal);
        }
        code
    }

    /// Prints events while the call runs, at the reader's own pace.
    fn printer(&self) -> (Option<EventSink>, Option<JoinHandle<()>>) {
        if !self.answer.stream {
            return (None, None);
        }
        let (events, mut received) = tokio::sync::mpsc::unbounded_channel();
        let print = move || {
            while let Some(event) = received.blocking_recv() {
                if !serde_json::to_string(&event).is_ok_and(|line| say::event(&line)) {
                    return;
                }
            }
        };
        match std::thread::Builder::new().spawn(print) {
            Ok(printer) => (Some(events), Some(printer)),
            Err(_) => (None, None),
        }
    }

    fn prepare(&self, common: &Common, seed: Started) -> Result<(Ready, Runtime, Option<JoinHandle<()>>), Refusal> {
        if self.answer.record == Record::Require {
            let message = "--record require: this version keeps no records";
            return Err(Refusal::new(Reason::Usage, message).hint("leave it out"));
        }
        let runner = runner(common)?;
        let (seed, runtime) = machinery(seed)?;
        // Other processes of this user must not read secrets out of this one.
        let _ = nix::sys::prctl::set_dumpable(false);
        let (events, printer) = self.printer();
        Ok((Ready { runner, seed, events }, runtime, printer))
    }

    async fn make(
        &self,
        ready: Ready,
        what: What,
        gather: impl FnOnce() -> Result<What, Refusal> + Send + 'static,
    ) -> (Envelope, Option<i32>) {
        let Ready { runner, seed, events } = ready;
        let (cancel, cancelled) = watch::channel(false);
        let received = Arc::new(AtomicI32::new(0));
        let signals = tokio::spawn(on_signal(cancel, received.clone()));
        if let Ok(place) = runner.host.cgroup.clone() {
            // Its turn comes while the launcher works, so that nobody waits for it.
            tokio::spawn(async move { crate::cgroup::sweep(&place) });
        }
        let waiting = Waiting {
            sources: &self.sources,
            tighten: &self.tighten,
            accepted: self.accepted,
            runner: &runner,
            what: &what,
            patience: &self.patience,
            cancelled: cancelled.clone(),
        };
        let gathered = waiting.gather(gather).await;
        let launcher = Launcher::new(seed).map_err(crate::start_failure::refusal);
        let envelope = match launcher.and_then(|launcher| Ok((launcher, gathered?))) {
            Err(refusal) => refuse(&self.identity, self.accepted, &refusal),
            Ok((launcher, what)) => {
                let request = Request {
                    what,
                    tighten: self.tighten.clone(),
                    identity: self.identity.clone(),
                    out: self.answer.out.clone(),
                    accepted: self.accepted,
                    patience: Some(self.patience.clone()),
                };
                runner.call(&launcher, request, events, cancelled).await
            }
        };
        signals.abort();
        (envelope, Some(received.load(Ordering::Relaxed)).filter(|signal| *signal != 0))
    }
}

/// Waits for a signal that ends the call, notes it, and passes it on as a cancellation.
async fn on_signal(cancel: watch::Sender<bool>, received: Arc<AtomicI32>) {
    // What the caller has toolcell ignore (nohup, a shell's background job) stays ignored.
    let heard = |number: i32, kind: SignalKind| if crate::sys::is_ignored(number) { None } else { signal(kind).ok() };
    let mut interrupt = heard(libc::SIGINT, SignalKind::interrupt());
    let mut terminate = heard(libc::SIGTERM, SignalKind::terminate());
    let mut hangup = heard(libc::SIGHUP, SignalKind::hangup());
    loop {
        let number = tokio::select! {
            () = next(&mut interrupt) => libc::SIGINT,
            () = next(&mut terminate) => libc::SIGTERM,
            () = next(&mut hangup) => libc::SIGHUP,
        };
        // The first one counts; a second must not cut the envelope short.
        let _ = received.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
        let _ = cancel.send(true);
    }
}

async fn next(stream: &mut Option<Signal>) {
    let received = match stream {
        Some(stream) => stream.recv().await,
        None => None,
    };
    if received.is_none() {
        std::future::pending().await
    }
}

/// One line for people about a call.
fn summary(envelope: &Envelope) -> String {
    let sandbox = &envelope.sandbox;
    let level = sandbox.level.map_or("no level".to_owned(), |level| format!("level {level}"));
    format!(
        "call {}: {} in {}, profile {}, {level}, {}",
        envelope.call_id,
        envelope.status.as_str(),
        human::millis(envelope.usage.wall_ms),
        sandbox.profile.as_deref().unwrap_or("none"),
        human::count(envelope.attempts.into(), "attempt", "attempts"),
    )
}
