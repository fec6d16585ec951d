//! What is wrong with a profile on this host, beyond what stops it everywhere.

use super::chain::{Chain, Link, Section};
use super::{NetworkMode, Origin, PathRule, Profile, problems};
use crate::layer::{Layer, Need};
use serde::Serialize;
use std::path::Path;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule, by its place in the file; null where it is the file as a whole.
    pub rule: Option<String>,
    /// Which file says so.
    pub from: Option<Origin>,
    /// The fact.
    pub message: String,
    /// The way out.
    pub hint: String,
    /// Whether calls under the profile are refused for it.
    pub stops: bool,
}

/// Folders inside that are the tool's own: a rule there would be covered.
pub const OWN: [&str; 7] = ["/tmp", "/home/tool", "/dev/shm", "/work", "/in", "/tool", "/proc"];

/// What is known of system calls: whether there is one of that name, and why the filter refuses it in every profile.
pub struct Calls<'a> {
    /// Whether a system call has that name.
    pub known: &'a dyn Fn(&str) -> bool,
    /// Why the built-in list refuses it, where it does.
    pub denied: &'a dyn Fn(&str) -> Option<&'static str>,
}

/// Every finding about a profile: first what stops it, then what is not as it seems.
pub fn lint(chain: &Chain, profile: &Profile, calls: &Calls<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for problem in problems(profile, calls.known) {
        found.push(Finding {
            rule: None,
            from: chain.origins().into_iter().next(),
            message: problem,
            hint: "mend the file, or the profile that it extends".to_owned(),
            stops: !profile.builtin,
        });
    }
    for section in Section::ALL {
        for rule in section.rules(profile) {
            let at = |(message, hint, stops): Fact| Finding {
                rule: Some(format!("{} {}", section.name(), rule.path.display())),
                from: chain.of_path(section, &rule.path),
                message,
                hint: hint.to_owned(),
                stops,
            };
            found.extend(missing(section, rule).map(at));
            found.extend(covered(profile, rule).map(at));
            found.extend(beneath_writable(profile, section, rule).map(at));
        }
    }
    found.extend(devices(chain, profile));
    found.extend(idle(chain, profile));
    found.extend(chain.links().iter().rev().enumerate().flat_map(|(depth, _)| repeated(chain, depth, calls)));
    if profile.network == NetworkMode::Allow {
        found.push(Finding {
            rule: Some("network.mode allow".to_owned()),
            from: chain.of_network(),
            message: "this version has no egress proxy to keep to the hosts that are named".to_owned(),
            hint: "extend the profile `network`, which gives the host's network, or wait for the proxy".to_owned(),
            stops: true,
        });
    }
    found
}

