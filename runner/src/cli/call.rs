//! `run`, `exec` and `plan`.

use super::args::{AnswerArgs, Common, Exec, ExecStdout, IdentityArgs, InputArgs, LimitArgs, Plan, Record, Run};
use super::{print, runner, say};
use crate::call::StdoutKind;
use crate::cell::client::{Launcher, Seed};
use crate::envelope::Envelope;
use crate::human;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::resolve::{Input, Tighten};
use crate::runner::{Identity, Request, Runner, What, refuse};
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// How long the caller's input is awaited at least.
const LEAST_WAIT: Duration = Duration::from_secs(1);

/// The largest input that is read.
const INPUT_MAX: u64 = 64 << 20;

pub fn run(run: Run, common: &Common, accepted: Instant, seed: Option<Seed>) -> u8 {
    let order = Order::new(run.limits, run.identity, run.answer, accepted).reading(vec![run.input.input.clone()]);
    let nothing = Input::default();
    let what = What::Capability { reference: run.capability.clone(), input: nothing };
    let gather = move || Ok(What::Capability { reference: run.capability, input: input(&run.input)? });
    order.answer(what, gather, common, seed)
}

pub fn exec(exec: Exec, common: &Common, accepted: Instant, seed: Option<Seed>) -> u8 {
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
        let request =
            Request { what, tighten: plan.limits.tighten(), identity: Identity::default(), out: None, accepted };
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

/// The input: a file, standard input where it is a pipe or a file, or nothing.
fn input(args: &InputArgs) -> Result<Input, Refusal> {
    let bytes = match &args.input {
        Some(file) => Some(read(file, "--input")?),
        None if std::io::stdin().is_terminal() || is_null() => None,
        None => Some(read(Path::new("-"), "standard input")?),
    };
    // A pipe that brings nothing means the same as no pipe when values are set by flag.
    let bytes = bytes.filter(|bytes| !bytes.is_empty() || args.set.is_empty());
    Ok(Input { bytes, set: args.set.clone() })
}

/// Whether standard input will not make a reader wait: a file or a device, or a pipe whose writers are gone. A terminal
/// is not read at all.
fn input_ended() -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    let stdin = std::io::stdin();
    let kind = nix::sys::stat::fstat(&stdin).map_or(0, |stat| stat.st_mode & libc::S_IFMT);
    if kind != libc::S_IFIFO && kind != libc::S_IFSOCK {
        return true;
    }
    let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::from(2u8)).is_ok()
        && fds[0].revents().is_some_and(|flags| flags.contains(PollFlags::POLLHUP))
}

/// Whether standard input is a device, such as /dev/null: no document comes from there.
fn is_null() -> bool {
    nix::sys::stat::fstat(std::io::stdin()).is_ok_and(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFCHR)
}

