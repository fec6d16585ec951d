//! From a request to a Call: everything is decided here, before the first side effect.
//!
//! It reads the file system only to look things up (where a program is, who owns a folder), and changes nothing.

mod argv;
mod exec;
mod files;
mod input;
mod limits;
mod look;
mod planned;
mod program;
mod rights;
mod root;

pub use exec::{ExecRequest, command};
pub use planned::planned;

use crate::call::{Call, CapabilityRef, Contract, Namespaces, Note, SecretRef, Stdin, Stdio};
use crate::config::Config;
use crate::host::Host;
use crate::layer::{Layer, Need};
use crate::profile::{NetworkMode, Profile};
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::registry::{Found, RegistryError};
use crate::text::Text;
use crate::tool::{StdinSpec, ToolFile};
use crate::units::{Millis, Size};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a caller may tighten.
#[derive(Clone, Debug, Default)]
pub struct Tighten {
    /// Another profile, which must be granted too.
    pub profile: Option<String>,
    /// Shorter.
    pub wall: Option<Millis>,
    /// Less.
    pub memory: Option<Size>,
    /// Fewer.
    pub pids: Option<u64>,
    /// Less.
    pub cpu: Option<f64>,
    /// The lowest level that will do.
    pub min_level: u8,
    /// Layers that have to be whole.
    pub require: Vec<Layer>,
    /// The folder mounted writable at /work.
    pub workspace: Option<PathBuf>,
}

/// The input as the caller gave it.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The document; None: `{}`.
    pub bytes: Option<Vec<u8>>,
    /// JSON Pointers and the values to set there.
    pub set: Vec<(String, String)>,
}

/// What resolution looks at beside the request.
pub struct Context<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Facts of the host.
    pub host: &'a Host,
    /// The caller's working directory.
    pub cwd: &'a Path,
    /// The folder the toolcell binary stands in.
    pub bin_dir: &'a Path,
    /// The caller's environment.
    pub env: &'a dyn Fn(&str) -> Option<OsString>,
}

/// A Call, and what it must not hold.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The Call.
    pub call: Call,
    /// The values behind the Call's placeholders, by JSON Pointer into the input.
    pub sensitive: BTreeMap<String, Value>,
}

/// Where the tool's writable folders stand, with and without mounts.
pub(crate) struct Layout {
    pub work: &'static str,
    pub home: &'static str,
    pub tmp: &'static str,
}

/// Folders of a private root.
const INSIDE: Layout = Layout { work: "/work", home: "/home/tool", tmp: "/tmp" };
/// Folders below the attempt's own, where there are no mounts.
const OUTSIDE: Layout = Layout { work: "{scratch}/work", home: "{scratch}/home", tmp: "{scratch}/tmp" };

/// Resolves a call of a capability.
///
/// # Errors
/// The first thing that stops it, with the way out.
pub fn capability(found: &Found, input: &Input, tighten: &Tighten, ctx: &Context<'_>) -> Result<Resolved, Refusal> {
    let (contract, tool) = (&found.capability.value, &found.tool.value);
    let name = tighten.profile.as_deref().unwrap_or(&tool.profile);
    let profile = granted_profile(Some((&contract.id, &found.root)), name, tighten.profile.is_some(), ctx)?;
    check_output_schema(found)?;
    let mut taken = input::take(input, &contract.input_schema, &found.capability.path)?;
    let private = is_on(&profile, Layer::Root);
    let files = files::bind_in(&tool.files_in, &mut taken.value, ctx, private)?;
    let sensitive = taken.withhold(&crate::validate::secrets_in(&contract.input_schema));
    argv::refuse_sensitive(&tool.command, taken.sensitive_pointers(), &found.tool.path)?;
    let tool_dir = if private { Path::new("/tool") } else { &found.dir };
    let argv = argv::build(&tool.command, &taken.value, tool_dir)?;
    let pointers = sensitive.keys().cloned().collect();
    let parts = Parts { input: taken.value, argv, files, sensitive: pointers, notes: taken.notes };
    let call = assemble(found, &profile, parts, tighten, ctx)?;
    Ok(Resolved { call, sensitive })
}

