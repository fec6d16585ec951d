//! Acts on processes and with programs, and system calls by number.

use crate::{Act, Found, errno, name_of, outcome, raw};
use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, pause};
use serde_json::{Value, json};
use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

pub fn attempt(name: &str, act: &Act) -> Option<Found> {
    let pid = || act.number("pid") as i32;
    Some(match name {
        "exec" => exec(act.text("path"), act),
        "exec_copy" => exec_copy(act),
        "exec_memory" => exec_memory(act),
        "signal" => kill(Pid::from_raw(pid()), None).map(|()| Value::Null),
        "kill_all" => kill_all(),
        // Seizing, unlike attaching, does not stop the process; the probe's end lets it go.
        "trace" => seize(pid()),
        "trace_child" => trace_child(),
        "read_memory" => raw::read_memory_of(pid()).map(|_| Value::Null),
        "sleep" => sleep(act),
        "crash_child" => crash_child(),
        "abort" => std::process::abort(),
        "system_calls" => Ok(system_calls(act)),
        "x32" => by_x32(),
        "int80" => by_int80(),
        _ => return None,
    })
}

/// Executes a program, with `stdin` if the act has one.
fn exec(path: &str, act: &Act) -> Found {
    let arguments = act.list("args").iter().filter_map(Value::as_str);
    let mut command = Command::new(path);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| errno(&error))?;
    let stdin = act.0["stdin"].to_string();
    if let Some(mut pipe) = child.stdin.take() {
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| errno(&error))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(json!({"code": output.status.code(), "stdout": text(&output.stdout), "stderr": text(&output.stderr)}))
}

/// Executes a copy of the program `from` at `path`.
fn exec_copy(act: &Act) -> Found {
    let path = act.text("path");
    fs::copy(act.text("from"), path).map_err(|error| errno(&error))?;
    fs::set_permissions(path, Permissions::from_mode(0o755)).map_err(|error| errno(&error))?;
    exec(path, act)
}

/// Executes a copy of the program `from` that is in memory only.
fn exec_memory(act: &Act) -> Found {
    let memory = memfd_create(c"probe", MFdFlags::empty())?;
    let bytes = fs::read(act.text("from")).map_err(|error| errno(&error))?;
    File::from(memory.try_clone().map_err(|error| errno(&error))?).write_all(&bytes).map_err(|error| errno(&error))?;
    exec(&format!("/proc/self/fd/{}", memory.as_raw_fd()), act)
}

/// A child that waits for a signal.
fn waiting_child() -> Result<Pid, Errno> {
    raw::child(pause)
}

/// Kills everything it can. A child shows that it has killed.
fn kill_all() -> Found {
    let child = waiting_child()?;
    let killed = kill(Pid::from_raw(-1), Signal::SIGKILL);
    if killed.is_err() {
        let _ = kill(child, Signal::SIGKILL);
    }
    let by = match waitpid(child, None)? {
        WaitStatus::Signaled(_, signal, _) => signal.to_string(),
        other => format!("{other:?}"),
    };
    Ok(json!({"result": outcome(killed), "child": by}))
}

fn seize(pid: i32) -> Found {
    const PTRACE_SEIZE: i64 = 0x4206;
    raw::call(libc::SYS_ptrace, [PTRACE_SEIZE, i64::from(pid), 0, 0, 0, 0]).map(|_| Value::Null)
}

fn trace_child() -> Found {
    let child = waiting_child()?;
    let seized = seize(child.as_raw());
    let _ = kill(child, Signal::SIGKILL);
    let _ = waitpid(child, None);
    seized
}

/// Sleeps under a name by which it can be found from outside.
fn sleep(act: &Act) -> Found {
    let name = CString::new(act.text("name")).map_err(|_| Errno::EINVAL)?;
    nix::sys::prctl::set_name(&name)?;
    std::thread::sleep(Duration::from_millis(act.number("ms") as u64));
    Ok(Value::Null)
}

/// A child raises its core limit as far as it may and crashes; the working directory is looked at for its core.
fn crash_child() -> Found {
    let hard = getrlimit(Resource::RLIMIT_CORE)?.1;
    let child = raw::child(|| {
        let _ = setrlimit(Resource::RLIMIT_CORE, hard, hard);
        std::process::abort()
    })?;
    let WaitStatus::Signaled(_, signal, dumped) = waitpid(child, None)? else { return Err(Errno::ECHILD) };
    let entries = fs::read_dir(".").map_err(|error| errno(&error))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let cores: Vec<String> = names.filter(|name| name.starts_with("core")).collect();
    Ok(json!({"signal": signal.to_string(), "dumped": dumped, "cores": cores}))
}

/// Each of `calls` is `[name, number, argument...]`; the answer is by name. With `own`, it makes itself root of
/// namespaces of its own first, where it may.
fn system_calls(act: &Act) -> Value {
    if act.0["own"] == true {
        let _ = raw::call(libc::SYS_unshare, [i64::from(libc::CLONE_NEWUSER | libc::CLONE_NEWNS), 0, 0, 0, 0, 0]);
    }
    let one = |call: &Value| {
        let number = |at: usize| call[at].as_i64().unwrap_or(0);
        let answer = raw::call(number(1), [number(2), number(3), number(4), number(5), number(6), number(7)]);
        (call[0].as_str().unwrap_or_default().to_owned(), json!(answer.map_or_else(name_of, |_| "ok".to_owned())))
    };
    json!({"answers": act.list("calls").iter().map(one).collect::<serde_json::Map<_, _>>()})
}

#[cfg(target_arch = "x86_64")]
fn by_x32() -> Found {
    raw::getpid_by_x32().map(|pid| json!({"pid": pid}))
}

#[cfg(target_arch = "x86_64")]
fn by_int80() -> Found {
    raw::getpid_by_int80().map(|pid| json!({"pid": pid}))
}

#[cfg(not(target_arch = "x86_64"))]
fn by_x32() -> Found {
    Err(Errno::ENOSYS)
}

#[cfg(not(target_arch = "x86_64"))]
fn by_int80() -> Found {
    Err(Errno::ENOSYS)
}
