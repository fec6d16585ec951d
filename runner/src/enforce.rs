//! What of a Call's sandbox this host can be expected to enforce, and whether that is enough. The set-up itself
//! corrects it where it finds less.

use crate::call::Call;
use crate::host::Host;
use crate::layer::{Layer, LayerReport, LayerState, Layers, Need, level};
use crate::outcome::StartFailure;
use crate::start_failure::{below, sandbox};

/// The expected state of every layer.
///
/// # Errors
/// The first required layer that is not to be had.
pub fn expected(call: &Call, host: &Host) -> Result<Layers, StartFailure> {
    let mut layers = Layers::new();
    for layer in Layer::ALL {
        let need = call.require.get(&layer).copied().unwrap_or(Need::Off);
        let report = match asked(call, layer) {
            true => state(call, host, layer),
            false if Layer::WITH_NAMESPACES.contains(&layer) && !call.mounts.private_root && need != Need::Off => {
                LayerReport::missing(host.namespaces.get().err().unwrap_or_else(|| "not in this Call".to_owned()))
            }
            false => LayerReport::off(),
        };
        if need == Need::Required && !sufficient(call, host, layer, &report) {
            return Err(sandbox(layer, report.why.unwrap_or_else(|| "this profile does not make it".to_owned())));
        }
        layers.insert(layer, report);
    }
    let reached = level(&layers);
    if reached < call.min_level {
        let why = format!(
            "level {} is asked for, and the profile `{}` reaches level {reached} here",
            call.min_level, call.profile
        );
        return Err(below(why));
    }
    Ok(layers)
}

/// Whether the Call makes use of a layer.
fn asked(call: &Call, layer: Layer) -> bool {
    let ns = &call.namespaces;
    match layer {
        Layer::UserNs => ns.user,
        Layer::MountNs => ns.mount,
        Layer::PidNs => ns.pid,
        Layer::NetNs => ns.net,
        Layer::IpcNs => ns.ipc,
        Layer::UtsNs => ns.uts,
        Layer::CgroupNs => ns.cgroup,
        Layer::Root => call.mounts.private_root,
        Layer::Proc => call.mounts.proc,
        Layer::Cgroup => call.require.get(&Layer::Cgroup).is_some_and(|need| *need != Need::Off),
        Layer::Rlimits | Layer::Session => true,
        Layer::Capabilities => call.require.get(&layer).is_some_and(|need| *need != Need::Off),
        Layer::NoNewPrivs => call.landlock.is_some() || call.seccomp.is_some(),
        Layer::Landlock => call.landlock.is_some(),
        Layer::Seccomp => call.seccomp.is_some(),
    }
}

fn state(call: &Call, host: &Host, layer: Layer) -> LayerReport {
    match layer {
        Layer::Landlock => landlock(call, host.landlock_abi),
        Layer::Rlimits if !host.core_limit_holds => {
            LayerReport::degraded("the core pattern is a socket, which no limit on core dumps holds back")
        }
        // Made, or found missing, by the attempt.
        _ => LayerReport::enforced(),
    }
}

/// A right of the domain that older kernels do not have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lack {
    Truncate,
    DeviceIoctl,
    AbstractSockets,
    Signals,
}

impl Lack {
    fn name(self) -> &'static str {
        match self {
            Lack::Truncate => "truncation",
            Lack::DeviceIoctl => "device ioctls",
            Lack::AbstractSockets => "abstract sockets",
            Lack::Signals => "signals",
        }
    }

    /// Whether another layer of this Call stops the same act.
    fn covered(self, call: &Call) -> bool {
        match self {
            // Read-only mounts, and a private /dev.
            Lack::Truncate | Lack::DeviceIoctl => call.mounts.private_root,
            Lack::AbstractSockets => call.namespaces.net,
            Lack::Signals => call.namespaces.pid,
        }
    }
}

/// What this ABI lacks of what the Call asks for (landlock(7)).
fn lacks(call: &Call, abi: u32) -> Vec<Lack> {
    let Some(section) = &call.landlock else { return Vec::new() };
    let all = [
        (Lack::Truncate, 3, true),
        (Lack::DeviceIoctl, 5, true),
        (Lack::AbstractSockets, 6, section.scope_abstract_sockets),
        (Lack::Signals, 6, section.scope_signals),
    ];
    all.into_iter().filter(|(_, since, asked)| abi < *since && *asked).map(|(lack, ..)| lack).collect()
}

fn landlock(call: &Call, abi: u32) -> LayerReport {
    if abi == 0 {
        return LayerReport::missing("this kernel has no Landlock, or it is switched off");
    }
    let names: Vec<&str> = lacks(call, abi).into_iter().map(Lack::name).collect();
    if names.is_empty() {
        return LayerReport::enforced();
    }
    LayerReport::degraded(format!("Landlock ABI {abi} does not cover {}", names.join(", ")))
}

/// Degraded is enough for a required layer only where another layer covers what is missing.
fn sufficient(call: &Call, host: &Host, layer: Layer, report: &LayerReport) -> bool {
    match (layer, report.state) {
        (_, LayerState::Enforced) => true,
        (Layer::Landlock, LayerState::Degraded) => lacks(call, host.landlock_abi).iter().all(|lack| lack.covered(call)),
        (Layer::Rlimits, LayerState::Degraded) => true,
        (_, LayerState::Degraded | LayerState::Missing | LayerState::Off) => false,
    }
}
