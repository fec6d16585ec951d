//! `exec`: a command without a contract, and Calls that come from a file.

use super::{
    Context, Resolved, Tighten, base_environment, granted_profile, is_on, limits, namespaces, requirements, root,
};
use crate::call::{Call, Contract, Stdin, Stdio, StdoutKind};
use crate::layer::Layer;
use crate::limits_spec::LimitsSpec;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::registry::Registry;
use crate::text::Text;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A command to be executed.
#[derive(Clone, Debug)]
pub struct ExecRequest {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Standard input; None: /dev/null.
    pub stdin: Option<Vec<u8>>,
    /// What is made of standard output.
    pub stdout: StdoutKind,
    /// What the caller tightens.
    pub tighten: Tighten,
}

/// Resolves a command.
///
/// # Errors
/// The first thing that stops it, with the way out.
pub fn command(request: &ExecRequest, ctx: &Context<'_>) -> Result<Resolved, Refusal> {
    let tighten = &request.tighten;
    let by_default = if tighten.workspace.is_some() { "workspace" } else { "standard" };
    let name = tighten.profile.as_deref().unwrap_or(by_default);
    let profile = granted_profile(None, name, ctx)?;
    let private = is_on(&profile, Layer::Root);
    let mut builder = root::Builder::new(&profile, ctx, private, None);
    builder.workspace(tighten.workspace.as_deref())?;
    if builder.work().is_none() {
        builder.work_read_only(caller_folder(ctx.cwd, ctx)?);
    }
    let argv: Vec<Text> = request.argv.iter().map(|word| Text::from(word.clone())).collect();
    let Some(first) = argv.first() else {
        return Err(Refusal::new(Reason::Usage, "no command was given").hint("toolcell exec -- COMMAND [ARG]..."));
    };
    let program = builder.program(first)?;
    let env = base_environment(&builder.layout());
    let (limits, mut notes) = limits::effective(&profile.limits, &LimitsSpec::default(), tighten);
    let sections = builder.finish(&program)?;
    notes.extend(sections.notes);
    let call = Call {
        schema: crate::call::SCHEMA.to_owned(),
        capability: None,
        profile: profile.name.clone(),
        program: Text::from(program.inside.as_path()),
        argv,
        env,
        secrets: Vec::new(),
        sensitive: Vec::new(),
        cwd: Text::from(sections.cwd.as_path()),
        stdio: Stdio {
            stdin: request.stdin.clone().map_or(Stdin::None, |bytes| Stdin::Bytes(Text::from(bytes))),
            stdout: request.stdout,
        },
        namespaces: namespaces(&profile, ctx.host, ctx.config),
        mounts: sections.mounts,
        landlock: sections.landlock,
        seccomp: sections.seccomp,
        limits,
        require: requirements(&profile, tighten),
        min_level: tighten.min_level,
        out_dir: Text::from(sections.out_dir.as_path()),
        contract: Contract { output_schema: None, exit_codes: BTreeMap::new(), idempotent: false, retry: None },
        notes,
    };
    Ok(Resolved { call, sensitive: BTreeMap::new() })
}

/// A folder of the caller's that will be mounted, links followed.
pub(super) fn caller_folder(folder: &Path, ctx: &Context<'_>) -> Result<PathBuf, Refusal> {
    let usage =
        |message: String| Refusal::new(Reason::Usage, message).hint("use a folder that holds only what the tool needs");
    let shown = folder.display();
    let real = std::fs::canonicalize(ctx.cwd.join(folder)).map_err(|error| usage(format!("{shown}: {error}")))?;
    if !real.is_dir() {
        return Err(usage(format!("{shown} is not a folder")));
    }
    let home = (ctx.env)("HOME").map(PathBuf::from).and_then(|home| std::fs::canonicalize(home).ok());
    if real == Path::new("/") || Some(&real) == home.as_ref() {
        return Err(usage(format!("{} would show the tool everything you own", real.display())));
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    if let Some(kernel) = kernel_mount_below(&mounts, &real) {
        return Err(usage(format!("{} holds {kernel}, a file system of the kernel", real.display())));
    }
    Ok(real)
}

/// A mount point of a kernel file system at or below a folder.
fn kernel_mount_below(mountinfo: &str, folder: &Path) -> Option<String> {
    mountinfo.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let point = left.split(' ').nth(4)?;
        let kind = right.split(' ').next()?;
        let of_the_kernel = matches!(kind, "proc" | "sysfs" | "devtmpfs" | "cgroup" | "cgroup2");
        (of_the_kernel && (Path::new(point).starts_with(folder) || folder.starts_with(point))).then(|| point.to_owned())
    })
}

