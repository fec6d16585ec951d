//! What a profile allows, and by which rule. The answers are read off the very sections that a Call would have, so that
//! what is said is what is enforced.

mod access;
mod filter;
mod net;
mod place;
mod syscall;
mod who;

pub use access::path;
pub use net::host;
pub use syscall::syscall;
pub use who::Caller;

use super::{Chain, Origin, Profile};
use crate::call::{Landlock, Mounts, Namespaces, Seccomp};
use crate::layer::{Layer, Need};
use serde::Serialize;

/// A profile with the sandbox it makes here.
pub struct Sandbox<'a> {
    /// The files of the profile.
    pub chain: &'a Chain,
    /// The profile.
    pub profile: &'a Profile,
    /// Its view of the file system.
    pub mounts: &'a Mounts,
    /// Its Landlock domain, where there is one.
    pub landlock: Option<&'a Landlock>,
    /// Its system call filter, where there is one.
    pub seccomp: Option<&'a Seccomp>,
    /// Its namespaces and the tool's identity.
    pub namespaces: &'a Namespaces,
    /// Who calls.
    pub caller: &'a Caller,
}

/// Whether one thing is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What would be done: `read`, `write`, `execute`, `connect`, `call`.
    pub access: &'static str,
    /// Whether it is; null where it depends on what `note` says.
    pub allowed: Option<bool>,
    /// The rule that allows it.
    pub by: Option<Rule>,
    /// What stops it, each by itself.
    pub stopped_by: Vec<Stop>,
    /// What else there is to know.
    pub note: Option<String>,
}

/// A rule, and which file named it; none where it is toolcell's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The rule.
    pub rule: String,
    /// Its file.
    pub from: Option<Origin>,
}

/// One thing that stops an access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// The layer, or `host` for what the host itself would refuse.
    pub layer: &'static str,
    /// The fact.
    pub why: String,
    /// The rule behind it, where it is one of the profile's.
    pub by: Option<Rule>,
}

impl Stop {
    fn new(layer: &'static str, why: impl Into<String>) -> Self {
        Self { layer, why: why.into(), by: None }
    }
}

impl Verdict {
    fn allowed(access: &'static str, by: Rule) -> Self {
        Self { access, allowed: Some(true), by: Some(by), stopped_by: Vec::new(), note: None }
    }

    fn stopped(access: &'static str, stopped_by: Vec<Stop>) -> Self {
        Self { access, allowed: Some(false), by: None, stopped_by, note: None }
    }

    fn depends(access: &'static str, note: impl Into<String>) -> Self {
        Self { access, allowed: None, by: None, stopped_by: Vec::new(), note: Some(note.into()) }
    }
}

impl Sandbox<'_> {
    fn asks_for(&self, layer: Layer) -> bool {
        !self.profile.lacking.contains(&layer)
            && self.profile.require.get(&layer).is_some_and(|need| *need != Need::Off)
    }

    /// The rule by which a layer is off, or why it is not there.
    fn without(&self, layer: Layer) -> Rule {
        match self.profile.require.get(&layer) {
            Some(Need::Off) | None => Rule { rule: format!("require.{layer} off"), from: self.chain.of_layer(layer) },
            Some(_) => Rule {
                rule: format!("require.{layer} best_effort, and this host does not give it"),
                from: self.chain.of_layer(layer),
            },
        }
    }
}
