//! `profile show`.

use super::args::Show;
use super::table::{row, table};
use super::{print, read};
use crate::profile::{Chain, Origin, PathRule, Profile, Section};
use crate::refusal::Refusal;
use crate::runner::Runner;
use serde_json::{Map, Value, json};

/// The version of the document.
const SCHEMA: &str = "toolcell.profile/1";

pub fn show(args: &Show, runner: &Runner) -> Result<u8, Refusal> {
    let (chain, profile) = read(&args.profile, runner)?;
    let text = if args.json { document(&chain, &profile).to_string() } else { text(&chain, &profile) };
    Ok(print(&text))
}

fn limits(profile: &Profile) -> Map<String, Value> {
    match serde_json::to_value(&profile.limits) {
        Ok(Value::Object(limits)) => limits,
        _ => Map::new(),
    }
}

fn document(chain: &Chain, profile: &Profile) -> Value {
    let paths = |section: Section| -> Vec<Value> {
        let one = |rule: &PathRule| {
            json!({"path": rule.path.display().to_string(), "why": rule.why, "optional": rule.optional,
                   "from": chain.of_path(section, &rule.path)})
        };
        section.rules(profile).iter().map(one).collect()
    };
    let deny = profile.deny_syscalls.iter().map(|name| json!({"name": name, "from": chain.of_syscall(name)}));
    let devices = profile.devices.iter().map(|path| json!({"path": path, "from": chain.of_device(path)}));
    let limits = limits(profile).into_iter().map(|(key, value)| {
        let from = chain.of_limit(&key);
        (key, json!({"value": value, "from": from}))
    });
    let require = profile.require.iter().map(|(layer, need)| {
        let one = json!({"need": need, "from": chain.of_layer(*layer)});
        (layer.name().to_owned(), one)
    });
    json!({
        "schema": SCHEMA, "name": profile.name, "why": profile.why, "builtin": profile.builtin,
        "chain": chain.origins(),
        "filesystem": {"read": paths(Section::Read), "write": paths(Section::Write), "exec": paths(Section::Exec)},
        "network": {"mode": profile.network, "from": chain.of_network(),
                    "allow": profile.allow_hosts, "allow_from": chain.of_hosts().filter(|_| !profile.allow_hosts.is_empty())},
        "syscalls": {"deny": deny.collect::<Vec<_>>()},
        "devices": {"allow": devices.collect::<Vec<_>>()},
        "limits": limits.collect::<Map<_, _>>(),
        "require": require.collect::<Map<_, _>>(),
        "loosens": profile.loosened,
    })
}

fn text(chain: &Chain, profile: &Profile) -> String {
    let mut text = format!("{}: {}\n", profile.name, profile.why);
    for (depth, origin) in chain.origins().into_iter().enumerate() {
        let word = if depth == 0 { "from" } else { "extends" };
        text += &match origin.file.starts_with("built-in") {
            true => format!("{word} the {}\n", origin.file),
            false => format!("{word} {}, {}\n", origin.profile, origin.file),
        };
    }
    let mut rows = vec![row(["rule", "value", "from"])];
    let mut add = |rule: String, value: String, from: Option<Origin>| {
        rows.push([rule, value, from.map_or_else(|| "-".to_owned(), |from| from.profile)]);
    };
    for section in Section::ALL {
        for rule in section.rules(profile) {
            add(section.name().to_owned(), rule.path.display().to_string(), chain.of_path(section, &rule.path));
        }
    }
    add("network.mode".to_owned(), profile.network.to_string(), chain.of_network());
    for host in &profile.allow_hosts {
        add("network.allow".to_owned(), host.clone(), chain.of_hosts());
    }
    for name in &profile.deny_syscalls {
        add("syscalls.deny".to_owned(), name.clone(), chain.of_syscall(name));
    }
    for device in &profile.devices {
        add("devices.allow".to_owned(), device.clone(), chain.of_device(device));
    }
    for (key, value) in limits(profile) {
        let from = chain.of_limit(&key);
        add(format!("limits.{key}"), value.as_str().map_or_else(|| value.to_string(), str::to_owned), from);
    }
    for (layer, need) in &profile.require {
        let need = serde_json::to_value(need).unwrap_or_default();
        add(format!("require.{layer}"), need.as_str().unwrap_or_default().to_owned(), chain.of_layer(*layer));
    }
    text += &format!("\n{}", table(&rows));
    for loosened in &profile.loosened {
        text += &format!("\nloosens: {loosened}");
    }
    text
}
