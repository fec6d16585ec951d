//! What is granted, what is demanded, and what is broken.

use super::{Context, is_on};
use crate::config::Config;
use crate::file_error::FileError;
use crate::host::Host;
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
    sound(&profile, folder)?;
    let (id, registry) = (who.map(|(id, _)| id), who.map(|(_, registry)| registry));
    if !harmless(&profile) && !ctx.config.profile_granted(id, registry, name) {
        let message = match id {
            Some(id) => format!("the profile `{name}` is not granted to `{id}`"),
            None => format!("the profile `{name}` is not granted to exec"),
        };
        let hint = format!("whoever owns this host adds to toolcell.toml: {}", ctx.config.explain_grant(id, name));
        return Err(Refusal::new(Reason::NotPermitted, message).hint(hint));
    }
    without_proxy(&profile)?;
    Ok(fitted(profile, ctx.host))
}

/// Refuses a profile that reads well and is broken.
pub(crate) fn sound(profile: &Profile, folder: Option<&Path>) -> Result<(), Refusal> {
    let known = |name: &str| crate::cell::seccomp::number_of(name).is_some();
    let problems = (!profile.builtin).then(|| crate::profile::problems(profile, &known));
    let Some(problem) = problems.and_then(|all| all.into_iter().next()) else { return Ok(()) };
    let name = &profile.name;
    let file = folder.unwrap_or(Path::new("profiles")).join(format!("{name}.toml"));
    let error = FileError::new(file, format!("the profile `{name}` is broken: {problem}"));
    Err(broken(error.hint("mend the file, or the profile that it extends")))
}

/// A profile of the user's own that only tightens a safe one needs no grant.
pub(crate) fn harmless(profile: &Profile) -> bool {
    !profile.builtin
        && profile.loosened.is_empty()
        && profile.network == NetworkMode::None
        && profile.write.is_empty()
        && is_on(profile, Layer::NetNs)
        && is_on(profile, Layer::Root)
}

/// Refuses a profile that names hosts.
pub(crate) fn without_proxy(profile: &Profile) -> Result<(), Refusal> {
    if profile.network == NetworkMode::Allow {
        let message =
            format!("the profile `{}` names hosts, and this version has no egress proxy to keep to them", profile.name);
        return Err(Refusal::new(Reason::SandboxUnavailable, message)
            .hint("use the profile `network`, which gives the host's network, or wait for the proxy"));
    }
    Ok(())
}

/// The profile without the layers that come with namespaces, where it can do without and the host does not give them.
pub fn fitted(mut profile: Profile, host: &Host) -> Profile {
    if profile.require.get(&Layer::Root) == Some(&Need::BestEffort) && host.namespaces.get().is_err() {
        profile.lacking = Layer::WITH_NAMESPACES.to_vec();
    }
    profile
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
pub fn unknown(error: RegistryError, config: &Config) -> Refusal {
    let error = match error {
        RegistryError::File(error) => return unread(error, config),
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

/// A file of a registry that cannot be used. A registry itself is the caller's mistake where the caller named it.
pub fn unread(error: FileError, config: &Config) -> Refusal {
    match config.registries_by {
        Some(by) if !error.shortage && config.registries.contains(&error.file) => {
            let hint = error.hint.clone().unwrap_or_default();
            let refusal = Refusal { reason: Reason::Usage, ..broken(error) };
            refusal.hint(format!("{by} names it; {hint}"))
        }
        _ => broken(error),
    }
}

/// A refused profile, with the line of tool.toml where that names a profile nobody knows.
pub fn named_by_tool(found: &Found, refusal: Refusal, ctx: &Context<'_>) -> Refusal {
    #[derive(serde::Deserialize)]
    struct Named {
        profile: toml::Spanned<String>,
    }
    let folder = ctx.config.profiles_dir.as_deref();
    let (name, path) = (&found.tool.value.profile, &found.tool.path);
    if crate::profile::names(folder).contains(name) {
        return refusal;
    }
    let fact = format!("unknown profile `{name}`; known are {}", crate::profile::names(folder).join(", "));
    let mut error = FileError::new(path, fact).at("/profile");
    let text = crate::file_error::read_text(path).unwrap_or_default();
    if let Ok(named) = toml::from_str::<Named>(&text) {
        error = error.offset(text.as_bytes(), named.profile.span().start);
    }
    broken(error.hint(refusal.hint.unwrap_or_else(|| "name one of them".to_owned())))
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
        let whole = *need == Need::BestEffort && (tighten.require_all || tighten.min_level >= 3);
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