fn read(path: &Path, flag: &str) -> Result<Vec<u8>, Refusal> {
    let usage = |message: String| Refusal::new(Reason::Usage, message);
    let mut bytes = Vec::new();
    let shown = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(INPUT_MAX + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(INPUT_MAX + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| {
        usage(format!("{flag}: {shown}: {error}")).hint("name a file that can be read, or - for standard input")
    })?;
    if bytes.len() as u64 > INPUT_MAX {
        return Err(
            usage(format!("{flag}: {shown} is larger than 64 MiB")).hint("pass large data as a file the tool is given")
        );
    }
    Ok(bytes)
}

/// What a command line asks for, but for the input.
struct Order {
    /// What the input is read from; None: standard input, where it is a pipe.
    sources: Vec<Option<PathBuf>>,
    tighten: Tighten,
    identity: Identity,
    answer: AnswerArgs,
    accepted: Instant,
}

impl Order {
    fn new(limits: LimitArgs, identity: IdentityArgs, answer: AnswerArgs, accepted: Instant) -> Self {
        let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let traceparent = identity.traceparent.map(|parent| (parent, None));
        let parent = traceparent.or_else(|| env("TRACEPARENT").map(|parent| (parent, env("TRACESTATE"))));
        let identity = Identity { call_id: identity.call_id, parent };
        Self { sources: Vec::new(), tighten: limits.tighten(), identity, answer, accepted }
    }

    fn reading(self, sources: Vec<Option<PathBuf>>) -> Self {
        Self { sources, ..self }
    }

    /// Whether reading the input cannot wait: it comes from regular files, or its pipe has been closed already.
    fn at_hand(&self) -> bool {
        self.sources.iter().all(|source| match source.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => std::fs::metadata(path).map_or(true, |data| data.is_file()),
            None => input_ended(),
        })
    }

    /// Answers with an envelope, whatever happens. `what` is the request without its input, which `gather` brings.
    fn answer(
        self,
        what: What,
        gather: impl FnOnce() -> Result<What, Refusal> + Send + 'static,
        common: &Common,
        seed: Option<Seed>,
    ) -> u8 {
        let pretty = self.answer.pretty;
        let (envelope, signal) = match self.prepare(common, seed) {
            Ok((runner, seed, runtime)) => {
                let done = runtime.block_on(self.make(&runner, seed, what, gather));
                // The thread that reads the input may still wait for a writer who never comes.
                runtime.shutdown_background();
                done
            }
            Err(refusal) => (refuse(&self.identity, self.accepted, &refusal), None),
        };
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

    fn prepare(&self, common: &Common, seed: Option<Seed>) -> Result<(Runner, Seed, Runtime), Refusal> {
        let internal = |message: String| Refusal::new(Reason::Internal, message);
        if self.answer.record == Record::Require {
            let message = "--record require: this version keeps no records";
            return Err(Refusal::new(Reason::Usage, message).hint("leave it out"));
        }
        let runner = runner(common)?;
        let seed = seed.ok_or_else(|| internal("no launcher could be forked".to_owned()))?;
        // Other processes of this user must not read secrets out of this one.
        let _ = nix::sys::prctl::set_dumpable(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok((runner, seed, runtime.map_err(|error| internal(format!("no runtime: {error}")))?))
    }

    async fn make(
        &self,
        runner: &Runner,
        seed: Seed,
        what: What,
        gather: impl FnOnce() -> Result<What, Refusal> + Send + 'static,
    ) -> (Envelope, Option<i32>) {
        let (cancel, cancelled) = watch::channel(false);
        let received = Arc::new(AtomicI32::new(0));
        let signals = tokio::spawn(on_signal(cancel, received.clone()));
        if let Ok(place) = runner.host.cgroup.clone() {
            // Its turn comes while the launcher works, so that nobody waits for it.
            tokio::spawn(async move { crate::cgroup::sweep(&place) });
        }
        let waiting = Waiting { runner, what: &what, order: self, cancelled: cancelled.clone() };
        let gathered = waiting.gather(gather).await;
        let launcher = Launcher::new(seed).map_err(|error| Refusal::new(Reason::Internal, error.to_string()));
        let envelope = match launcher.and_then(|launcher| Ok((launcher, gathered?))) {
            Err(refusal) => refuse(&self.identity, self.accepted, &refusal),
            Ok((launcher, what)) => {
                let request = Request {
                    what,
                    tighten: self.tighten.clone(),
                    identity: self.identity.clone(),
                    out: self.answer.out.clone(),
                    accepted: self.accepted,
                };
                runner.call(&launcher, request, cancelled).await
            }
        };
        signals.abort();
        (envelope, Some(received.load(Ordering::Relaxed)).filter(|signal| *signal != 0))
    }
}

/// The wait for the caller's input, which may never end.
struct Waiting<'a> {
    runner: &'a Runner,
    what: &'a What,
    order: &'a Order,
    cancelled: watch::Receiver<bool>,
}

impl Waiting<'_> {
    async fn gather(
        mut self,
        gather: impl FnOnce() -> Result<What, Refusal> + Send + 'static,
    ) -> Result<What, Refusal> {
        // Nearly always the input is there at once: then there is no thread, and no deadline to look up.
        if self.order.at_hand() {
            return gather();
        }
        let (done, gathered) = tokio::sync::oneshot::channel();
        let lost = || Refusal::new(Reason::Internal, "the input could not be read: no thread could be started for it");
        std::thread::Builder::new().spawn(move || done.send(gather())).map_err(|_| lost())?;
        tokio::pin!(gathered);
        let wall = Duration::from_millis(self.runner.wall_ms(self.what, &self.order.tighten).unwrap_or(30_000));
        // Who has to write the input gets a moment for it, however short the tool's own time is.
        let wall = wall.max(LEAST_WAIT);
        tokio::select! {
            biased;
            gathered = &mut gathered => gathered.map_err(|_| lost())?,
            Ok(_) = self.cancelled.wait_for(|cancelled| *cancelled) => {
                Err(Refusal::new(Reason::Cancelled, "cancelled while the input was awaited"))
            }
            () = tokio::time::sleep_until((self.order.accepted + wall).into()) => {
                let message = format!("the input did not end within the deadline of {}", human::millis(u64::try_from(wall.as_millis()).unwrap_or(u64::MAX)));
                Err(Refusal::new(Reason::Usage, message).hint("close standard input, or name a file with --input"))
            }
        }
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
        "call {}: {} in {}, profile {}, {level}, {} attempts",
        envelope.call_id,
        envelope.status.as_str(),
        human::millis(envelope.usage.wall_ms),
        sandbox.profile.as_deref().unwrap_or("none"),
        envelope.attempts,
    )
}
