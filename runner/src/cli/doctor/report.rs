//! What doctor found, for programs and for people.

use super::{DEFAULT, Findings};
use crate::envelope::{Envelope, WarningCode};
use crate::layer::{Layer, LayerState};
use crate::start_failure::mend;
use serde_json::{Map, Value, json};

/// The version of the report.
const SCHEMA: &str = "toolcell.doctor/1";

/// One layer of this host.
struct Row {
    layer: Layer,
    state: Option<LayerState>,
    why: Option<String>,
}

impl Row {
    /// The way out, where something is lacking.
    fn mend(&self) -> Option<&'static str> {
        let lacking = matches!(self.state, Some(LayerState::Degraded | LayerState::Missing) | None);
        // What is made of namespaces is mended by namespaces.
        let of_namespaces = Layer::WITH_NAMESPACES.contains(&self.layer) && self.layer != Layer::Proc;
        lacking.then(|| mend(if of_namespaces { Layer::UserNs } else { self.layer }))
    }
}

fn rows(found: &Findings) -> Vec<Row> {
    let state = |layer: Layer| found.any.sandbox.layers.get(&layer).copied();
    Layer::ALL.into_iter().map(|layer| Row { layer, state: state(layer), why: why(&found.any, layer) }).collect()
}

/// What the envelope says of a layer that is less than whole.
fn why(envelope: &Envelope, layer: Layer) -> Option<String> {
    let of_layer = |details: &Value| {
        details["layer"] == layer.name()
            || details["layers"].as_array().is_some_and(|layers| layers.iter().any(|one| one == layer.name()))
    };
    let warnings = envelope.warnings.iter().filter(|warning| warning.code == WarningCode::LayerDegraded);
    let found = warnings.filter(|warning| of_layer(&warning.details)).find_map(|one| one.details["why"].as_str());
    found.map(str::to_owned)
}

pub fn json(found: &Findings) -> Value {
    let layers: Map<String, Value> = rows(found)
        .into_iter()
        .map(|row| (row.layer.name().to_owned(), json!({"state": row.state, "why": row.why, "mend": row.mend()})))
        .collect();
    let profiles: Map<String, Value> = found
        .calls
        .iter()
        .map(|(name, envelope)| {
            let one = json!({
                "status": envelope.status, "level": envelope.sandbox.level, "layers": envelope.sandbox.layers,
                "error": envelope.error, "warnings": envelope.warnings,
            });
            ((*name).to_owned(), one)
        })
        .collect();
    let host = &found.runner.host;
    json!({
        "schema": SCHEMA,
        "works": found.works(),
        "host": {"uid": host.uid, "landlock_abi": host.landlock_abi,
                 "cgroup": match &host.cgroup { Ok(place) => json!(place.bases()), Err(why) => json!({"missing": why}) }},
        "layers": layers,
        "profiles": profiles,
    })
}

pub fn table(found: &Findings) -> String {
    let mut text = format!("{:<14}{}\n", "layer", "state");
    for row in rows(found) {
        text += &format!("{:<14}{}\n", row.layer.name(), state(row.state));
    }
    text += &format!("\n{:<14}{}\n", "profile", "level");
    for (name, envelope) in &found.calls {
        let level = envelope.sandbox.level.map_or("none".to_owned(), |level| level.to_string());
        text += &format!("{name:<14}{level}\n");
    }
    text += &format!("\nLandlock ABI {}\n", found.runner.host.landlock_abi);
    text += &lacking(found);
    let failed = found.calls.iter().filter_map(|(name, envelope)| Some((name, envelope.error.as_ref()?)));
    for (name, error) in failed {
        text += &format!("{name}: {}\n", error.message);
        text += &error.hint.as_ref().map_or(String::new(), |hint| format!("  hint: {hint}\n"));
    }
    text += &match found.works() {
        true => format!("A call under the default profile, `{DEFAULT}`, works here.\n"),
        false => format!("No call under the default profile, `{DEFAULT}`, works here.\n"),
    };
    text
}

/// Each reason once, with the layers that lack for it and the way out.
fn lacking(found: &Findings) -> String {
    let mut reasons: Vec<(String, Option<&str>, Vec<&str>)> = Vec::new();
    for row in rows(found) {
        let Some(why) = row.why.clone() else { continue };
        match reasons.iter_mut().find(|(known, ..)| *known == why) {
            Some((_, _, layers)) => layers.push(row.layer.name()),
            None => reasons.push((why, row.mend(), vec![row.layer.name()])),
        }
    }
    let one = |(why, mend, layers): (String, Option<&str>, Vec<&str>)| {
        let mend = mend.map_or(String::new(), |mend| format!("  hint: {mend}\n"));
        format!("{}: {why}\n{mend}", layers.join(", "))
    };
    reasons.into_iter().map(one).collect()
}

fn state(state: Option<LayerState>) -> &'static str {
    match state {
        Some(LayerState::Enforced) => "enforced",
        Some(LayerState::Degraded) => "degraded",
        Some(LayerState::Missing) => "missing",
        Some(LayerState::Off) => "off",
        None => "-",
    }
}
