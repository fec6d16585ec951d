//! What is wrong with a profile that reads well.

use super::{NetworkMode, PathRule, Profile};
use crate::layer::{Layer, Need};
use std::path::{Component, Path};

/// Every problem of a profile, in words: paths that are not absolute, lead upward, stand twice, have no reason, or are
/// writable and executable at once; system calls that `known` does not know; hosts that are not HOST:PORT.
pub fn problems(profile: &Profile, known: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    if profile.why.trim().is_empty() {
        found.push("the profile has no why".into());
    }
    for (kind, rules) in [("read", &profile.read), ("write", &profile.write), ("exec", &profile.exec)] {
        paths(kind, rules, &mut found);
    }
    for write in &profile.write {
        for exec in &profile.exec {
            both(&write.path, &exec.path, &mut found);
        }
    }
    for (index, device) in profile.devices.iter().enumerate() {
        let path = Path::new(device);
        path_form("device", path, &mut found);
        if path.is_absolute() && !path.starts_with("/dev") {
            found.push(format!("device `{device}` is not below /dev"));
        }
        if profile.devices[..index].contains(device) {
            found.push(format!("device `{device}` is named twice"));
        }
    }
    let unknown = profile.deny_syscalls.iter().filter(|name| !known(name));
    found.extend(unknown.map(|name| format!("unknown system call `{name}`")));
    let bad = profile.allow_hosts.iter().filter(|host| !is_host(host));
    found
        .extend(bad.map(|host| format!("`{host}` is not HOST:PORT, such as api.example.com:443 or *.example.org:443")));
    found.extend(network_contradiction(profile));
    for (layer, need) in &profile.require {
        if *need == Need::BestEffort && !OPTIONAL.contains(layer) && !Layer::WITH_NAMESPACES.contains(layer) {
            found.push(format!(
                "require.{layer} cannot be best_effort: it is made or the call cannot start; write required or off"
            ));
        }
    }
    found.extend(namespaces_apart(profile));
    let missing = profile.limits.missing();
    found.extend(missing.into_iter().map(|key| format!("limits.{key} is not set")));
    found
}

/// Layers that a call can start without having them, though it asked.
const OPTIONAL: [Layer; 4] = [Layer::Proc, Layer::Cgroup, Layer::Landlock, Layer::Rlimits];

/// Namespaces, root and /proc are made together: a profile can do without all of them or without none.
fn namespaces_apart(profile: &Profile) -> Option<String> {
    let need = |layer: &Layer| profile.require.get(layer).copied().unwrap_or(Need::Off);
    // /proc may be missing alone, and a profile with the host's network has no namespace for it.
    let together = Layer::WITH_NAMESPACES.iter().filter(|layer| **layer != Layer::Proc && need(layer) != Need::Off);
    let (dispensable, needed): (Vec<&Layer>, Vec<&Layer>) = together.partition(|layer| need(layer) == Need::BestEffort);
    let (first, other) = (dispensable.first()?, needed.first()?);
    Some(format!(
        "require.{first} is best_effort and require.{other} is required: namespaces and root come together or not at all"
    ))
}

/// The mode and the layer say the same thing twice, and must not say two things.
fn network_contradiction(profile: &Profile) -> Option<String> {
    let own = profile.require.get(&Layer::NetNs).is_some_and(|need| *need != Need::Off);
    match (profile.network, own) {
        (NetworkMode::None, false) => {
            Some("network.mode is none, but require.net_ns is off, which gives the host's network".into())
        }
        (NetworkMode::Host, true) => {
            Some("network.mode is host, but require.net_ns is not off, which gives a network of its own".into())
        }
        _ => None,
    }
}

fn paths(kind: &str, rules: &[PathRule], found: &mut Vec<String>) {
    for (index, rule) in rules.iter().enumerate() {
        let shown = rule.path.display();
        path_form(kind, &rule.path, found);
        if rules[..index].iter().any(|earlier| earlier.path == rule.path) {
            found.push(format!("{kind} `{shown}` is named twice"));
        }
        if rule.why.trim().is_empty() {
            found.push(format!("{kind} `{shown}` has no why"));
        }
    }
}

fn path_form(kind: &str, path: &Path, found: &mut Vec<String>) {
    let shown = path.display();
    if !path.is_absolute() {
        found.push(format!("{kind} `{shown}` is not an absolute path"));
    }
    if path.components().any(|part| part == Component::ParentDir) {
        found.push(format!("{kind} `{shown}` contains `..`"));
    }
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        found.push(format!("{kind} `{shown}` contains a NUL"));
    }
}

/// Rules hold for everything beneath them, so it is enough that one path holds the other.
fn both(write: &Path, exec: &Path, found: &mut Vec<String>) {
    let inner = match (write.starts_with(exec), exec.starts_with(write)) {
        (true, _) => write,
        (_, true) => exec,
        _ => return,
    };
    found.push(format!(
        "`{}` is writable and executable at once (write `{}`, exec `{}`)",
        inner.display(),
        write.display(),
        exec.display()
    ));
}

/// `name:port` or `*.name:port`; an address of version 6 stands in brackets.
pub(super) fn is_host(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let port_digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    if !port_digits || !port.parse::<u16>().is_ok_and(|number| number > 0) {
        return false;
    }
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    let name = host.strip_prefix("*.").unwrap_or(host);
    let label = |part: &str| {
        !part.is_empty()
            && part.len() <= 63
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    name.len() <= 253 && name.split('.').all(label)
}