/// The deadline a call will have, milliseconds, whatever its input; None where it will be refused.
pub fn wall_ms(found: Option<&Found>, tighten: &Tighten, ctx: &Context<'_>) -> Option<u64> {
    let named = found.map_or("standard", |found| &found.tool.value.profile);
    let name = tighten.profile.as_deref().unwrap_or(named);
    let profile = crate::profile::load(name, ctx.config.profiles_dir.as_deref()).ok()?;
    let tool = found.map(|found| found.tool.value.limits.clone()).unwrap_or_default();
    Some(limits::effective(&profile.limits, &tool, tighten).0.wall_ms)
}

/// What the request alone determines.
struct Parts {
    input: Value,
    argv: Vec<Text>,
    files: Vec<files::FileIn>,
    sensitive: Vec<String>,
    notes: Vec<Note>,
}

fn assemble(
    found: &Found,
    profile: &Profile,
    parts: Parts,
    tighten: &Tighten,
    ctx: &Context<'_>,
) -> Result<Call, Refusal> {
    let (contract, tool) = (&found.capability.value, &found.tool.value);
    let private = is_on(profile, Layer::Root);
    let mut builder = root::Builder::new(profile, ctx, private, Some(&found.dir));
    builder.workspace(tighten.workspace.as_deref())?;
    builder.files_in(&parts.files);
    let program = builder.program(&parts.argv[0])?;
    let (limits, mut notes) = limits::effective(&profile.limits, &tool.limits, tighten);
    let env = environment(tool, (&contract.id, &found.root, &found.dir), &builder.layout(), ctx)?;
    let sections = builder.finish(&program)?;
    notes.extend(parts.notes);
    notes.extend(sections.notes);
    let (stdin, input) = match tool.stdin {
        StdinSpec::Json => (Stdin::Json(parts.input), None),
        StdinSpec::None => (Stdin::None, Some(parts.input)),
    };
    Ok(Call {
        schema: crate::call::SCHEMA.to_owned(),
        capability: Some(CapabilityRef {
            id: contract.id.clone(),
            version: contract.version.to_string(),
            supplier: contract.supplier.clone(),
            contract_sha256: found.capability.sha256.clone(),
        }),
        profile: profile.name.clone(),
        program: Text::from(program.inside.as_path()),
        argv: parts.argv,
        env,
        input,
        secrets: secrets(tool, &contract.id, &found.root, ctx),
        sensitive: parts.sensitive,
        cwd: Text::from(sections.cwd.as_path()),
        stdio: Stdio { stdin, stdout: tool.stdout },
        namespaces: namespaces(profile, ctx.host, ctx.config),
        mounts: sections.mounts,
        landlock: sections.landlock,
        seccomp: sections.seccomp,
        limits,
        require: requirements(profile, tighten),
        min_level: tighten.min_level,
        out_dir: Text::from(sections.out_dir.as_path()),
        contract: Contract {
            output_schema: contract.output_schema.clone(),
            exit_codes: tool.exit_codes.clone(),
            idempotent: contract.annotations.idempotent,
            retry: tool.retry.clone().filter(|_| contract.annotations.idempotent),
        },
        notes,
    })
}

