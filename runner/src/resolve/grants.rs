//! What is granted, what is demanded, and what is broken.

use super::{Context, is_on};
use crate::file_error::FileError;
use crate::layer::{Layer, Need};
use crate::profile::{NetworkMode, Profile};
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::registry::{Found, RegistryError};
use crate::resolve::Tighten;
use std::collections::BTreeMap;
use std::path::Path;

/// `chosen`: whether the caller named the profile, so that a name nobody knows is the caller's fault.
pub fn granted_profile(
    who: Option<(&str, &Path)>,
    name: &str,
    chosen: bool,
    ctx: &Context<'_>,
) -> Result<Profile, Refusal> {
    let folder = ctx.config.profiles_dir.as_deref();
    let profile = crate::profile::load(name, folder).map_err(|error| {
        let unheard = !crate::profile::names(folder).iter().any(|known| known == name);
        let refusal = broken(error);
        if chosen && unheard { Refusal { reason: Reason::Usage, ..refusal } } else { refusal }
    })?;
    let known = |name: &str| crate::cell::seccomp::number_of(name).is_some();
    if let Some(problem) =
        (!profile.builtin).then(|| crate::profile::problems(&profile, &known)).and_then(|all| all.into_iter().next())
    {
        let message = format!("the profile `{name}` is broken: {problem}");
        return Err(Refusal::new(Reason::InvalidContract, message)
            .hint("mend the file in the profiles folder of the configuration"));
    }
    let (id, registry) = (who.map(|(id, _)| id), who.map(|(_, registry)| registry));
    // A profile of the user's own that only tightens a safe one needs no grant.
    let harmless = !profile.builtin
        && profile.loosened.is_empty()
        && profile.network == NetworkMode::None
        && profile.write.is_empty()
        && is_on(&profile, Layer::NetNs)
        && is_on(&profile, Layer::Root);
    if !harmless && !ctx.config.profile_granted(id, registry, name) {
        let message = match id {
            Some(id) => format!("the profile `{name}` is not granted to `{id}`"),
            None => format!("the profile `{name}` is not granted to exec"),
        };
        let hint = format!("whoever owns this host adds to toolcell.toml: {}", ctx.config.explain_grant(id, name));
        return Err(Refusal::new(Reason::NotPermitted, message).hint(hint));
    }
    if profile.network == NetworkMode::Allow {
        let message = format!("the profile `{name}` names hosts, and this version has no egress proxy to keep to them");
        return Err(Refusal::new(Reason::SandboxUnavailable, message)
            .hint("use the profile `network`, which gives the host's network, or wait for the proxy"));
    }
    Ok(profile)
}

/// A file that the host's owner has to mend.
pub fn broken(error: FileError) -> Refusal {
    let reason = if error.shortage { Reason::StartFailed } else { Reason::InvalidContract };
    let refusal = Refusal::new(reason, error.to_string());
    let hint = error.hint.clone();
    let details = serde_json::json!({
        "file": error.file.display().to_string(), "line": error.line, "pointer": error.pointer
    });
    let refusal = refusal.with_details(details);
    match hint {
        Some(hint) => refusal.hint(hint),
        None => refusal,
    }
}

/// A capability that was not found.
pub fn unknown(error: crate::registry::RegistryError) -> Refusal {
    let error = match error {
        RegistryError::File(error) => return broken(error),
        error => error,
    };
    let reason = match &error {
        RegistryError::BadReference { .. } => Reason::Usage,
        RegistryError::Duplicate { .. } => Reason::InvalidContract,
        _ => Reason::UnknownCapability,
    };
    let refusal = Refusal::new(reason, error.to_string());
    match error.hint() {
        Some(hint) => refusal.hint(hint),
        None => refusal,
    }
}

/// What each layer's absence means, after the caller's flags.
pub fn requirements(profile: &Profile, tighten: &Tighten) -> BTreeMap<Layer, Need> {
    let mut require = profile.require.clone();
    demand(&mut require, tighten);
    require
}

/// Makes required what the caller demands.
pub fn demand(require: &mut BTreeMap<Layer, Need>, tighten: &Tighten) {
    for (layer, need) in require {
        // Level 3 means that nothing the profile asks for is missing.
        let whole = *need == Need::BestEffort && tighten.min_level >= 3;
        if whole || tighten.require.contains(layer) {
            *need = Need::Required;
        }
    }
}

/// A broken output schema is found before anything runs, not after.
pub fn check_output_schema(found: &Found) -> Result<(), Refusal> {
    let Some(schema) = &found.capability.value.output_schema else { return Ok(()) };
    match crate::validate::Validator::compile(schema) {
        Ok(_) => Ok(()),
        Err(error) => Err(broken(schema_error(&found.capability.path, "/output_schema", error))),
    }
}

/// Sensitive values that no pointer names could not be withheld from the Call.
pub fn check_secrets(found: &Found) -> Result<(), Refusal> {
    if !crate::validate::secrets_escape(&found.capability.value.input_schema) {
        return Ok(());
    }
    let message = "a sensitive property stands in a part of the schema that contains itself, and cannot be withheld";
    let error = FileError::new(&found.capability.path, message).at("/input_schema");
    Err(broken(error.hint("mark sensitive properties only where their depth is fixed")))
}

/// A schema's error as one of the file it stands in.
pub fn schema_error(file: &Path, at: &str, error: crate::validate::SchemaError) -> FileError {
    let pointer = format!("{at}{}", error.pointer);
    let shaped = FileError::new(file, error.message).at(pointer);
    match error.hint {
        Some(hint) => shaped.hint(hint),
        None => shaped,
    }
}
