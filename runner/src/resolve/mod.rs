//! From a request to a Call: everything is decided here, before the first side effect.
//!
//! It reads the file system only to look things up (where a program is, who owns a folder), and changes nothing.

mod argv;
mod environment;
mod exec;
mod files;
mod grants;
mod input;
mod limits;
mod look;
mod planned;
mod program;
mod rights;
mod root;
mod view;

#[cfg(any(test, fuzzing))]
pub(crate) use argv::build as argv_build;
use environment::{base_environment, environment, secrets};
pub use exec::{ExecRequest, command};
pub(crate) use grants::{broken, harmless, unknown, unread};
use grants::{check_output_schema, demand, granted_profile, requirements, schema_error};
pub use planned::planned;
pub use view::{View, view};

use crate::call::{Call, CapabilityRef, Contract, Limits, Namespaces, Note, Stdin, Stdio};
use crate::config::Config;
use crate::host::Host;
use crate::layer::{Layer, Need};
use crate::limits_spec::LimitsSpec;
use crate::patience::Patience;
use crate::profile::Profile;
use crate::refusal::Refusal;
use crate::registry::Found;
use crate::text::Text;
use crate::tool::StdinSpec;
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
    /// Whether every layer the profile asks for has to be whole.
    pub require_all: bool,
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
    /// Who has to know how long the call may take, as soon as that is known.
    pub patience: Option<&'a Patience>,
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
    let chosen = tighten.profile.is_some();
    let profile = granted_profile(Some((&contract.id, &found.root)), name, chosen, ctx)
        .map_err(|refusal| if chosen { refusal } else { grants::named_by_tool(found, refusal, ctx) })?;
    let (limits, notes) = known_limits(&profile, &tool.limits, tighten, ctx);
    check_output_schema(found)?;
    let mut taken = input::take(input, &contract.input_schema, &found.capability.path)?;
    let private = is_on(&profile, Layer::Root);
    let files = files::bind_in(&tool.files_in, &mut taken.value, ctx, private)?;
    grants::check_secrets(found)?;
    let sensitive = taken.withhold(&crate::validate::secrets_in(&contract.input_schema));
    argv::refuse_sensitive(&tool.command, taken.sensitive_pointers(), &found.tool.path)?;
    let tool_dir = if private { Path::new("/tool") } else { &found.dir };
    let argv = argv::build(&tool.command, &taken.value, tool_dir)?;
    let pointers = sensitive.keys().cloned().collect();
    let notes = [notes, taken.notes].concat();
    let parts = Parts { input: taken.value, argv, files, sensitive: pointers, limits, notes };
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

/// The limits, told to whoever waits as soon as they are known.
fn known_limits(profile: &Profile, tool: &LimitsSpec, tighten: &Tighten, ctx: &Context<'_>) -> (Limits, Vec<Note>) {
    let (limits, notes) = limits::effective(&profile.limits, tool, tighten);
    if let Some(patience) = ctx.patience {
        patience.know(&limits);
    }
    (limits, notes)
}

/// What the request alone determines.
struct Parts {
    input: Value,
    argv: Vec<Text>,
    files: Vec<files::FileIn>,
    sensitive: Vec<String>,
    limits: Limits,
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
    let env = environment(tool, (&contract.id, &found.root, &found.dir), &builder.layout(), ctx)?;
    let sections = builder.finish(&program)?;
    let notes = [parts.notes, sections.notes].concat();
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
        limits: parts.limits,
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

/// Whether a profile asks for a layer.
fn is_on(profile: &Profile, layer: Layer) -> bool {
    !profile.lacking.contains(&layer) && profile.require.get(&layer).is_some_and(|need| *need != Need::Off)
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

/// Sections that [`root::Builder`] makes.
pub(crate) struct Sections {
    pub mounts: crate::call::Mounts,
    pub landlock: Option<crate::call::Landlock>,
    pub seccomp: Option<crate::call::Seccomp>,
    pub cwd: PathBuf,
    pub out_dir: PathBuf,
    pub notes: Vec<Note>,
}
