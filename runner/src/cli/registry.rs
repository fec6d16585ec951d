//! `list` and `show`.

use super::args::{Common, List, Show};
use super::{runner, say};
use crate::human;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::registry::Registry;
use serde_json::{Value, json};

pub fn list(args: &List, common: &Common) -> u8 {
    let runner = match runner(common) {
        Ok(runner) => runner,
        Err(refusal) => return say::refused(&refusal),
    };
    if runner.config.registries.is_empty() {
        let error = crate::resolve::unknown(crate::registry::RegistryError::NoRegistry, &runner.config);
        return say::refused(&error);
    }
    let (mut capabilities, mut errors, mut unread) = (Vec::new(), Vec::new(), None);
    for listed in Registry::new(runner.config.registries.clone()).list() {
        match listed.capability {
            Ok(loaded) => {
                let one = &loaded.value;
                capabilities.push(json!({
                    "id": one.id, "version": one.version.to_string(), "title": one.title,
                    "description": one.description, "provides": one.provides, "supplier": one.supplier,
                    "tags": one.tags, "dir": listed.dir.display().to_string(),
                }));
            }
            Err(error) => {
                if listed.dir == listed.root {
                    unread.get_or_insert_with(|| crate::resolve::unread(error.clone(), &runner.config));
                }
                errors.push(
                    json!({"dir": listed.dir.display().to_string(), "message": error.to_string(), "hint": error.hint}),
                );
            }
        }
    }
    let broken = errors.len();
    let code = print(&json!({"capabilities": capabilities, "errors": errors}), args.pretty);
    if let Some(refusal) = unread {
        // A whole registry is missing: what is listed is not what there is.
        return say::refused(&refusal);
    }
    if broken > 0 {
        let folders = human::count(broken as u64, "folder", "folders");
        let hold = if broken == 1 { "holds" } else { "hold" };
        say::warn(&format!("{folders} {hold} no valid capability; see `errors`"));
    }
    code
}

pub fn show(args: &Show, common: &Common) -> u8 {
    let shown = runner(common).and_then(|runner| {
        let registry = Registry::new(runner.config.registries.clone());
        let found = registry.find(&args.capability).map_err(|error| crate::resolve::unknown(error, &runner.config))?;
        let read = |path: &std::path::Path| {
            std::fs::read_to_string(path)
                .map_err(|error| Refusal::new(Reason::InvalidContract, format!("{}: {error}", path.display())))
        };
        let contract: Value = serde_json::from_str(&read(&found.capability.path)?)
            .map_err(|error| Refusal::new(Reason::InvalidContract, error.to_string()))?;
        let tool: toml::Value = toml::from_str(&read(&found.tool.path)?)
            .map_err(|error| Refusal::new(Reason::InvalidContract, error.to_string()))?;
        Ok(json!({
            "dir": found.dir.display().to_string(), "contract_sha256": found.capability.sha256,
            "capability": contract, "tool": tool,
        }))
    });
    match shown {
        Ok(value) => print(&value, args.pretty),
        Err(refusal) => say::refused(&refusal),
    }
}

fn print(value: &Value, pretty: bool) -> u8 {
    let text = if pretty { format!("{value:#}") } else { value.to_string() };
    say::out(format!("{text}\n").as_bytes())
}
