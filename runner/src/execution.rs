//! The attempts of one call: one after the other, inside the one deadline.

use crate::attempt::{self, Attempt};
use crate::call::Call;
use crate::cell::client::Launcher;
use crate::classify::{Verdict, classify};
use crate::event::EventSink;
use crate::host::Host;
use crate::outcome::Outcome;
use crate::resolve::Resolved;
use crate::trace::TraceContext;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use toolcell_tool::Status;

/// The attempts of one call.
pub struct Execution<'a> {
    /// Who starts the processes.
    pub launcher: &'a Launcher,
    /// Facts of the host.
    pub host: &'a Host,
    /// When the request was accepted; the deadline counts from here.
    pub accepted: Instant,
    /// The call's id.
    pub call_id: &'a str,
    /// The call's span.
    pub span: &'a TraceContext,
    /// Where items go while the call runs.
    pub events: Option<EventSink>,
    /// Where collected files go.
    pub out: Option<&'a Path>,
    /// Turns true when the caller cancels.
    pub cancel: watch::Receiver<bool>,
}

impl Execution<'_> {
    /// Every outcome, and the verdict on the last.
    pub async fn run(&self, resolved: &Resolved) -> (Vec<Outcome>, Verdict) {
        let call = &resolved.call;
        let deadline = self.accepted + Duration::from_millis(call.limits.wall_ms);
        let mut attempts = Vec::new();
        loop {
            let trace_env = self.span.child().variables();
            let attempt = Attempt {
                call,
                sensitive: &resolved.sensitive,
                call_id: self.call_id,
                number: u32::try_from(attempts.len() + 1).unwrap_or(u32::MAX),
                events: self.events.as_ref(),
                trace_env: &trace_env,
                deadline,
                cancel: self.cancel.clone(),
                out: self.out.map(Path::to_path_buf),
            };
            attempts.push(attempt::run(self.launcher, self.host, &attempt).await);
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
