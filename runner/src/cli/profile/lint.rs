//! `profile lint`.

use super::args::Lint;
use super::{print, read};
use crate::cell::seccomp::{DENIED, number_of};
use crate::human;
use crate::profile::{Calls, Finding, lint as findings, names};
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::runner::Runner;
use serde_json::{Value, json};

/// The version of the report.
const SCHEMA: &str = "toolcell.profile-lint/1";

/// The exit code where something was found: a file of the host's has to be mended.
const FOUND: u8 = 69;

pub fn lint(args: &Lint, runner: &Runner) -> Result<u8, Refusal> {
    let names = match &args.profile {
        Some(name) => vec![name.clone()],
        None => names(runner.config.profiles_dir.as_deref()),
    };
    let mut all = Vec::new();
    for name in names {
        let found = examine(&name, runner)?;
        all.push((name, found));
    }
    let text = if args.json { document(&all).to_string() } else { text(&all) };
    Ok(match print(&text) {
        0 if all.iter().any(|(_, found)| !found.is_empty()) => FOUND,
        code => code,
    })
}

/// What is wrong with one profile; a file that cannot be read is a finding too.
fn examine(name: &str, runner: &Runner) -> Result<Vec<Finding>, Refusal> {
    match read(name, runner) {
        Ok((chain, profile)) => {
            let calls = Calls { known: &|name| number_of(name).is_some(), denied: &denied };
            Ok(findings(&chain, &profile, &calls))
        }
        Err(refusal) if refusal.reason == Reason::InvalidContract => Ok(vec![Finding {
            rule: None,
            from: None,
            message: refusal.message,
            hint: refusal.hint.unwrap_or_else(|| "mend the file".to_owned()),
            stops: true,
        }]),
        Err(refusal) => Err(refusal),
    }
}

fn denied(name: &str) -> Option<&'static str> {
    DENIED.iter().find(|group| group.calls.contains(&name)).map(|group| group.why)
}

fn document(all: &[(String, Vec<Finding>)]) -> Value {
    let profiles = all.iter().map(|(name, found)| json!({"name": name, "findings": found}));
    json!({
        "schema": SCHEMA,
        "clean": all.iter().all(|(_, found)| found.is_empty()),
        "profiles": profiles.collect::<Vec<_>>(),
    })
}

fn text(all: &[(String, Vec<Finding>)]) -> String {
    let mut text = String::new();
    for (name, found) in all {
        if found.is_empty() {
            text += &format!("{name}: nothing found\n");
            continue;
        }
        text += &format!("{name}: {}\n", human::count(found.len() as u64, "finding", "findings"));
        for finding in found {
            let rule = finding.rule.as_ref().map_or(String::new(), |rule| format!("{rule} "));
            let file = finding.from.as_ref().map_or(String::new(), |from| format!(" ({})", from.file));
            let stops = if finding.stops { "; calls are refused" } else { "" };
            text += &format!("  {rule}{}{stops}{file}\n    to mend it: {}\n", finding.message, finding.hint);
        }
    }
    text
}