/// A capability that was not found.
pub(crate) fn unknown(error: crate::registry::RegistryError) -> Refusal {
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

/// Whether a profile asks for a layer.
fn is_on(profile: &Profile, layer: Layer) -> bool {
    profile.require.get(&layer).is_some_and(|need| *need != Need::Off)
}

/// `chosen`: whether the caller named the profile, so that a name nobody knows is the caller's fault.
fn granted_profile(
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
pub(crate) fn broken(error: crate::file_error::FileError) -> Refusal {
    let refusal = Refusal::new(Reason::InvalidContract, error.to_string());
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

fn namespaces(profile: &Profile, host: &Host, config: &Config) -> Namespaces {
    let on = |layer| is_on(profile, layer);
    let user = on(Layer::UserNs);
    Namespaces {
        user,
        mount: on(Layer::MountNs),
        pid: on(Layer::PidNs),
        net: on(Layer::NetNs),
        ipc: on(Layer::IpcNs),
        uts: on(Layer::UtsNs),
        cgroup: on(Layer::CgroupNs),
        uid: user.then_some(rights::TOOL_ID),
        gid: user.then_some(rights::TOOL_ID),
        outside: (user && host.root).then_some(config.identity),
    }
}

/// What each layer's absence means, after the caller's flags.
fn requirements(profile: &Profile, tighten: &Tighten) -> BTreeMap<Layer, Need> {
    let mut require = profile.require.clone();
    demand(&mut require, tighten);
    require
}

/// Makes required what the caller demands.
fn demand(require: &mut BTreeMap<Layer, Need>, tighten: &Tighten) {
    for (layer, need) in require {
        // Level 3 means that nothing the profile asks for is missing.
        let whole = *need == Need::BestEffort && tighten.min_level >= 3;
        if whole || tighten.require.contains(layer) {
            *need = Need::Required;
        }
    }
}

/// A broken output schema is found before anything runs, not after.
fn check_output_schema(found: &Found) -> Result<(), Refusal> {
    let Some(schema) = &found.capability.value.output_schema else { return Ok(()) };
    match crate::validate::Validator::compile(schema) {
        Ok(_) => Ok(()),
        Err(error) => Err(broken(schema_error(&found.capability.path, "/output_schema", error))),
    }
}

/// A schema's error as one of the file it stands in.
fn schema_error(file: &Path, at: &str, error: crate::validate::SchemaError) -> crate::file_error::FileError {
    let pointer = format!("{at}{}", error.pointer);
    let shaped = crate::file_error::FileError::new(file, error.message).at(pointer);
    match error.hint {
        Some(hint) => shaped.hint(hint),
        None => shaped,
    }
}

/// The tool's variables: nothing of the caller's but what is granted.
fn environment(
    tool: &ToolFile,
    (id, registry, dir): (&str, &Path, &Path),
    layout: &Layout,
    ctx: &Context<'_>,
) -> Result<BTreeMap<String, Text>, Refusal> {
    let mut env = base_environment(layout, Some(dir));
    for name in &tool.env_pass {
        if !ctx.config.env_granted(Some(id), Some(registry), name) {
            return Err(Refusal::new(Reason::NotPermitted, format!("the variable `{name}` is not granted to `{id}`"))
                .hint(format!(
                    "whoever owns this host adds env = [\"{name}\"] to a [[grant]] for it in toolcell.toml"
                )));
        }
        if let Some(value) = (ctx.env)(name) {
            env.insert(name.clone(), Text::from(value));
        }
    }
    env.extend(tool.env_set.iter().map(|(name, value)| (name.clone(), Text::from(value.as_str()))));
    Ok(env)
}

fn base_environment(layout: &Layout, tool: Option<&Path>) -> BTreeMap<String, Text> {
    let path = program::search_path(layout.work.starts_with('/'), tool);
    let pairs = [
        ("PATH", path.as_str()),
        ("HOME", layout.home),
        ("TMPDIR", layout.tmp),
        ("LANG", "C.UTF-8"),
        ("USER", "tool"),
        ("LOGNAME", "tool"),
        ("SHELL", "/bin/sh"),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), Text::from(value))).collect()
}

fn secrets(tool: &ToolFile, id: &str, registry: &Path, ctx: &Context<'_>) -> Vec<SecretRef> {
    let one =
        |name: &String| SecretRef { name: name.clone(), from: ctx.config.secret_for(Some(id), Some(registry), name) };
    tool.secrets.iter().map(one).collect()
}

/// Sections that [`root::Builder`] makes.
pub(crate) struct Sections {
    pub mounts: crate::call::Mounts,
    pub landlock: Option<crate::call::Landlock>,
    pub seccomp: Option<crate::call::Seccomp>,
    pub cwd: PathBuf,
    pub out_dir: PathBuf,
    pub notes: Vec<Note>,
}
