//! `run`, `exec` and `plan`.

use super::args::{AnswerArgs, Common, Exec, ExecStdout, IdentityArgs, InputArgs, Plan, Record, Run};
use super::{print, runner, say};
use crate::call::StdoutKind;
use crate::cell::client::{Launcher, Seed};
use crate::envelope::Envelope;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::resolve::Input;
use crate::runner::{Request, What};
use crate::trace::TraceContext;
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::time::Instant;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// The largest input that is read.
const INPUT_MAX: u64 = 64 << 20;

pub fn run(run: Run, common: &Common, accepted: Instant, seed: Option<Seed>) -> u8 {
    let request = input(&run.input).and_then(|input| {
        record(&run.answer)?;
        Ok(request(
            What::Capability { reference: run.capability, input },
            run.limits.tighten(),
            run.identity,
            &run.answer,
            accepted,
        ))
    });
    answer(request, common, seed, run.answer.pretty)
}

pub fn exec(exec: Exec, common: &Common, accepted: Instant, seed: Option<Seed>) -> u8 {
    let what = || -> Result<What, Refusal> {
        record(&exec.answer)?;
        if let Some(file) = &exec.call {
            return read(file, "--call").map(What::Planned);
        }
        let stdin = exec.stdin.as_deref().map(|file| read(file, "--stdin")).transpose()?;
        let stdout = match exec.stdout {
            ExecStdout::Json => StdoutKind::Json,
            ExecStdout::Jsonl => StdoutKind::Jsonl,
            ExecStdout::Text => StdoutKind::Text,
        };
        Ok(What::Command { argv: exec.argv.clone(), stdin, stdout })
    };
    let request = what().map(|what| request(what, exec.limits.tighten(), exec.identity, &exec.answer, accepted));
    answer(request, common, seed, exec.answer.pretty)
}

pub fn plan(plan: Plan, common: &Common, accepted: Instant) -> u8 {
    let made = || {
        let what = What::Capability { reference: plan.capability.clone(), input: input(&plan.input)? };
        let request =
            Request { what, tighten: plan.limits.tighten(), call_id: None, parent: None, out: None, accepted };
        runner(common)?.plan(&request)
    };
    let text = made().and_then(|call| {
        let text = if plan.pretty { serde_json::to_string_pretty(&call) } else { serde_json::to_string(&call) };
        text.map_err(|error| Refusal::new(Reason::Internal, error.to_string()))
    });
    match text {
        Ok(text) => say::out(format!("{text}\n").as_bytes()),
        Err(refusal) => say::refused(&refusal),
    }
}

fn request(
    what: What,
    tighten: crate::resolve::Tighten,
    identity: IdentityArgs,
    answer: &AnswerArgs,
    accepted: Instant,
) -> Request {
    let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let traceparent = identity.traceparent.map(|parent| (parent, None));
    let parent = traceparent.or_else(|| env("TRACEPARENT").map(|parent| (parent, env("TRACESTATE"))));
    Request { what, tighten, call_id: identity.call_id, parent, out: answer.out.clone(), accepted }
}

fn record(answer: &AnswerArgs) -> Result<(), Refusal> {
    if answer.record == Record::Require {
        return Err(Refusal::new(Reason::Usage, "--record require: this version keeps no records").hint("leave it out"));
    }
    Ok(())
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

/// Answers with an envelope, whatever happens.
fn answer(request: Result<Request, Refusal>, common: &Common, seed: Option<Seed>, pretty: bool) -> u8 {
    let refused = |refusal: Refusal| {
        let id = uuid::Uuid::now_v7().to_string();
        print(&Envelope::refused(id, None, &refusal, TraceContext::root().ids()), pretty)
    };
    let internal = |message: String| Refusal::new(Reason::Internal, message);
    let request = match request {
        Ok(request) => request,
        Err(refusal) => return refused(refusal),
    };
    let runner = match runner(common) {
        Ok(runner) => runner,
        Err(refusal) => return refused(refusal),
    };
    let Some(seed) = seed else { return refused(internal("no launcher could be forked".to_owned())) };
    // Other processes of this user must not read secrets out of this one.
    let _ = nix::sys::prctl::set_dumpable(false);
    if let Ok(place) = &runner.host.cgroup {
        crate::cgroup::sweep(place);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refused(internal(format!("no runtime: {error}"))),
    };
    let (envelope, signal) = runtime.block_on(async {
        let launcher = match Launcher::new(seed) {
            Ok(launcher) => launcher,
            Err(error) => {
                let id = uuid::Uuid::now_v7().to_string();
                let refusal = internal(error.to_string());
                return (Envelope::refused(id, None, &refusal, TraceContext::root().ids()), None);
            }
        };
        let (cancel, cancelled) = watch::channel(false);
        let signals = tokio::spawn(on_signal(cancel));
        let envelope = runner.call(&launcher, request, cancelled).await;
        signals.abort();
        (envelope, signals.await.ok().flatten())
    });
    let code = print(&envelope, pretty);
    if let Some(signal) = signal {
        // The envelope is out: now the signal takes its course, as the caller's shell expects.
        crate::sys::die_by(signal);
    }
    code
}

/// Waits for a signal that ends the call, and passes it on as a cancellation. Ends only with such a signal.
async fn on_signal(cancel: watch::Sender<bool>) -> Option<i32> {
    let mut interrupt = signal(SignalKind::interrupt()).ok()?;
    let mut terminate = signal(SignalKind::terminate()).ok()?;
    let mut hangup = signal(SignalKind::hangup()).ok()?;
    let received = tokio::select! {
        _ = interrupt.recv() => libc::SIGINT,
        _ = terminate.recv() => libc::SIGTERM,
        _ = hangup.recv() => libc::SIGHUP,
    };
    let _ = cancel.send(true);
    // The receiver is dropped when the call is over.
    cancel.closed().await;
    Some(received)
}
