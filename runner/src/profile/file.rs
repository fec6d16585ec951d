//! The file format of profiles, and how a child is merged into its parent.

use super::Profile;
use super::chain::Link;
use crate::file_error::{FileError, schema_one};
use crate::layer::{Layer, Need};
use crate::limits_spec::LimitsSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A profile as it is written.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileFile {
    /// The format's version: 1.
    #[serde(deserialize_with = "schema_one")]
    pub schema: u64,
    /// The profile it starts from; only built-ins have none.
    #[serde(default)]
    pub extends: Option<String>,
    /// What it is for.
    pub why: String,
    /// Paths, beside the parent's.
    #[serde(default)]
    pub filesystem: FilesystemSection,
    /// The network; what is left out is the parent's.
    #[serde(default)]
    pub network: NetworkSection,
    /// System calls.
    #[serde(default)]
    pub syscalls: SyscallsSection,
    /// Devices.
    #[serde(default)]
    pub devices: DevicesSection,
    /// Limits; what is left out is the parent's.
    #[serde(default)]
    pub limits: LimitsSpec,
    /// What the absence of a layer means; what is left out is the parent's.
    #[serde(default)]
    pub require: BTreeMap<Layer, Need>,
}

/// A path with the reason it is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathRule {
    /// An absolute path: a file, or a folder with everything beneath it.
    pub path: PathBuf,
    /// What it is needed for.
    pub why: String,
    /// Whether a host without it is no surprise; else the warning profile_path_missing says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// The paths of a profile.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FilesystemSection {
    /// Shown read-only.
    pub read: Vec<PathRule>,
    /// Writable.
    pub write: Vec<PathRule>,
    /// Executable.
    pub exec: Vec<PathRule>,
}

/// Which network the tool has, from the tightest to the loosest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetworkMode {
    /// Loopback of its own only.
    #[default]
    None,
    /// The hosts that are named.
    Allow,
    /// The host's network.
    Host,
}

impl std::fmt::Display for NetworkMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NetworkMode::None => "none",
            NetworkMode::Allow => "allow",
            NetworkMode::Host => "host",
        })
    }
}

/// The network of a profile.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkSection {
    /// Which network.
    pub mode: Option<NetworkMode>,
    /// The hosts of mode `allow`, as HOST:PORT; they replace the parent's.
    pub allow: Option<Vec<String>>,
}

/// The system calls of a profile.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SyscallsSection {
    /// Denied beyond the built-in list and the parent's.
    pub deny: Vec<String>,
}

/// The devices of a profile.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DevicesSection {
    /// Allowed, beside the parent's.
    pub allow: Vec<String>,
}

/// The child's file merged into its parent; without a parent, on top of nothing.
pub(super) fn merge(parent: Option<Profile>, link: &Link) -> Result<Profile, FileError> {
    let raw = &link.raw;
    let parent = parent.unwrap_or_else(nothing);
    let (network, allow_hosts) = network(&parent, link)?;
    let mut deny_syscalls = parent.deny_syscalls;
    deny_syscalls.extend(raw.syscalls.deny.iter().cloned());
    deny_syscalls.sort();
    deny_syscalls.dedup();
    let mut require = parent.require;
    require.extend(&raw.require);
    Ok(Profile {
        name: link.name.clone(),
        why: raw.why.clone(),
        read: added(parent.read, &raw.filesystem.read, |rule| &rule.path),
        write: added(parent.write, &raw.filesystem.write, |rule| &rule.path),
        exec: added(parent.exec, &raw.filesystem.exec, |rule| &rule.path),
        network,
        allow_hosts,
        deny_syscalls,
        devices: added(parent.devices, &raw.devices.allow, |device| device),
        limits: parent.limits.replaced_by(&raw.limits),
        require,
        loosened: Vec::new(),
        builtin: link.builtin,
        lacking: Vec::new(),
    })
}

fn nothing() -> Profile {
    Profile {
        name: String::new(),
        why: String::new(),
        read: Vec::new(),
        write: Vec::new(),
        exec: Vec::new(),
        network: NetworkMode::None,
        allow_hosts: Vec::new(),
        deny_syscalls: Vec::new(),
        devices: Vec::new(),
        limits: LimitsSpec::default(),
        require: Layer::ALL.into_iter().map(|layer| (layer, Need::Required)).collect(),
        loosened: Vec::new(),
        builtin: false,
        lacking: Vec::new(),
    }
}

/// The parent's entries, then the child's that it does not have. What a child names twice stays twice, for the lint.
fn added<T: Clone, K: PartialEq + ?Sized>(mut parent: Vec<T>, child: &[T], key: impl Fn(&T) -> &K) -> Vec<T> {
    let known = parent.len();
    for entry in child {
        if !parent[..known].iter().any(|old| key(old) == key(entry)) {
            parent.push(entry.clone());
        }
    }
    parent
}

fn network(parent: &Profile, link: &Link) -> Result<(NetworkMode, Vec<String>), FileError> {
    let section = &link.raw.network;
    let mode = section.mode.unwrap_or(parent.network);
    let named = section.allow.as_ref();
    if mode != NetworkMode::Allow {
        return match named {
            Some(hosts) if !hosts.is_empty() => {
                Err(FileError::new(&link.file, format!("hosts are named, but the network mode is `{mode}`"))
                    .at("/network/allow")
                    .hint("write `mode = \"allow\"`, or remove the hosts"))
            }
            _ => Ok((mode, Vec::new())),
        };
    }
    let hosts = named.unwrap_or(&parent.allow_hosts);
    if hosts.is_empty() {
        return Err(FileError::new(&link.file, "the network mode is `allow`, but no host is named")
            .at("/network/allow")
            .hint("add `allow = [\"api.example.com:443\"]`, or write `mode = \"none\"`"));
    }
    Ok((mode, hosts.clone()))
}

/// In words, what the child allows beyond the parent.
pub(super) fn loosened(child: &Profile, parent: &Profile) -> Vec<String> {
    let mut found = Vec::new();
    let kinds = [
        ("read", &child.read, &parent.read),
        ("write", &child.write, &parent.write),
        ("exec", &child.exec, &parent.exec),
    ];
    for (kind, own, theirs) in kinds {
        let new = own.iter().filter(|rule| !theirs.iter().any(|old| old.path == rule.path));
        found.extend(new.map(|rule| format!("filesystem.{kind} has {} too", rule.path.display())));
    }
    if child.network > parent.network {
        found.push(format!("network.mode is {} instead of {}", child.network, parent.network));
    }
    if parent.network != NetworkMode::Host {
        let new = child.allow_hosts.iter().filter(|host| !parent.allow_hosts.contains(host));
        found.extend(new.map(|host| format!("network.allow has {host} too")));
    }
    let new = child.devices.iter().filter(|device| !parent.devices.contains(device));
    found.extend(new.map(|device| format!("devices.allow has {device} too")));
    let larger = child.limits.loosened_against(&parent.limits);
    found.extend(larger.into_iter().map(|key| format!("limits.{key} is larger than in {}", parent.name)));
    for (layer, need) in &child.require {
        let theirs = parent.require.get(layer).copied().unwrap_or(Need::Required);
        if *need < theirs {
            found.push(format!("require.{layer} is {} instead of {}", need_name(*need), need_name(theirs)));
        }
    }
    found
}

fn need_name(need: Need) -> &'static str {
    match need {
        Need::Off => "off",
        Need::BestEffort => "best_effort",
        Need::Required => "required",
    }
}
