//! The tool's own process, from fork to exec. docs/sandbox.md lists the same steps by the same names.

use super::protocol::{Launch, Report, StageError, Step};
use super::{landlock, limits, seccomp};
use crate::layer::{Layer, Need};
use crate::sys::{self, SysError};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use std::ffi::CString;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// The descriptors the tool's process starts with.
pub struct Streams {
    /// Standard input, output and error.
    pub stdio: [OwnedFd; 3],
    /// The memory file with `NAME=value` of each secret, NUL after each.
    pub secrets: Option<OwnedFd>,
    /// The cgroup.procs files, opened by the runner with its rights.
    pub cgroups: Vec<OwnedFd>,
    /// End of file here means that init has hardened itself.
    pub go: OwnedFd,
}

/// Takes every step that is left and becomes the tool. Returns only with what went wrong.
pub fn enter(launch: &Launch, streams: Streams) -> StageError {
    match steps(launch, &streams) {
        Ok((program, argv, env)) => become_tool(launch, &program, &argv, &env),
        Err(error) => error,
    }
}

type Image = (CString, Vec<CString>, Vec<CString>);

fn steps(launch: &Launch, streams: &Streams) -> Result<Image, StageError> {
    join_cgroups(&streams.cgroups).map_err(StageError::at(Step::Cgroup))?;
    if launch.namespaces.cgroup {
        // Only now: a cgroup namespace is rooted where its maker stands.
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWCGROUP)
            .map_err(SysError::on("unshare", "CLONE_NEWCGROUP"))
            .map_err(StageError::at(Step::CgroupNs))?;
    }
    session(streams).map_err(StageError::at(Step::Session))?;
    limits::apply(launch).map_err(StageError::at(Step::Rlimits))?;
    nix::unistd::chdir(launch.cwd.as_path())
        .map_err(SysError::on("chdir", launch.cwd.lossy()))
        .map_err(StageError::at(Step::WorkDir))?;
    let image = image(launch, streams).map_err(StageError::at(Step::Exec))?;
    // Until init's memory is shut to this id, nothing of the tool's may run.
    let _ = nix::unistd::read(&streams.go, &mut [0]);
    confine(launch)?;
    Ok(image)
}

/// Gives up what the profile takes away. Capabilities go before no_new_privs only by habit; Landlock goes before
/// seccomp, which would otherwise have to allow its calls.
fn confine(launch: &Launch) -> Result<(), StageError> {
    let without = launch.require.get(&Layer::Capabilities).is_some_and(|need| *need != Need::Off);
    if launch.namespaces.user {
        sys::cap_drop_all().map_err(StageError::at(Step::Capabilities))?;
    } else if without && sys::cap_drop_all().is_err() {
        // An ordinary user may not change the bounding set; under no_new_privs nothing comes back from there.
        sys::cap_drop().map_err(StageError::at(Step::Capabilities))?;
    }
    if launch.landlock.is_some() || launch.seccomp.is_some() {
        nix::sys::prctl::set_no_new_privs()
            .map_err(SysError::on("prctl", "PR_SET_NO_NEW_PRIVS"))
            .map_err(StageError::at(Step::NoNewPrivs))?;
    }
    if let Some(section) = &launch.landlock {
        landlock::apply(section).map_err(StageError::at(Step::Landlock))?;
    }
    limits::descriptors(launch).map_err(StageError::at(Step::Rlimits))?;
    if let Some(section) = &launch.seccomp {
        sys::install_filter(&seccomp::program(section)).map_err(StageError::at(Step::Seccomp))?;
    }
    Ok(())
}

fn join_cgroups(files: &[OwnedFd]) -> Result<(), SysError> {
    for file in files {
        // "0" is the writer itself, in whatever pid namespace it lives.
        nix::unistd::write(file, b"0").map_err(SysError::on("write", "cgroup.procs"))?;
    }
    Ok(())
}

fn session(streams: &Streams) -> Result<(), SysError> {
    sys::reset_signals();
    nix::unistd::setsid().map_err(SysError::on("setsid", ""))?;
    let [stdin, stdout, stderr] = &streams.stdio;
    nix::unistd::dup2_stdin(stdin).map_err(SysError::on("dup2", "stdin"))?;
    nix::unistd::dup2_stdout(stdout).map_err(SysError::on("dup2", "stdout"))?;
    nix::unistd::dup2_stderr(stderr).map_err(SysError::on("dup2", "stderr"))?;
    sys::cloexec_from(3)
}

