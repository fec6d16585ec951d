//! The runner: prepare, execute, observe. The only place that knows the whole path of a call; every front is a thin
//! layer on [`Runner::call`].

use crate::Answered;
use crate::attempt::{self, Attempt};
use crate::call::{Call, StdoutKind};
use crate::cell::client::Launcher;
use crate::classify::{Verdict, classify};
use crate::config::Config;
use crate::envelope::{CapabilityName, Envelope, RecordState, Warning, WarningCode};
use crate::host::Host;
use crate::outcome::Outcome;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::resolve::{self, Context, ExecRequest, Input, Resolved, Tighten};
use crate::trace::TraceContext;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use toolcell_tool::Status;

/// What a caller asks for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which program, and with what.
    pub what: What,
    /// What the caller tightens.
    pub tighten: Tighten,
    /// Who the call is.
    pub identity: Identity,
    /// Where collected files go.
    pub out: Option<PathBuf>,
    /// When the request was accepted; the deadline counts from here.
    pub accepted: Instant,
}

/// A call's id and its place in a trace.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// The call's id; None: a UUID version 7.
    pub call_id: Option<String>,
    /// The caller's span: traceparent, and tracestate where there is one.
    pub parent: Option<(String, Option<String>)>,
}

impl Identity {
    fn id(&self) -> String {
        self.call_id.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string())
    }
}

/// Which program is called.
#[derive(Clone, Debug)]
pub enum What {
    /// A capability of a registry.
    Capability {
        /// `id`, or `id@REQUIREMENT`.
        reference: String,
        /// The input.
        input: Input,
    },
    /// A command without a contract.
    Command {
        /// The program and its arguments.
        argv: Vec<OsString>,
        /// Standard input.
        stdin: Option<Vec<u8>>,
        /// What is made of standard output.
        stdout: StdoutKind,
    },
    /// A Call that `plan` printed.
    Planned(Vec<u8>),
}

/// Everything that stays the same from call to call.
pub struct Runner {
    /// The configuration.
    pub config: Config,
    /// Facts of the host.
    pub host: Host,
    /// The caller's working directory.
    pub cwd: PathBuf,
    /// The folder the toolcell binary stands in.
    pub bin_dir: PathBuf,
}

/// A refusal, with the capability where it was found.
struct Stopped {
    capability: Option<CapabilityName>,
    refusal: Refusal,
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self { capability: None, refusal }
    }
}

impl Runner {
    /// The Call a request amounts to: pure data, nothing is started.
    ///
    /// # Errors
    /// What stops it, with the way out.
    pub fn plan(&self, request: &Request) -> Result<Call, Refusal> {
        self.resolve(request).map(|resolved| resolved.call).map_err(|stopped| stopped.refusal)
    }

    /// The deadline a request will have, milliseconds; None where it will be refused anyway.
    pub fn wall_ms(&self, what: &What, tighten: &Tighten) -> Option<u64> {
        let env = |name: &str| std::env::var_os(name);
        let ctx = Context { config: &self.config, host: &self.host, cwd: &self.cwd, bin_dir: &self.bin_dir, env: &env };
        let found = match what {
            What::Capability { reference, .. } => {
                Some(Registry::new(self.config.registries.clone()).find(reference).ok()?)
            }
            What::Command { .. } | What::Planned(_) => None,
        };
        resolve::wall_ms(found.as_ref(), tighten, &ctx)
    }

    fn resolve(&self, request: &Request) -> Result<Resolved, Stopped> {
        let env = |name: &str| std::env::var_os(name);
        let ctx = Context { config: &self.config, host: &self.host, cwd: &self.cwd, bin_dir: &self.bin_dir, env: &env };
        let registry = Registry::new(self.config.registries.clone());
        match &request.what {
            What::Capability { reference, input } => {
                let found = registry.find(reference).map_err(resolve::unknown)?;
                let contract = &found.capability.value;
                let capability = Some(CapabilityName {
                    id: contract.id.clone(),
                    version: contract.version.to_string(),
                    supplier: contract.supplier.clone(),
                });
                resolve::capability(&found, input, &request.tighten, &ctx)
                    .map_err(|refusal| Stopped { capability, refusal })
            }
            What::Command { argv, stdin, stdout } => {
                let request = ExecRequest {
                    argv: argv.clone(),
                    stdin: stdin.clone(),
                    stdout: *stdout,
                    tighten: request.tighten.clone(),
                };
                Ok(resolve::command(&request, &ctx)?)
            }
            What::Planned(bytes) => Ok(resolve::planned(bytes, &request.tighten, &registry, &ctx)?),
        }
    }

