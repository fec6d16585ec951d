//! `profile why`.

use super::args::Why;
use super::table::{row, table};
use super::{print, read};
use crate::profile::why::{Caller, Rule, Sandbox, Verdict, host, path, syscall};
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::resolve::{Context, View, view};
use crate::runner::Runner;
use serde_json::{Value, json};
use std::path::Path;

/// The version of the answer.
const SCHEMA: &str = "toolcell.profile-why/1";

pub fn why(args: &Why, runner: &Runner) -> Result<u8, Refusal> {
    let (chain, profile) = read(&args.profile, runner)?;
    let view = lay_out(profile, args, runner)?;
    let caller = caller(runner);
    let sandbox = Sandbox {
        chain: &chain,
        profile: &view.profile,
        mounts: &view.mounts,
        landlock: view.landlock.as_ref(),
        seccomp: view.seccomp.as_ref(),
        namespaces: &view.namespaces,
        caller: &caller,
    };
    let (kind, verdicts) = answer(&sandbox, &args.what)?;
    let document = |verdicts: &[Verdict]| -> Value {
        json!({"schema": SCHEMA, "profile": args.profile, "kind": kind, "asked": args.what, "verdicts": verdicts})
    };
    Ok(print(&if args.json { document(&verdicts).to_string() } else { text(&verdicts) }))
}

/// The sandbox as `exec` would make it from here. The folder at /work matters only where it is asked about.
fn lay_out(profile: crate::profile::Profile, args: &Why, runner: &Runner) -> Result<View, Refusal> {
    let env = |name: &str| std::env::var_os(name);
    let ctx = Context {
        config: &runner.config,
        host: &runner.host,
        cwd: &runner.cwd,
        bin_dir: &runner.bin_dir,
        env: &env,
        patience: None,
    };
    let folder = args.workspace.as_deref().unwrap_or(&runner.cwd);
    match view(profile.clone(), Some(folder), &ctx) {
        Err(refusal) if refusal.reason == Reason::Usage && args.workspace.is_none() && !at_work(&args.what) => {
            view(profile, None, &ctx)
        }
        made => made,
    }
}

fn at_work(asked: &str) -> bool {
    Path::new(asked).starts_with("/work")
}

fn caller(runner: &Runner) -> Caller {
    let mut groups = vec![runner.host.gid];
    groups.extend(nix::unistd::getgroups().unwrap_or_default().into_iter().map(nix::unistd::Gid::as_raw));
    Caller { uid: runner.host.uid, groups }
}

fn answer(sandbox: &Sandbox<'_>, asked: &str) -> Result<(&'static str, Vec<Verdict>), Refusal> {
    if Path::new(asked).is_absolute() {
        return Ok(("path", path(sandbox, Path::new(asked))));
    }
    if let Some(verdict) = host(sandbox, asked) {
        return Ok(("host", vec![verdict]));
    }
    if let Some(verdict) = syscall(sandbox, asked) {
        return Ok(("syscall", vec![verdict]));
    }
    let message = format!("`{asked}` is no absolute path, no HOST:PORT and no system call of this machine");
    Err(Refusal::new(Reason::Usage, message)
        .hint("name a path as it stands inside, such as /usr/bin; a host, such as api.example.com:443; or a call, such as mount"))
}

fn text(verdicts: &[Verdict]) -> String {
    let mut rows = Vec::new();
    for verdict in verdicts {
        let word = match verdict.allowed {
            Some(true) => "yes",
            Some(false) => "no",
            None => "depends",
        };
        let by = verdict.by.iter().map(words);
        let stops =
            verdict.stopped_by.iter().map(|stop| format!("{}: {}{}", stop.layer, stop.why, source(stop.by.as_ref())));
        let notes = verdict.note.clone();
        for (index, reason) in by.chain(stops).chain(notes).enumerate() {
            match index {
                0 => rows.push([verdict.access.to_owned(), word.to_owned(), reason]),
                _ => rows.push([String::new(), String::new(), reason]),
            }
        }
    }
    rows.insert(0, row(["access", "allowed", "why"]));
    table(&rows)
}

fn words(rule: &Rule) -> String {
    format!("{}{}", rule.rule, file(rule))
}

fn source(rule: Option<&Rule>) -> String {
    rule.map_or(String::new(), |rule| format!(", by {}", words(rule)))
}

fn file(rule: &Rule) -> String {
    rule.from.as_ref().map_or(String::new(), |from| format!(" ({})", from.file))
}
