//! Whether this host gives a call namespaces and a root of its own: found by making such a call, with nothing of it
//! that could fail for another reason. Asked for only where a profile can do without.

use crate::call::Call;
use crate::cell::client::{Launcher, Seed};
use crate::config::{Config, Sources};
use crate::execution::Execution;
use crate::host::{Fact, Host};
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

/// The fact, tried by the `toolcell` binary at `toolcell` and remembered in the folder `state`, if there is one.
pub fn namespaces(toolcell: PathBuf, state: Option<PathBuf>) -> Fact {
    let file = state.map(|folder| folder.join("host.json"));
    let (known, path) = (file.clone(), toolcell.clone());
    let trial = move || {
        let key = key(&path);
        if let Some(found) = known.as_deref().and_then(|file| remembered(file, &key)) {
            return found;
        }
        let binary = path.clone();
        // A runtime of its own, which may not be started inside another.
        let tried = std::thread::spawn(move || trial(&binary)).join();
        let found = tried.unwrap_or_else(|_| Err("the trial panicked".to_owned()));
        known.iter().for_each(|file| remember(file, &key, &found));
        found
    };
    let lesson = move |found: &Result<(), String>| {
        file.iter().for_each(|file| remember(file, &key(&toolcell), found));
    };
    Fact::by(trial, lesson)
}

fn trial(toolcell: &Path) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| text(&error))?;
    runtime.block_on(async {
        let launcher = Seed::execute(toolcell).and_then(Launcher::new).map_err(|error| text(&error))?;
        let folder = crate::scratch::empty_folder().map_err(|error| text(&error))?;
        // Nothing is in it, and a file system that cannot map owners must not shut the tool out.
        let _ = std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755));
        let (runner, call) = plain(toolcell, folder.path()).map_err(|refusal| text(&refusal))?;
        let (_cancel, cancelled) = watch::channel(false);
        let execution = Execution {
            launcher: &launcher,
            host: &runner.host,
            accepted: Instant::now(),
            call_id: "probe",
            span: &TraceContext::root(),
            events: None,
            out: None,
            cancel: cancelled,
        };
        let (attempts, _) = execution.run(&Resolved { call, sensitive: BTreeMap::new() }).await;
        judge(attempts.last())
    })
}

/// Only what kept the sandbox from being made counts; that the machine is busy does not.
fn judge(outcome: Option<&Outcome>) -> Result<(), String> {
    match outcome.and_then(|outcome| outcome.failure.as_ref()) {
        Some(failure) if matches!(failure.kind, StartFailureKind::Sandbox | StartFailureKind::Internal) => {
            Err(failure.message.clone())
        }
        _ => Ok(()),
    }
}

/// The smallest call that has namespaces, a root and a /proc of its own.
fn plain(toolcell: &Path, cwd: &Path) -> Result<(Runner, Call), Refusal> {
    let sources = Sources {
        config: None,
        registry: None,
        env: &|_| None,
        cwd: cwd.to_path_buf(),
        uid: nix::unistd::geteuid().as_raw(),
    };
    let config = Config::load(&sources).map_err(crate::resolve::broken)?;
    let host = Host::detect(config.identity);
    let bin_dir = toolcell.parent().map(Path::to_path_buf).unwrap_or_default();
    let runner = Runner { config, host, cwd: cwd.to_path_buf(), bin_dir };
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
    Ok((runner, call))
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
    let limit = read("/proc/sys/user/max_user_namespaces");
    let parts = [boot.trim().to_owned(), program, own.join(" "), limit.trim().to_owned()];
    parts.into_iter().chain(rights.map(str::to_owned)).collect::<Vec<_>>().join("\n")
}

fn remembered(file: &Path, key: &str) -> Option<Result<(), String>> {
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
