//! `doctor`: what this host enforces and what it lacks, found out by real calls.

mod report;

use super::args::{Common, Doctor};
use super::{Started, machinery, runner, say};
use crate::call::StdoutKind;
use crate::cell::client::Launcher;
use crate::config::Grant;
use crate::envelope::Envelope;
use crate::layer::Layer;
use crate::profile::BUILT_IN;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::resolve::Tighten;
use crate::runner::{Identity, Request, Runner, What};
use crate::start_failure;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;
use tokio::sync::watch;
use toolcell_tool::Status;

/// The profile whose working decides the exit code.
const DEFAULT: &str = "strict";
/// A profile of doctor's own that can do without every layer, so that a call shows all of what there is.
const ANY: &str = "any";

/// What was found.
struct Findings {
    /// The runner that the command line asks for.
    runner: Runner,
    /// The call that can do without everything.
    any: Envelope,
    /// One call under each built-in profile, by name.
    calls: Vec<(&'static str, Envelope)>,
}

impl Findings {
    /// Whether calls under the default profile work.
    fn works(&self) -> bool {
        self.calls.iter().any(|(name, envelope)| *name == DEFAULT && envelope.status == Status::Ok)
    }
}

pub fn doctor(args: &Doctor, common: &Common, seed: Started) -> u8 {
    let found = match runner(common).and_then(|runner| examine(runner, seed)) {
        Ok(found) => found,
        Err(refusal) => return say::refused(&refusal),
    };
    let text = if args.json { format!("{}\n", report::json(&found)) } else { report::table(&found) };
    match say::out(text.as_bytes()) {
        0 if !found.works() => 69,
        code => code,
    }
}

/// Makes every call, from a folder of its own: the caller's may be one that exec refuses.
fn examine(runner: Runner, seed: Started) -> Result<Findings, Refusal> {
    let internal = |error: &dyn std::fmt::Display| Refusal::new(Reason::Internal, error.to_string());
    let (seed, runtime) = machinery(seed)?;
    let folder = crate::scratch::empty_folder().map_err(|error| internal(&error))?;
    let work = prepare(folder.path()).map_err(|error| internal(&error))?;
    let config = allowing(&runner, folder.path());
    // Who asks may have mended something.
    let _ = runner.host.namespaces.again();
    let doctor = Runner { config, host: runner.host.clone(), cwd: work.clone(), bin_dir: runner.bin_dir.clone() };
    runtime.block_on(async {
        let launcher = Launcher::new(seed).map_err(start_failure::refusal)?;
        let any = call(&doctor, &launcher, ANY, &work).await;
        let mut calls = Vec::new();
        for (profile, _) in BUILT_IN {
            calls.push((profile, call(&doctor, &launcher, profile, &work).await));
        }
        Ok(Findings { runner, any, calls })
    })
}

/// The profile and the working folder below `folder`.
fn prepare(folder: &Path) -> std::io::Result<std::path::PathBuf> {
    let (profiles, work) = (folder.join("profiles"), folder.join("work"));
    std::fs::create_dir(&profiles)?;
    std::fs::create_dir(&work)?;
    // Nothing is in it, and a file system that cannot map owners must not shut the tool out.
    for path in [folder, &work] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    let optional = Layer::WITH_NAMESPACES.iter().copied().chain([Layer::Cgroup, Layer::Landlock, Layer::Rlimits]);
    let require: String = optional.map(|layer| format!("{layer} = \"best_effort\"\n")).collect();
    let text = format!("schema = 1\nextends = \"standard\"\nwhy = \"shows what there is\"\n[require]\n{require}");
    std::fs::write(profiles.join(format!("{ANY}.toml")), text)?;
    Ok(work)
}

/// The configuration, with every profile granted: doctor asks what the host gives, not what is granted.
fn allowing(runner: &Runner, folder: &Path) -> crate::config::Config {
    let profiles = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).chain([ANY.to_owned()]).collect();
    let grant = Grant { capability: None, exec: true, profiles, env: Vec::new() };
    let profiles_dir = Some(folder.join("profiles"));
    crate::config::Config { grants: vec![grant], profiles_dir, ..runner.config.clone() }
}

async fn call(runner: &Runner, launcher: &Launcher, profile: &str, work: &Path) -> Envelope {
    let (_cancel, cancelled) = watch::channel(false);
    let workspace = (profile == "workspace").then(|| work.to_path_buf());
    let request = Request {
        what: What::Command {
            argv: vec!["toolcell".into(), "--version".into()],
            stdin: None,
            stdout: StdoutKind::Text,
        },
        tighten: Tighten { profile: Some(profile.to_owned()), workspace, ..Tighten::default() },
        identity: Identity::default(),
        out: None,
        accepted: Instant::now(),
        patience: None,
    };
    runner.call(launcher, request, None, cancelled).await
}
