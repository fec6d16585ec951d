//! Hosts: what the network mode gives.

use super::{Rule, Sandbox, Stop, Verdict};
use crate::layer::Layer;
use crate::profile::NetworkMode;
use crate::profile::problems::is_host;

/// Whether a connection to HOST:PORT may be made. None: it is not one.
pub fn host(sandbox: &Sandbox<'_>, text: &str) -> Option<Verdict> {
    let (name, _) = text.rsplit_once(':').filter(|_| is_host(text) && !text.starts_with('*'))?;
    let rule = Rule { rule: format!("network.mode {}", sandbox.profile.network), from: sandbox.chain.of_network() };
    let stop =
        |layer, why: &str| Verdict::stopped("connect", vec![Stop { by: Some(rule.clone()), ..Stop::new(layer, why) }]);
    if sandbox.seccomp.is_some_and(|section| section.families.is_empty()) {
        return Some(stop("seccomp", "without a network namespace no socket can be made"));
    }
    Some(match (sandbox.profile.network, sandbox.asks_for(Layer::NetNs)) {
        (NetworkMode::Host, _) | (_, false) => Verdict::allowed("connect", rule),
        (_, true) if is_loopback(name) => Verdict {
            by: Some(rule),
            ..Verdict::depends("connect", "loopback is the call's own: only what the tool itself listens on answers")
        },
        (_, true) => stop("net_ns", "the call has no interface but a loopback of its own"),
    })
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    // The names are those of the /etc/hosts that is made up.
    ["localhost", "toolcell"].contains(&name)
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