fn image(launch: &Launch, streams: &Streams) -> Result<Image, SysError> {
    let c = |bytes: &[u8]| CString::new(bytes).map_err(|_| SysError::new("exec", "argument with NUL", Errno::EINVAL));
    let program = c(launch.program.as_bytes())?;
    let argv = launch.argv.iter().map(|text| c(text.as_bytes())).collect::<Result<_, _>>()?;
    let mut env: Vec<CString> = launch.env.iter().map(|text| c(text.as_bytes())).collect::<Result<_, _>>()?;
    if let Some(file) = &streams.secrets {
        let copy = file.try_clone().map_err(SysError::io("dup", "secrets"))?;
        let mut bytes = Vec::new();
        std::fs::File::from(copy).read_to_end(&mut bytes).map_err(SysError::io("read", "secrets"))?;
        for variable in bytes.split(|byte| *byte == 0).filter(|variable| !variable.is_empty()) {
            env.push(c(variable)?);
        }
    }
    Ok((program, argv, env))
}

/// A freshly written program may still be open for writing somewhere for a moment.
const BUSY_TRIES: u32 = 8;

fn become_tool(launch: &Launch, program: &CString, argv: &[CString], env: &[CString]) -> StageError {
    let mut errno = Errno::UnknownErrno;
    for _ in 0..BUSY_TRIES {
        errno = sys::exec(program, argv, env);
        if errno != Errno::ETXTBSY {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut error = StageError::new(Step::Exec, SysError::new("execve", launch.program.lossy(), errno));
    error.note = explain(launch.program.as_path(), errno);
    error
}

/// ENOENT from execve has three causes, and EACCES two: says which one it is.
fn explain(program: &Path, errno: Errno) -> Option<String> {
    let mut head = [0u8; 4096];
    let file = nix::fcntl::open(program, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty());
    let length = match &file {
        Ok(fd) => nix::unistd::read(fd.as_fd(), &mut head).unwrap_or(0),
        Err(Errno::ENOENT) => return Some("the program does not exist in the sandbox".to_owned()),
        Err(_) if errno == Errno::EACCES => return Some("the file is not executable for the tool's id".to_owned()),
        Err(_) => return None,
    };
    let head = &head[..length];
    if let Some(interpreter) = script_interpreter(head) {
        let shown = interpreter.escape_debug();
        return match errno {
            Errno::ENOENT => Some(format!("the script's interpreter \"{shown}\" does not exist in the sandbox")),
            Errno::EACCES => Some(format!(
                "the script or its interpreter \"{shown}\" is not executable: mode, a noexec mount, or the profile"
            )),
            _ => None,
        };
    }
    match errno {
        Errno::ENOENT => Some("the program's loader does not exist in the sandbox".to_owned()),
        Errno::ENOEXEC => Some("neither an executable of this machine nor a script with a #! line".to_owned()),
        Errno::EACCES => Some("the file is not executable: mode, a noexec mount, or the profile".to_owned()),
        _ => None,
    }
}

/// The interpreter a `#!` line names; a carriage return stays in it, because the kernel keeps it too.
pub fn script_interpreter(head: &[u8]) -> Option<String> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let text = String::from_utf8_lossy(line);
    text.trim_matches([' ', '\t']).split([' ', '\t']).next().map(str::to_owned)
}

/// Sends one report.
pub fn send(report: BorrowedFd<'_>, message: &Report) {
    send_with(report, message, nix::sys::socket::MsgFlags::empty());
}

/// Sends one report, unless nobody has read those before it: for who must not wait.
pub fn try_send(report: BorrowedFd<'_>, message: &Report) {
    send_with(report, message, nix::sys::socket::MsgFlags::MSG_DONTWAIT);
}

fn send_with(report: BorrowedFd<'_>, message: &Report, extra: nix::sys::socket::MsgFlags) {
    use std::os::fd::AsRawFd;
    let bytes = serde_json::to_vec(message).unwrap_or_default();
    let _ = nix::sys::socket::send(report.as_raw_fd(), &bytes, nix::sys::socket::MsgFlags::MSG_NOSIGNAL | extra);
}
