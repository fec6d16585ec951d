//! Calls that come from a file: taken over only if the present configuration would make the same one, because whoever
//! writes the file must not get more than whoever calls.

use super::exec::{ExecRequest, command};
use super::{
    Context, Parts, Resolved, Tighten, argv, assemble, files, granted_profile, input, is_on, known_limits, limits,
};
use crate::call::{Call, Stdin};
use crate::layer::{Layer, Need};
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::registry::{Found, Registry};
use serde_json::Value;
use std::path::Path;

/// Takes over a Call that `plan` printed, tightened.
///
/// # Errors
/// `usage` for what is no Call or cannot be changed; `not_permitted` naming the section that differs.
pub fn planned(bytes: &[u8], tighten: &Tighten, registry: &Registry, ctx: &Context<'_>) -> Result<Resolved, Refusal> {
    let usage = |message: String| Refusal::new(Reason::Usage, message).hint("give a Call as `toolcell plan` prints it");
    let value = crate::json::value(bytes).map_err(|error| usage(format!("not one JSON value: {}", error.message)))?;
    let mut call: Call = serde_json::from_value(value).map_err(|error| usage(format!("not a Call: {error}")))?;
    if call.schema != crate::call::SCHEMA {
        return Err(usage(format!("the schema is `{}`, not `{}`", call.schema, crate::call::SCHEMA)));
    }
    if let Some(pointer) = call.sensitive.first() {
        return Err(usage(format!("the value at {pointer} was withheld from this Call"))
            .hint("call the capability again with its input"));
    }
    if tighten.profile.is_some() || tighten.workspace.is_some() {
        return Err(usage("the profile and the workspace of a planned Call cannot be changed".to_owned())
            .hint("plan the call again under the other profile"));
    }
    let allowed = allowed(&call, registry, ctx)?;
    if let Some(section) = difference(&call, &allowed) {
        let message = format!("the Call's `{section}` is not what this host's configuration allows now");
        return Err(Refusal::new(Reason::NotPermitted, message)
            .hint("plan the call again here, or have it granted in toolcell.toml"));
    }
    call.notes = allowed.notes;
    limits::tighten(&mut call.limits, tighten);
    super::demand(&mut call.require, tighten);
    call.min_level = call.min_level.max(tighten.min_level);
    Ok(Resolved { call, sensitive: std::collections::BTreeMap::new() })
}

/// The first section in which two Calls of the same request differ; limits may be tighter.
fn difference(call: &Call, allowed: &Call) -> Option<&'static str> {
    let sections = [
        ("capability", call.capability != allowed.capability),
        ("program", call.program != allowed.program),
        ("argv", call.argv != allowed.argv),
        ("env", call.env != allowed.env),
        ("input", call.input != allowed.input),
        ("secrets", call.secrets != allowed.secrets),
        ("cwd", call.cwd != allowed.cwd),
        ("stdio", call.stdio.stdout != allowed.stdio.stdout || call.stdio.stdin != allowed.stdio.stdin),
        ("namespaces", call.namespaces != allowed.namespaces),
        ("mounts", call.mounts != allowed.mounts),
        ("landlock", call.landlock != allowed.landlock),
        ("seccomp", call.seccomp != allowed.seccomp),
        ("require", call.require != allowed.require),
        ("limits", !within(call, allowed)),
        ("out_dir", call.out_dir != allowed.out_dir),
        ("contract", call.contract != allowed.contract),
    ];
    sections.into_iter().find(|(_, differs)| *differs).map(|(section, _)| section)
}

/// The Call that the present configuration makes of the same request.
fn allowed(call: &Call, registry: &Registry, ctx: &Context<'_>) -> Result<Call, Refusal> {
    let work = call.mounts.binds.iter().find(|bind| bind.target.as_bytes() == b"/work");
    let workspace = work.filter(|bind| bind.writable).map(|bind| bind.source.as_path().to_path_buf());
    let require = call.require.iter().filter(|(_, need)| **need == Need::Required);
    let tighten = Tighten {
        profile: Some(call.profile.clone()),
        workspace,
        min_level: call.min_level,
        require: require.map(|(layer, _)| *layer).collect(),
        ..Tighten::default()
    };
    match &call.capability {
        None => {
            let cwd = work.map_or(ctx.cwd, |bind| bind.source.as_path());
            let stdin = match &call.stdio.stdin {
                Stdin::Bytes(bytes) => Some(bytes.as_bytes().to_vec()),
                Stdin::None | Stdin::Json(_) => None,
            };
            let argv = call.argv.iter().map(|text| text.as_os().to_owned()).collect();
            let request = ExecRequest { argv, stdin, stdout: call.stdio.stdout, tighten };
            command(&request, &Context { cwd, ..*ctx }).map(|resolved| resolved.call)
        }
        Some(reference) => {
            let found = registry
                .find(&format!("{}@={}", reference.id, reference.version))
                .map_err(|error| super::unknown(error, ctx.config))?;
            if found.capability.sha256 != reference.contract_sha256 {
                let message = format!("the contract of `{}` has changed since this Call was made", reference.id);
                return Err(Refusal::new(Reason::NotPermitted, message).hint("plan the call again"));
            }
            again(&found, call, &tighten, ctx)
        }
    }
}

/// The Call that the present contract makes of the input inside another Call.
fn again(found: &Found, call: &Call, tighten: &Tighten, ctx: &Context<'_>) -> Result<Call, Refusal> {
    let (contract, tool) = (&found.capability.value, &found.tool.value);
    let profile = granted_profile(Some((&contract.id, &found.root)), &call.profile, true, ctx)?;
    let given = match (&call.stdio.stdin, &call.input) {
        (Stdin::Json(value), _) | (_, Some(value)) => value.clone(),
        _ => Value::Object(serde_json::Map::new()),
    };
    input::check(&given, &contract.input_schema, &found.capability.path, &tool.files_in)?;
    let files = files::still_allowed(&call.mounts, ctx)?;
    let (limits, notes) = known_limits(&profile, &tool.limits, tighten, ctx);
    let private = is_on(&profile, Layer::Root);
    let tool_dir = if private { Path::new("/tool") } else { &found.dir };
    let argv = argv::build(&tool.command, &given, tool_dir)?;
    let parts = Parts { input: given, argv, files, sensitive: Vec::new(), limits, notes };
    assemble(found, &profile, parts, tighten, ctx)
}

/// Whether no limit is looser than allowed.
fn within(call: &Call, allowed: &Call) -> bool {
    let (a, b) = (&call.limits, &allowed.limits);
    let pairs = [
        (a.wall_ms, b.wall_ms),
        (a.grace_ms, b.grace_ms),
        (a.leak_window_ms, b.leak_window_ms),
        (a.memory, b.memory),
        (a.pids, b.pids),
        (a.open_files, b.open_files),
        (a.file_size, b.file_size),
        (a.tmp, b.tmp),
        (a.tmp_inodes, b.tmp_inodes),
        (a.stdout, b.stdout),
        (a.stderr, b.stderr),
        (a.out, b.out),
    ];
    a.cpu <= b.cpu && a.cpu > 0.0 && pairs.into_iter().all(|(a, b)| a <= b)
}
