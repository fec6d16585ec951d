//! What the probe sees of itself and of others.

use crate::{Act, Found, errno};
use nix::sys::resource::{Resource, getrlimit};
use serde_json::{Map, Value, json};
use std::fs;

pub fn attempt(name: &str, _: &Act) -> Option<Found> {
    Some(match name {
        "identity" => identity(),
        "environment" => Ok(json!({"own": own_environment(), "all": environments()})),
        "processes" => Ok(json!({"pids": pids(), "own": std::process::id()})),
        "descriptors" => descriptors(),
        "namespaces" => Ok(namespaces()),
        "mounts" => {
            fs::read_to_string("/proc/self/mountinfo").map(|text| json!({"text": text})).map_err(|error| errno(&error))
        }
        _ => return None,
    })
}

/// Who it is, and what it has been denied for good.
fn identity() -> Found {
    let status = fs::read_to_string("/proc/self/status").map_err(|error| errno(&error))?;
    let fields: Map<String, Value> = status
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), json!(value.trim())))
        .collect();
    let core = getrlimit(Resource::RLIMIT_CORE)?;
    Ok(json!({
        "uid": nix::unistd::getuid().as_raw(), "euid": nix::unistd::geteuid().as_raw(), "gid": nix::unistd::getgid().as_raw(),
        "leads_session": nix::unistd::getsid(None)? == nix::unistd::getpid(),
        "host": nix::unistd::gethostname()?.to_string_lossy(), "core": [core.0, core.1], "status": fields,
    }))
}

fn own_environment() -> Map<String, Value> {
    let pair = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        (name.to_string_lossy().into_owned(), json!(value.to_string_lossy()))
    };
    std::env::vars_os().map(pair).collect()
}

/// The start environment of every process it can read that of.
fn environments() -> Map<String, Value> {
    let read = |pid: i32| fs::read(format!("/proc/{pid}/environ")).ok().map(|bytes| (pid, bytes));
    let found = pids().into_iter().filter_map(read);
    found.map(|(pid, bytes)| (pid.to_string(), json!(String::from_utf8_lossy(&bytes)))).collect()
}

fn pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    pids
}

/// Open descriptors beyond the three streams, with what they lead to.
fn descriptors() -> Found {
    let entries = fs::read_dir("/proc/self/fd").map_err(|error| errno(&error))?;
    let names: Vec<String> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // The one that has listed them is closed again by now.
    let target = |name: String| fs::read_link(format!("/proc/self/fd/{name}")).ok().map(|path| (name, path));
    let found = names.into_iter().filter(|name| !["0", "1", "2"].contains(&name.as_str())).filter_map(target);
    Ok(json!({"extra": found.map(|(name, path)| (name, json!(path.to_string_lossy()))).collect::<Map<_, _>>()}))
}

/// The namespaces it is in, by kind.
fn namespaces() -> Value {
    let kinds = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"];
    let one =
        |kind: &str| fs::read_link(format!("/proc/self/ns/{kind}")).ok().map(|link| (kind.to_owned(), json!(link)));
    Value::Object(kinds.into_iter().filter_map(one).collect())
}
