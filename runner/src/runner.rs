//! The runner: prepare, execute, observe. The only place that knows the whole path of a call; every front is a thin
//! layer on [`Runner::call`].

use crate::Answered;
use crate::call::{Call, StdoutKind};
use crate::cell::client::Launcher;
use crate::config::Config;
use crate::envelope::{CapabilityName, Envelope, RecordState, Warning, WarningCode};
use crate::event::EventSink;
use crate::execution::Execution;
use crate::host::Host;
use crate::layer::{Layer, Need};
use crate::outcome::{Outcome, StartFailureKind};
use crate::patience::Patience;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::resolve::{self, Context, ExecRequest, Input, Resolved, Tighten};
use crate::trace::TraceContext;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;
use tokio::sync::watch;

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
    /// Who watches over the preparation, which reads files: [`Runner::call`] itself cannot be cut short there.
    pub patience: Option<Patience>,
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

impl What {
    /// Lets go of the bytes that came in.
    fn forget_input(&mut self) {
        match self {
            What::Capability { input, .. } => input.bytes = None,
            What::Command { stdin, .. } => *stdin = None,
            What::Planned(bytes) => *bytes = Vec::new(),
        }
    }
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
        let ctx = self.context(&env, None);
        let found = match what {
            What::Capability { reference, .. } => {
                Some(Registry::new(self.config.registries.clone()).find(reference).ok()?)
            }
            What::Command { .. } | What::Planned(_) => None,
        };
        resolve::wall_ms(found.as_ref(), tighten, &ctx)
    }

    fn context<'a>(&'a self, env: &'a dyn Fn(&str) -> Option<OsString>, patience: Option<&'a Patience>) -> Context<'a> {
        let Self { config, host, cwd, bin_dir } = self;
        Context { config, host, cwd, bin_dir, env, patience }
    }

    fn resolve(&self, request: &Request) -> Result<Resolved, Stopped> {
        let env = |name: &str| std::env::var_os(name);
        let ctx = self.context(&env, request.patience.as_ref());
        let registry = Registry::new(self.config.registries.clone());
        match &request.what {
            What::Capability { reference, input } => {
                let found = registry.find(reference).map_err(|error| resolve::unknown(error, &self.config))?;
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

    /// Answers a request: one envelope on every path. `events` is shown the items of a `jsonl` tool as they come;
    /// `cancel` turning true ends the call.
    pub async fn call(
        &self,
        launcher: &Launcher,
        mut request: Request,
        events: Option<EventSink>,
        cancel: watch::Receiver<bool>,
    ) -> Envelope {
        let named = Named::new(&request.identity, request.accepted);
        let prepared = check_out(request.out.as_deref()).map_err(Stopped::from).and_then(|()| self.resolve(&request));
        let mut resolved = match prepared {
            Ok(resolved) => resolved,
            Err(stopped) => return named.refused(stopped),
        };
        if let Err(refusal) = make_out(request.out.as_deref()) {
            return named.refused(refusal.into());
        }
        // Where a trial has said that the host gives namespaces, the call itself may find out otherwise.
        let dispensable = can_do_without(&resolved.call);
        if !dispensable {
            // The Call holds what it needs of it; an input may be large.
            request.what.forget_input();
        }
        if !request.patience.as_ref().is_none_or(Patience::prepared) {
            // Whoever watches has answered, and ends this process.
            std::future::pending::<()>().await;
        }
        let execution = Execution {
            launcher,
            host: &self.host,
            accepted: request.accepted,
            call_id: &named.call_id,
            span: &named.span,
            events,
            out: request.out.as_deref(),
            cancel,
        };
        let (mut attempts, mut verdict) = execution.run(&resolved).await;
        // A layer of this call's may be missing for many reasons: only a fresh trial proves that namespaces are.
        if dispensable && attempts.last().is_some_and(no_sandbox) && self.host.namespaces.again().is_err() {
            match self.resolve(&request) {
                Ok(again) => resolved = again,
                Err(stopped) => return named.refused(stopped),
            }
            (attempts, verdict) = execution.run(&resolved).await;
        }
        Envelope::answered(Answered {
            call_id: named.call_id.clone(),
            call: &resolved.call,
            attempts: &attempts,
            verdict,
            wall_ms: elapsed_ms(request.accepted),
            trace: named.span.ids(),
            record: RecordState { stored: false, replay: None },
            warnings: named.warnings,
        })
    }
}

/// Whether a call asks for namespaces and a root of its own, and can do without.
fn can_do_without(call: &Call) -> bool {
    call.mounts.private_root && call.require.get(&Layer::Root) == Some(&Need::BestEffort)
}

/// Whether the sandbox could not be made.
fn no_sandbox(outcome: &Outcome) -> bool {
    outcome.failure.as_ref().is_some_and(|failure| failure.kind == StartFailureKind::Sandbox)
}

/// Who a call is, from its first moment to its envelope.
struct Named {
    call_id: String,
    accepted: Instant,
    span: TraceContext,
    warnings: Vec<Warning>,
}

impl Named {
    fn new(identity: &Identity, accepted: Instant) -> Self {
        let (span, warnings) = span(identity.parent.as_ref());
        Self { call_id: identity.id(), accepted, span, warnings }
    }

    /// The envelope of a call that was stopped.
    fn refused(self, stopped: Stopped) -> Envelope {
        let Stopped { capability, refusal } = stopped;
        let mut envelope = Envelope::refused(self.call_id, capability, &refusal, self.span.ids());
        envelope.usage.wall_ms = elapsed_ms(self.accepted);
        envelope.warnings.extend(self.warnings);
        envelope
    }
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The envelope of a request that was stopped before there was a runner to ask, under the caller's own id and trace.
pub fn refuse(identity: &Identity, accepted: Instant, refusal: &Refusal) -> Envelope {
    Named::new(identity, accepted).refused(refusal.clone().into())
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
        Err(error) => Err(usage(format!("--out {}: {error}", out.display())).hint("name a new folder")),
    }
}

/// Makes the folder for files, once it is known that the call will be made.
fn make_out(out: Option<&std::path::Path>) -> Result<(), Refusal> {
    let Some(out) = out else { return Ok(()) };
    std::fs::create_dir_all(out).map_err(|error| {
        Refusal::new(Reason::Usage, format!("--out {}: {error}", out.display())).hint("name a folder that can be made")
    })
}
