//! `profile list`.

use super::args::List;
use super::table::{row, table};
use super::{print, read};
use crate::cli::say;
use crate::human;
use crate::profile::names;
use crate::refusal::Refusal;
use crate::resolve::harmless;
use crate::runner::Runner;
use serde_json::{Value, json};

/// The version of the list.
const SCHEMA: &str = "toolcell.profiles/1";

/// One profile of the list.
struct Listed {
    why: String,
    builtin: bool,
    /// The names from the profile's parent down.
    extends: Vec<String>,
    file: String,
    loosened: Vec<String>,
    exec: bool,
}

pub fn list(args: &List, runner: &Runner) -> u8 {
    let names = names(runner.config.profiles_dir.as_deref());
    let all: Vec<(String, Result<Listed, Refusal>)> = names
        .into_iter()
        .map(|name| {
            let found = one(&name, runner);
            (name, found)
        })
        .collect();
    let code = print(&if args.json { document(&all).to_string() } else { text(&all) });
    let broken = all.iter().filter(|(_, found)| found.is_err()).count();
    if broken > 0 {
        let profiles = human::count(broken as u64, "profile is", "profiles are");
        say::warn(&format!("{profiles} broken; `toolcell profile lint` says how"));
    }
    code
}

fn one(name: &str, runner: &Runner) -> Result<Listed, Refusal> {
    let (chain, profile) = read(name, runner)?;
    let mut origins = chain.origins().into_iter();
    let file = origins.next().map(|own| own.file).unwrap_or_default();
    Ok(Listed {
        exec: harmless(&profile) || runner.config.profile_granted(None, None, name),
        why: profile.why,
        builtin: profile.builtin,
        extends: origins.map(|origin| origin.profile).collect(),
        file,
        loosened: profile.loosened,
    })
}

fn document(all: &[(String, Result<Listed, Refusal>)]) -> Value {
    let (mut profiles, mut errors) = (Vec::new(), Vec::new());
    for (name, found) in all {
        match found {
            Ok(one) => profiles.push(json!({
                "name": name, "why": one.why, "builtin": one.builtin, "extends": one.extends, "file": one.file,
                "loosens": one.loosened, "granted_to_exec": one.exec,
            })),
            Err(refusal) => errors.push(json!({"name": name, "message": refusal.message, "hint": refusal.hint})),
        }
    }
    json!({"schema": SCHEMA, "profiles": profiles, "errors": errors})
}

fn text(all: &[(String, Result<Listed, Refusal>)]) -> String {
    let mut rows = vec![row(["profile", "extends", "for exec", "why"])];
    for (name, found) in all {
        rows.push(match found {
            Ok(one) => {
                let extends = if one.extends.is_empty() { "-".to_owned() } else { one.extends.join(" > ") };
                [name.clone(), extends, if one.exec { "granted" } else { "not granted" }.to_owned(), one.why.clone()]
            }
            Err(refusal) => [name.clone(), "-".to_owned(), "broken".to_owned(), refusal.message.clone()],
        });
    }
    table(&rows)
}