/// Takes over a Call that `plan` printed, if the present configuration would make the same one: who writes the file
/// must not get more than who calls.
///
/// # Errors
/// `usage` for what is no Call; `not_permitted` naming the section that differs.
pub fn from_file(bytes: &[u8], registry: &Registry, ctx: &Context<'_>) -> Result<Resolved, Refusal> {
    let usage = |message: String| Refusal::new(Reason::Usage, message).hint("give a Call as `toolcell plan` prints it");
    let value = crate::json::value(bytes).map_err(|error| usage(format!("not one JSON value: {}", error.message)))?;
    let call: Call = serde_json::from_value(value).map_err(|error| usage(format!("not a Call: {error}")))?;
    if call.schema != crate::call::SCHEMA {
        return Err(usage(format!("the schema is `{}`, not `{}`", call.schema, crate::call::SCHEMA)));
    }
    if let Some(pointer) = call.sensitive.first() {
        return Err(usage(format!("the value at {pointer} was withheld from this Call"))
            .hint("call the capability again with its input"));
    }
    let allowed = allowed(&call, registry, ctx)?;
    let differs = [
        ("program", call.program != allowed.program),
        ("secrets", call.secrets != allowed.secrets),
        ("namespaces", call.namespaces != allowed.namespaces),
        ("mounts", call.mounts != allowed.mounts),
        ("landlock", call.landlock != allowed.landlock),
        ("seccomp", call.seccomp != allowed.seccomp),
        ("require", call.require != allowed.require),
        ("limits", !within(&call, &allowed)),
        ("env", call.env.keys().any(|name| reserved(name))),
    ];
    match differs.into_iter().find(|(_, differs)| *differs) {
        None => Ok(Resolved { call, sensitive: BTreeMap::new() }),
        Some((section, _)) => {
            let message = format!("the Call's `{section}` is not what this host's configuration allows now");
            Err(Refusal::new(Reason::NotPermitted, message)
                .hint("plan the call again here, or have it granted in toolcell.toml"))
        }
    }
}

/// The Call that the present configuration makes of the same request.
fn allowed(call: &Call, registry: &Registry, ctx: &Context<'_>) -> Result<Call, Refusal> {
    let work = call.mounts.binds.iter().find(|bind| bind.target.as_bytes() == b"/work");
    let workspace = work.filter(|bind| bind.writable).map(|bind| bind.source.as_path().to_path_buf());
    let require = call.require.iter().filter(|(_, need)| **need == crate::layer::Need::Required);
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
            let request = ExecRequest {
                argv: call.argv.iter().map(|text| text.as_os().to_owned()).collect(),
                stdin: None,
                stdout: call.stdio.stdout,
                tighten,
            };
            command(&request, &Context { cwd, ..*ctx }).map(|resolved| resolved.call)
        }
        Some(reference) => {
            let found = registry.find(&format!("{}@={}", reference.id, reference.version)).map_err(super::unknown)?;
            if found.capability.sha256 != reference.contract_sha256 {
                let message = format!("the contract of `{}` has changed since this Call was made", reference.id);
                return Err(Refusal::new(Reason::NotPermitted, message).hint("plan the call again"));
            }
            super::again(&found, call, &tighten, ctx)
        }
    }
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

fn reserved(name: &str) -> bool {
    name.is_empty() || name.starts_with("TOOLCELL_") || name.contains(['=', '\0']) || name.starts_with("TRACE")
}
