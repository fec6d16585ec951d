//! `exec`: a command without a contract.

use super::{
    Context, Resolved, Tighten, base_environment, granted_profile, is_on, known_limits, namespaces, requirements, root,
};
use crate::call::{Call, Contract, Stdin, Stdio, StdoutKind};
use crate::layer::Layer;
use crate::limits_spec::LimitsSpec;
use crate::reason::Reason;
use crate::refusal::Refusal;
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
    let profile = granted_profile(None, name, tighten.profile.is_some(), ctx)?;
    let (limits, mut notes) = known_limits(&profile, &LimitsSpec::default(), tighten, ctx);
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
    let env = base_environment(&builder.layout(), None);
    let sections = builder.finish(&program)?;
    notes.extend(sections.notes);
    let call = Call {
        schema: crate::call::SCHEMA.to_owned(),
        capability: None,
        profile: profile.name.clone(),
        program: Text::from(program.inside.as_path()),
        argv,
        env,
        input: None,
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
    let usage = |message: String| {
        Refusal::new(Reason::Usage, message)
            .hint("cd to a folder that holds only what the tool needs, or name one with --workspace DIR")
    };
    let shown = folder.display();
    let real = std::fs::canonicalize(ctx.cwd.join(folder))
        .map_err(|error| usage(format!("{shown}: {error}")).hint("name a folder that exists and can be entered"))?;
    if !real.is_dir() {
        return Err(usage(format!("{shown} is not a folder")).hint("name a folder"));
    }
    let home = (ctx.env)("HOME").map(PathBuf::from).and_then(|home| std::fs::canonicalize(home).ok());
    if real == Path::new("/") || home.is_some_and(|home| home.starts_with(&real)) {
        return Err(usage(format!("{} would show the tool everything you own", real.display())));
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    if let Some(kernel) = kernel_mount_below(&mounts, &real) {
        let how = if real.starts_with(&kernel) { "is part of" } else { "holds" };
        return Err(usage(format!("{} {how} {kernel}, a file system of the kernel", real.display())));
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
