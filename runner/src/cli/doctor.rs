//! `doctor`, first form: what this host enforces, found out by real calls.

use super::args::{Common, Doctor};
use super::{Started, machinery, runner, say};
use crate::call::StdoutKind;
use crate::cell::client::Launcher;
use crate::envelope::Envelope;
use crate::layer::{Layer, LayerState};
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::resolve::Tighten;
use crate::runner::{Identity, Request, Runner, What};
use crate::start_failure;
use serde_json::{Value, json};
use std::time::Instant;
use tokio::sync::watch;
use toolcell_tool::Status;

/// The profile whose working decides the exit code.
const DEFAULT: &str = "strict";

pub fn doctor(args: &Doctor, common: &Common, seed: Started) -> u8 {
    let examined = runner(common).and_then(|runner| {
        let envelopes = examine(&runner, seed)?;
        Ok((runner, envelopes))
    });
    let (runner, envelopes) = match examined {
        Ok(examined) => examined,
        Err(refusal) => return say::refused(&refusal),
    };
    let works = envelopes.iter().any(|(name, envelope)| *name == DEFAULT && envelope.status == Status::Ok);
    let text =
        if args.json { format!("{}\n", report(&runner, &envelopes, works)) } else { table(&runner, &envelopes, works) };
    match say::out(text.as_bytes()) {
        0 if !works => 69,
        code => code,
    }
}

/// One real call under each profile that needs no folder and no grant.
fn examine(runner: &Runner, seed: Started) -> Result<Vec<(&'static str, Envelope)>, Refusal> {
    let internal = |message: String| Refusal::new(Reason::Internal, message);
    let (seed, runtime) = machinery(seed)?;
    runtime.block_on(async {
        let launcher = Launcher::new(seed).map_err(start_failure::refusal)?;
        let mut envelopes = Vec::new();
        for profile in [DEFAULT, "standard"] {
            let (_cancel, cancelled) = watch::channel(false);
            let request = Request {
                what: What::Command {
                    argv: vec!["toolcell".into(), "--version".into()],
                    stdin: None,
                    stdout: StdoutKind::Text,
                },
                tighten: Tighten { profile: Some(profile.to_owned()), ..Tighten::default() },
                identity: Identity::default(),
                out: None,
                accepted: Instant::now(),
                patience: None,
            };
            // From a folder of its own: the caller's may be one that exec refuses.
            let scratch = crate::scratch::empty_folder().map_err(|error| internal(error.to_string()))?;
            // Nothing is in it, and a file system that cannot map owners must not shut the tool out.
            let open = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
            std::fs::set_permissions(scratch.path(), open).map_err(|error| internal(error.to_string()))?;
            let runner = Runner {
                config: runner.config.clone(),
                host: runner.host.clone(),
                cwd: scratch.path().to_path_buf(),
                bin_dir: runner.bin_dir.clone(),
            };
            envelopes.push((profile, runner.call(&launcher, request, None, cancelled).await));
        }
        Ok(envelopes)
    })
}

fn report(runner: &Runner, envelopes: &[(&'static str, Envelope)], works: bool) -> Value {
    let profiles: serde_json::Map<String, Value> = envelopes
        .iter()
        .map(|(name, envelope)| {
            let one = json!({
                "status": envelope.status, "level": envelope.sandbox.level, "layers": envelope.sandbox.layers,
                "error": envelope.error, "warnings": envelope.warnings,
            });
            ((*name).to_owned(), one)
        })
        .collect();
    json!({
        "works": works,
        "host": {"uid": runner.host.uid, "landlock_abi": runner.host.landlock_abi,
                 "cgroup": match &runner.host.cgroup { Ok(place) => json!(place.bases()), Err(why) => json!({"missing": why, "hint": start_failure::mend(Layer::Cgroup)}) }},
        "profiles": profiles,
    })
}

fn table(runner: &Runner, envelopes: &[(&'static str, Envelope)], works: bool) -> String {
    let mut text = format!("{:<14}", "layer");
    for (name, _) in envelopes {
        text += &format!("{name:<12}");
    }
    text += "\n";
    for layer in Layer::ALL {
        text += &format!("{:<14}", layer.name());
        for (_, envelope) in envelopes {
            let state = match envelope.sandbox.layers.get(&layer) {
                Some(LayerState::Enforced) => "enforced",
                Some(LayerState::Degraded) => "degraded",
                Some(LayerState::Missing) => "missing",
                Some(LayerState::Off) => "off",
                None => "-",
            };
            text += &format!("{state:<12}");
        }
        text += "\n";
    }
    text += &format!("{:<14}", "level");
    for (_, envelope) in envelopes {
        let level = envelope.sandbox.level.map_or("none".to_owned(), |level| level.to_string());
        text += &format!("{level:<12}");
    }
    text += &format!("\n\nLandlock ABI {}\n", runner.host.landlock_abi);
    for (name, envelope) in envelopes {
        if let Some(error) = &envelope.error {
            text += &format!("{name}: {}\n", error.message);
            text += &error.hint.as_ref().map_or(String::new(), |hint| format!("  hint: {hint}\n"));
        }
        for warning in &envelope.warnings {
            text += &format!("{name}: {}\n", warning.message);
        }
    }
    if envelopes.iter().any(|(_, one)| one.sandbox.layers.get(&Layer::Cgroup) == Some(&LayerState::Missing)) {
        text += &format!("hint: {}\n", start_failure::mend(Layer::Cgroup));
    }
    text += if works {
        "A call under the default profile works here.\n"
    } else {
        "No call under the default profile works here.\n"
    };
    text
}
