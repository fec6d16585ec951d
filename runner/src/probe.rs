//! Whether this host gives a call namespaces and a root of its own: found by making such a call, with nothing of it
//! that could fail for another reason. Asked for only where a profile can do without.

use crate::call::Call;
use crate::cell::client::{Launcher, Seed};
use crate::config::Config;
use crate::execution::Execution;
use crate::host::{Fact, Host, Trust};
use crate::layer::{Layer, Need};
use crate::outcome::{Outcome, StartFailureKind};
use crate::refusal::Refusal;
use crate::resolve::{Resolved, Tighten};
use crate::runner::{Identity, Request, Runner, What};
use crate::trace::TraceContext;
use std::collections::BTreeMap;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio::sync::watch;

/// How long the trial may take: a host that is slower than this still has namespaces.
const PATIENCE: &str = "10s";

/// The fact for calls of this configuration, tried by the `toolcell` binary at `toolcell` and remembered in the folder
/// `state`, if there is one.
pub fn namespaces(toolcell: PathBuf, config: Config, host: Host, state: Option<PathBuf>) -> Fact {
    let file = state.map(|folder| folder.join("host.json"));
    Fact::by(move |trust| {
        let key = key(&toolcell);
        let known = file.as_deref().filter(|_| trust == Trust::Memory).and_then(|file| remembered(file, &key));
        if let Some(found) = known {
            return found;
        }
        match trial(&toolcell, &config, &host) {
            Seen::Proof(found) => {
                file.iter().for_each(|file| remember(file, &key, &found));
                found
            }
            // True for now, and looked at again next time.
            Seen::Death(why) => Err(why),
            // Nothing was learned. The call itself will say what is wrong; a weaker sandbox is no answer to it.
            Seen::Nothing => Ok(()),
        }
    })
}

/// What a trial has shown.
enum Seen {
    /// That namespaces are to be had, or are not.
    Proof(Result<(), String>),
    /// That what makes the namespaces dies of it, as under a filter that kills.
    Death(String),
    /// That something else went wrong: no descriptor, no process, no time.
    Nothing,
}

/// Makes the call, on a thread of its own: a runtime may not be started inside another.
fn trial(toolcell: &Path, config: &Config, host: &Host) -> Seen {
    let once = || attempt(toolcell, config, host).map_or(Seen::Nothing, |outcome| judge(&outcome));
    // One death may be an accident.
    let attempt = || match once() {
        Seen::Death(_) => once(),
        seen => seen,
    };
    std::thread::scope(|scope| {
        let tried = std::thread::Builder::new().spawn_scoped(scope, attempt);
        tried.ok().and_then(|thread| thread.join().ok()).unwrap_or(Seen::Nothing)
    })
}

fn attempt(toolcell: &Path, config: &Config, host: &Host) -> Option<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        let launcher = Seed::execute(toolcell).and_then(Launcher::new).ok()?;
        let folder = crate::scratch::empty_folder().ok()?;
        // Nothing is in it, and a file system that cannot map owners must not shut the tool out.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).ok()?;
        let runner = Runner {
            config: config.clone(),
            host: host.clone(),
            cwd: folder.path().to_path_buf(),
            bin_dir: toolcell.parent()?.to_path_buf(),
        };
        let call = plain(&runner, toolcell).ok()?;
        let (_cancel, cancelled) = watch::channel(false);
        let execution = Execution {
            launcher: &launcher,
            host,
            accepted: Instant::now(),
            call_id: "probe",
            span: &TraceContext::root(),
            events: None,
            out: None,
            cancel: cancelled,
        };
        execution.run(&Resolved { call, sensitive: BTreeMap::new() }).await.0.pop()
    })
}

/// Only a step of the sandbox that failed proves something; that the machine is busy does not.
fn judge(outcome: &Outcome) -> Seen {
    match &outcome.failure {
        None => Seen::Proof(Ok(())),
        Some(failure) if failure.kind == StartFailureKind::Sandbox => Seen::Proof(Err(failure.message.clone())),
        Some(failure) if failure.kind == StartFailureKind::Internal => Seen::Death(failure.message.clone()),
        Some(_) => Seen::Nothing,
    }
}

/// The smallest call that has namespaces, a root and a /proc of its own.
fn plain(runner: &Runner, toolcell: &Path) -> Result<Call, Refusal> {
    let argv = vec![toolcell.file_name().unwrap_or_default().to_owned(), "--version".into()];
    let tighten = Tighten { profile: Some("strict".to_owned()), wall: PATIENCE.parse().ok(), ..Tighten::default() };
    let request = Request {
        what: What::Command { argv, stdin: None, stdout: crate::call::StdoutKind::Text },
        tighten,
        identity: Identity::default(),
        out: None,
        accepted: Instant::now(),
        patience: None,
    };
    let mut call = runner.plan(&request)?;
    (call.landlock, call.seccomp) = (None, None);
    for layer in [Layer::Landlock, Layer::Seccomp, Layer::NoNewPrivs, Layer::Cgroup] {
        call.require.insert(layer, Need::Off);
    }
    Ok(call)
}

/// What the fact depends on: the boot, the program, and what this process itself may do.
fn key(toolcell: &Path) -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let program = std::fs::metadata(toolcell)
        .map(|data| format!("{}:{}:{}:{}:{}", data.dev(), data.ino(), data.size(), data.mtime(), data.mtime_nsec()))
        .unwrap_or_default();
    let own = ["user", "mnt", "pid", "net"].map(|kind| {
        let link = std::fs::read_link(format!("/proc/self/ns/{kind}")).unwrap_or_default();
        link.to_string_lossy().into_owned()
    });
    let status = read("/proc/self/status");
    let fields = ["Uid:", "CapEff:", "CapBnd:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"];
    let rights = status.lines().filter(|line| fields.iter().any(|field| line.starts_with(field)));
    let boot = read("/proc/sys/kernel/random/boot_id");
    // What an administrator mends without a reboot.
    let knobs = [
        "user/max_user_namespaces",
        "kernel/unprivileged_userns_clone",
        "kernel/apparmor_restrict_unprivileged_userns",
    ];
    let knobs = knobs.map(|knob| read(&format!("/proc/sys/{knob}")).trim().to_owned());
    let parts = [boot.trim().to_owned(), program, own.join(" "), knobs.join(" ")];
    parts.into_iter().chain(rights.map(str::to_owned)).collect::<Vec<_>>().join("\n")
}

fn remembered(file: &Path, key: &str) -> Option<Result<(), String>> {
    let data = std::fs::metadata(file).ok()?;
    if data.uid() != nix::unistd::geteuid().as_raw() || data.mode() & 0o022 != 0 {
        // Who may write it could weaken every sandbox.
        return None;
    }
    let value: serde_json::Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    if value["key"] != key {
        return None;
    }
    match &value["namespaces"] {
        serde_json::Value::Null => Some(Ok(())),
        why => Some(Err(why.as_str()?.to_owned())),
    }
}

/// What cannot be written is found again next time.
fn remember(file: &Path, key: &str, found: &Result<(), String>) {
    let Some(folder) = file.parent() else { return };
    let value = serde_json::json!({"key": key, "namespaces": found.as_ref().err()});
    let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let new = folder.join(format!("host.json.{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let written = options
        .open(&new)
        .and_then(|mut file| std::io::Write::write_all(&mut file, value.to_string().as_bytes()))
        .and_then(|()| std::fs::rename(&new, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
}