/// A fact, the way out, and whether it stops calls.
type Fact = (String, &'static str, bool);

fn asked(profile: &Profile, layer: Layer) -> bool {
    profile.require.get(&layer).is_some_and(|need| *need != Need::Off)
}

/// A path that is not there. What is only read may be declared optional.
fn missing(section: Section, rule: &PathRule) -> Option<Fact> {
    if OWN.iter().any(|own| rule.path.starts_with(own)) || (rule.optional && section == Section::Read) {
        return None;
    }
    let error = std::fs::canonicalize(&rule.path).err()?;
    let link = std::fs::symlink_metadata(&rule.path).is_ok_and(|data| data.is_symlink());
    let stops = section == Section::Write;
    let glob = rule.path.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?'));
    let (message, hint) = match error.kind() {
        std::io::ErrorKind::NotFound if glob => (
            "does not exist; `*` and `?` stand for themselves".to_owned(),
            "name the folder: a rule holds for everything beneath",
        ),
        std::io::ErrorKind::NotFound if link => {
            ("is a link that leads nowhere".to_owned(), "mend the link, or remove the rule")
        }
        std::io::ErrorKind::NotFound if section == Section::Read => {
            ("does not exist on this host".to_owned(), "correct the path, remove the rule, or say `optional = true`")
        }
        std::io::ErrorKind::NotFound => {
            ("does not exist on this host".to_owned(), "make it, correct the path, or remove the rule")
        }
        _ => (format!("cannot be looked at: {error}"), "make it reachable for the user who calls toolcell"),
    };
    Some((message, hint, stops))
}

/// A path below a folder that inside is the tool's own.
fn covered(profile: &Profile, rule: &PathRule) -> Option<Fact> {
    let own = OWN.iter().find(|own| rule.path.starts_with(own)).filter(|_| rule.path != Path::new("/work"))?;
    let message = format!("inside, {own} is the tool's own, which covers it");
    asked(profile, Layer::Root).then_some((message, "name a path outside of it, or bind the folder elsewhere", true))
}

/// Rights add up on the way down, in Landlock as in mounts: a narrower rule below a wider one takes nothing away.
fn beneath_writable(profile: &Profile, section: Section, rule: &PathRule) -> Option<Fact> {
    if section != Section::Read {
        return None;
    }
    let wider = profile.write.iter().find(|write| rule.path.starts_with(&write.path))?;
    let message = format!(
        "is writable all the same, by filesystem.write {}: Landlock cannot take away below what it gives above",
        wider.path.display()
    );
    Some((message, "remove the rule, or let the writable one begin further down", false))
}

fn devices(chain: &Chain, profile: &Profile) -> Vec<Finding> {
    let missing = profile.devices.iter().filter(|device| !Path::new(device).exists());
    let one = |device: &String| Finding {
        rule: Some(format!("devices.allow {device}")),
        from: chain.of_device(device),
        message: "does not exist on this host".to_owned(),
        hint: "correct the path, or remove the rule".to_owned(),
        stops: false,
    };
    missing.map(one).collect()
}

/// Rules whose layer is off, so that nothing holds anybody to them.
fn idle(chain: &Chain, profile: &Profile) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |rule: &str, layers: &str, from: Option<Origin>| {
        found.push(Finding {
            rule: Some(rule.to_owned()),
            from,
            message: format!("holds nobody to anything: {layers} off"),
            hint: "remove the rule, or ask for the layer under [require]".to_owned(),
            stops: false,
        });
    };
    if !asked(profile, Layer::Root) && !asked(profile, Layer::Landlock) {
        for section in Section::ALL {
            for rule in section.rules(profile) {
                let name = format!("{} {}", section.name(), rule.path.display());
                add(&name, "require.root and require.landlock are", chain.of_path(section, &rule.path));
            }
        }
    }
    if !asked(profile, Layer::Seccomp) {
        for name in &profile.deny_syscalls {
            add(&format!("syscalls.deny {name}"), "require.seccomp is", chain.of_syscall(name));
        }
    }
    if !asked(profile, Layer::Root) {
        for device in &profile.devices {
            add(&format!("devices.allow {device}"), "require.root is", chain.of_device(device));
        }
    }
    found
}

/// What one file of the chain names again that it, an earlier one or the built-in list has named. `depth`: from the
/// ground.
fn repeated(chain: &Chain, depth: usize, calls: &Calls<'_>) -> Vec<Finding> {
    let links: Vec<&Link> = chain.links().iter().rev().collect();
    let (link, earlier) = (links[depth], &links[..depth]);
    let mut found = Vec::new();
    let mut add = |rule: String, message: String| {
        found.push(Finding {
            rule: Some(rule),
            from: Some(super::chain::origin(link)),
            message,
            hint: "remove it here".to_owned(),
            stops: false,
        });
    };
    for section in Section::ALL {
        for rule in section.of(&link.raw) {
            let before = earlier.iter().find(|one| section.of(&one.raw).iter().any(|old| old.path == rule.path));
            if let Some(before) = before {
                let name = format!("{} {}", section.name(), rule.path.display());
                add(name, format!("is named by {} already, whose words stand", before.name));
            }
        }
    }
    for (index, name) in link.raw.syscalls.deny.iter().enumerate() {
        let before = earlier.iter().find(|one| one.raw.syscalls.deny.contains(name));
        let rule = format!("syscalls.deny {name}");
        if link.raw.syscalls.deny[..index].contains(name) {
            add(rule, "is named twice".to_owned());
        } else if let Some(before) = before {
            add(rule, format!("is denied by {} already", before.name));
        } else if let Some(why) = (calls.denied)(name) {
            add(rule, format!("is denied in every profile: {why}"));
        }
    }
    for device in &link.raw.devices.allow {
        if let Some(before) = earlier.iter().find(|one| one.raw.devices.allow.contains(device)) {
            add(format!("devices.allow {device}"), format!("is allowed by {} already", before.name));
        }
    }
    found
}
