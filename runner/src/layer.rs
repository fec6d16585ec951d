//! The layers of the sandbox, and what was made of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One layer of the sandbox (DESIGN: section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// User namespace.
    UserNs,
    /// Mount namespace.
    MountNs,
    /// Pid namespace, with an init.
    PidNs,
    /// Network namespace.
    NetNs,
    /// IPC namespace.
    IpcNs,
    /// Host name namespace.
    UtsNs,
    /// Cgroup namespace.
    CgroupNs,
    /// Private root.
    Root,
    /// A proc of the call's own.
    Proc,
    /// Limits by control group.
    Cgroup,
    /// Limits by process.
    Rlimits,
    /// No capabilities.
    Capabilities,
    /// No gain of privilege by exec.
    NoNewPrivs,
    /// Own session, no inherited descriptors, an environment built from nothing.
    Session,
    /// Landlock domain.
    Landlock,
    /// System call filter.
    Seccomp,
}

impl Layer {
    /// What is made of namespaces, or inside them: all of it is to be had, or none. (/proc may also be missing alone.)
    pub const WITH_NAMESPACES: &'static [Layer] = Self::ALL.split_at(9).0;

    /// Every layer, in the order they are reported.
    pub const ALL: [Layer; 16] = [
        Layer::UserNs,
        Layer::MountNs,
        Layer::PidNs,
        Layer::NetNs,
        Layer::IpcNs,
        Layer::UtsNs,
        Layer::CgroupNs,
        Layer::Root,
        Layer::Proc,
        Layer::Cgroup,
        Layer::Rlimits,
        Layer::Capabilities,
        Layer::NoNewPrivs,
        Layer::Session,
        Layer::Landlock,
        Layer::Seccomp,
    ];

    /// The name used in profiles, envelopes and flags.
    pub fn name(self) -> &'static str {
        match self {
            Layer::UserNs => "user_ns",
            Layer::MountNs => "mount_ns",
            Layer::PidNs => "pid_ns",
            Layer::NetNs => "net_ns",
            Layer::IpcNs => "ipc_ns",
            Layer::UtsNs => "uts_ns",
            Layer::CgroupNs => "cgroup_ns",
            Layer::Root => "root",
            Layer::Proc => "proc",
            Layer::Cgroup => "cgroup",
            Layer::Rlimits => "rlimits",
            Layer::Capabilities => "capabilities",
            Layer::NoNewPrivs => "no_new_privs",
            Layer::Session => "session",
            Layer::Landlock => "landlock",
            Layer::Seccomp => "seccomp",
        }
    }

    /// The layer of that name.
    pub fn by_name(name: &str) -> Option<Layer> {
        Self::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

impl std::fmt::Display for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a layer's absence means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// The profile does not ask for it.
    Off,
    /// Used where it is to be had; the envelope says where it was not.
    BestEffort,
    /// Without it nothing runs.
    Required,
}

/// What was made of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LayerState {
    /// In force, whole.
    Enforced,
    /// In force in part.
    Degraded,
    /// Asked for and not to be had.
    Missing,
    /// Not asked for.
    Off,
}

/// A layer's state with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayerReport {
    /// What was made of it.
    pub state: LayerState,
    /// Why it is not whole; null when it is, or is not asked for.
    #[serde(default)]
    pub why: Option<String>,
}

impl LayerReport {
    /// In force, whole.
    pub fn enforced() -> Self {
        Self { state: LayerState::Enforced, why: None }
    }

    /// Not asked for.
    pub fn off() -> Self {
        Self { state: LayerState::Off, why: None }
    }

    /// In force in part.
    pub fn degraded(why: impl Into<String>) -> Self {
        Self { state: LayerState::Degraded, why: Some(why.into()) }
    }

    /// Asked for and not to be had.
    pub fn missing(why: impl Into<String>) -> Self {
        Self { state: LayerState::Missing, why: Some(why.into()) }
    }
}

/// The report on every layer.
pub type Layers = BTreeMap<Layer, LayerReport>;

/// The level the layers amount to: 3 every layer that is asked for; 2 proc or cgroup or Landlock less than whole;
/// 1 no private root, pid or net namespace where one is asked for; 0 not even Landlock and seccomp.
pub fn level(layers: &Layers) -> u8 {
    let whole = |layer: Layer| {
        layers.get(&layer).is_none_or(|report| matches!(report.state, LayerState::Enforced | LayerState::Off))
    };
    let on = |layer: Layer| layers.get(&layer).is_some_and(|report| report.state == LayerState::Enforced);
    if !on(Layer::Seccomp) && !on(Layer::Landlock) && !on(Layer::Root) {
        return 0;
    }
    if Layer::ALL.into_iter().all(whole) {
        return if on(Layer::Root) && on(Layer::PidNs) { 3 } else { 1 };
    }
    let weaker = [Layer::Proc, Layer::Cgroup, Layer::Landlock, Layer::Rlimits, Layer::CgroupNs];
    if Layer::ALL.into_iter().filter(|layer| !weaker.contains(layer)).all(whole) && on(Layer::Root) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(state: fn() -> LayerReport) -> Layers {
        Layer::ALL.into_iter().map(|layer| (layer, state())).collect()
    }

    #[test]
    fn names_are_the_serialised_names() {
        for layer in Layer::ALL {
            assert_eq!(serde_json::to_value(layer).unwrap(), layer.name());
            assert_eq!(Layer::by_name(layer.name()), Some(layer));
        }
    }

    #[test]
    fn a_missing_proc_is_level_two_and_a_missing_root_level_one() {
        let mut layers = all(LayerReport::enforced);
        assert_eq!(level(&layers), 3);
        layers.insert(Layer::Proc, LayerReport::missing("masked"));
        assert_eq!(level(&layers), 2);
        layers.insert(Layer::Root, LayerReport::missing("no mounts"));
        assert_eq!(level(&layers), 1);
    }

    #[test]
    fn limits_alone_are_level_zero() {
        let mut layers = all(LayerReport::off);
        layers.insert(Layer::Rlimits, LayerReport::enforced());
        assert_eq!(level(&layers), 0);
    }
}