    /// Answers a request: one envelope on every path. `cancel` turning true ends the call.
    pub async fn call(&self, launcher: &Launcher, request: Request, cancel: watch::Receiver<bool>) -> Envelope {
        let call_id = request.identity.id();
        let (span, warnings) = span(request.identity.parent.as_ref());
        let prepared = check_out(request.out.as_deref()).map_err(Stopped::from).and_then(|()| self.resolve(&request));
        let resolved = match prepared {
            Ok(resolved) => resolved,
            Err(Stopped { capability, refusal }) => {
                let mut envelope = Envelope::refused(call_id, capability, &refusal, span.ids());
                envelope.usage.wall_ms = elapsed_ms(request.accepted);
                envelope.warnings.extend(warnings);
                return envelope;
            }
        };
        if let Err(refusal) = make_out(request.out.as_deref()) {
            return refuse(&request.identity, request.accepted, &refusal);
        }
        let execution = Execution { runner: self, launcher, request: &request, call_id: &call_id, span: &span, cancel };
        let (attempts, verdict) = execution.run(&resolved).await;
        Envelope::answered(Answered {
            call_id: call_id.clone(),
            call: &resolved.call,
            attempts: &attempts,
            verdict,
            wall_ms: elapsed_ms(request.accepted),
            trace: span.ids(),
            record: RecordState { stored: false, replay: None },
            warnings,
        })
    }
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The envelope of a request that was stopped before there was a runner to ask, under the caller's own id and trace.
pub fn refuse(identity: &Identity, accepted: Instant, refusal: &Refusal) -> Envelope {
    let (span, warnings) = span(identity.parent.as_ref());
    let mut envelope = Envelope::refused(identity.id(), None, refusal, span.ids());
    envelope.usage.wall_ms = elapsed_ms(accepted);
    envelope.warnings.extend(warnings);
    envelope
}

/// The call's span: a child of the caller's where there is one.
fn span(parent: Option<&(String, Option<String>)>) -> (TraceContext, Vec<Warning>) {
    let Some((traceparent, tracestate)) = parent else { return (TraceContext::root(), Vec::new()) };
    match TraceContext::parse(traceparent, tracestate.as_deref()) {
        Some(parent) => (parent.child(), Vec::new()),
        None => {
            let message = "the caller's traceparent is malformed; a new trace was begun".to_owned();
            let details = serde_json::json!({"traceparent": traceparent.chars().take(100).collect::<String>()});
            let warning = Warning { code: WarningCode::TraceContextDropped, message, details };
            (TraceContext::root(), vec![warning])
        }
    }
}

/// Collected files never overwrite: the folder must be new or empty.
fn check_out(out: Option<&std::path::Path>) -> Result<(), Refusal> {
    let Some(out) = out else { return Ok(()) };
    let usage = |message: String| Refusal::new(Reason::Usage, message);
    match std::fs::read_dir(out).map(|mut entries| entries.next().is_some()) {
        Ok(false) => Ok(()),
        Ok(true) => Err(usage(format!("--out {}: the folder is not empty", out.display())).hint("name a new folder")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(usage(format!("--out {}: {error}", out.display()))),
    }
}

/// Makes the folder for files, once it is known that the call will be made.
fn make_out(out: Option<&std::path::Path>) -> Result<(), Refusal> {
    let Some(out) = out else { return Ok(()) };
    std::fs::create_dir_all(out).map_err(|error| {
        Refusal::new(Reason::Usage, format!("--out {}: {error}", out.display())).hint("name a folder that can be made")
    })
}

/// The attempts of one call.
struct Execution<'a> {
    runner: &'a Runner,
    launcher: &'a Launcher,
    request: &'a Request,
    call_id: &'a str,
    span: &'a TraceContext,
    cancel: watch::Receiver<bool>,
}

impl Execution<'_> {
    async fn run(&self, resolved: &Resolved) -> (Vec<Outcome>, Verdict) {
        let call = &resolved.call;
        let deadline = self.request.accepted + Duration::from_millis(call.limits.wall_ms);
        let mut attempts = Vec::new();
        loop {
            let trace_env = self.span.child().variables();
            let attempt = Attempt {
                call,
                sensitive: &resolved.sensitive,
                call_id: self.call_id,
                trace_env: &trace_env,
                deadline,
                cancel: self.cancel.clone(),
                out: self.request.out.clone(),
            };
            attempts.push(attempt::run(self.launcher, &self.runner.host, &attempt).await);
            let count = attempts.len();
            let outcome = &mut attempts[count - 1];
            let verdict = classify(call, outcome);
            let pause = pause(call, &verdict, count, deadline);
            if pause.is_some() {
                forget(outcome);
            }
            match pause {
                // A call that is cancelled meanwhile ends in the next attempt, before anything starts.
                Some(pause) => self.wait(pause).await,
                None => return (attempts, verdict),
            }
        }
    }

    async fn wait(&self, pause: Duration) {
        let mut cancel = self.cancel.clone();
        tokio::select! {
            biased;
            Ok(_) = cancel.wait_for(|cancelled| *cancelled) => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Drops what only the last attempt gives: streams, which may be large, and files, whose names the next needs.
fn forget(outcome: &mut Outcome) {
    outcome.stdout.kept = crate::text::Text::default();
    for file in std::mem::take(&mut outcome.files) {
        if let Some(path) = file.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// How long to wait before the next attempt; None: there is none. Only retryable channel failures of idempotent
/// capabilities are tried again, and only where the pause still leaves time.
fn pause(call: &Call, verdict: &Verdict, attempts: usize, deadline: Instant) -> Option<Duration> {
    let retry = call.contract.retry.as_ref().filter(|_| call.contract.idempotent)?;
    let error = verdict.error.as_ref().filter(|error| error.retryable)?;
    if verdict.status != Status::ChannelFailure || attempts > retry.max as usize {
        return None;
    }
    let doublings = u32::try_from(attempts - 1).unwrap_or(u32::MAX).min(30);
    let backoff = retry.backoff_ms.saturating_mul(1 << doublings).min(retry.max_backoff_ms);
    // Jitter: many callers that failed together must not come back together.
    let jittered = backoff / 2 + uuid::Uuid::new_v4().as_u128() as u64 % (backoff / 2 + 1);
    let pause = Duration::from_millis(jittered.max(error.retry_after_ms.unwrap_or(0)));
    (Instant::now() + pause < deadline).then_some(pause)
}
