//! The runner's end of the launcher's socket.

use super::launcher;
use super::protocol::{Answer, Launch, Manifest, StageError, Step};
use crate::sys::{self, Forked, SysError};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, sendmsg, socketpair};
use std::io::{IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::io::unix::AsyncFd;
use tokio::sync::{Mutex, MutexGuard};

/// How long the launcher's death is awaited.
const DEATH_PATIENCE: Duration = Duration::from_millis(100);

/// A launcher that has been started, before there is a runtime to talk to it from.
pub struct Seed {
    socket: OwnedFd,
    process: Process,
    resident: bool,
}

/// The launcher's process. Dropping it ends the launcher and waits for it: whoever has closed its socket must not leave
/// it to others to reap. It has nothing to finish, and may hang on a file system that does not answer; then it is not
/// waited for any longer.
struct Process(nix::unistd::Pid);

impl Process {
    fn kill(&self) {
        let _ = nix::sys::signal::kill(self.0, nix::sys::signal::Signal::SIGKILL);
    }

    /// Whether a system call filter has killed it. It stays to be reaped.
    fn died_of_a_filter(&self) -> bool {
        use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        let until = Instant::now() + DEATH_PATIENCE;
        loop {
            match waitid(Id::Pid(self.0), flags) {
                Ok(WaitStatus::Signaled(_, signal, _)) => return signal == nix::sys::signal::Signal::SIGSYS,
                // Its socket is closed a moment before it has ended.
                Ok(WaitStatus::StillAlive) if Instant::now() < until => std::thread::sleep(Duration::from_micros(100)),
                _ => return false,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
        self.kill();
        let until = Instant::now() + DEATH_PATIENCE;
        while waitpid(self.0, Some(WaitPidFlag::WNOHANG)) == Ok(WaitStatus::StillAlive) && Instant::now() < until {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// The descriptors a launch takes along.
pub struct Descriptors {
    /// Standard input, output and error of the tool.
    pub stdio: [OwnedFd; 3],
    /// The report socket's far end.
    pub report: OwnedFd,
    /// The lifeline's far end.
    pub control: OwnedFd,
    /// The secrets.
    pub secrets: Option<OwnedFd>,
    /// The cgroup.procs files.
    pub cgroups: Vec<OwnedFd>,
}

impl Seed {
    /// Forks the launcher from this process.
    ///
    /// Call it first thing in `main`, before anything starts a thread: a fork of a process with threads may find
    /// locks held by threads that it does not have, and is refused. `resident`: whether more than one call is to be expected.
    ///
    /// # Errors
    /// When the process has threads; when the process or descriptor limit is reached.
    pub fn fork(resident: bool) -> Result<Self, SysError> {
        let kind = launcher::Kind { resident, of_main: true };
        let (near, far) = pair()?;
        match sys::fork(&sys::OneThread::proven()?)? {
            Forked::Child => {
                drop(near);
                launcher::run(far, kind)
            }
            Forked::Parent(pid) => {
                Ok(Self { socket: near, process: Process(nix::unistd::Pid::from_raw(pid)), resident })
            }
        }
    }

    /// Starts the launcher by executing `toolcell` as a helper: for a process that has threads already.
    ///
    /// # Errors
    /// When the program cannot be executed.
    pub fn execute(toolcell: &Path) -> Result<Self, SysError> {
        let (near, far) = pair()?;
        let child = std::process::Command::new(toolcell)
            .arg0("toolcell-launcher")
            .arg(super::HELPER)
            .stdin(far)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .env_clear()
            .spawn()
            .map_err(SysError::io("spawn", toolcell.to_string_lossy()))?;
        Ok(Self { socket: near, process: Process(nix::unistd::Pid::from_raw(child.id() as i32)), resident: true })
    }
}

fn pair() -> Result<(OwnedFd, OwnedFd), SysError> {
    socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
        .map_err(SysError::on("socketpair", "launcher"))
}

/// The launcher, seen from the runtime. One launch is under way at a time; each takes well under a millisecond.
pub struct Launcher {
    socket: Mutex<AsyncFd<OwnedFd>>,
    process: Process,
    resident: bool,
}

impl Launcher {
    /// Takes over a launcher that has been started. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the runtime cannot watch the socket.
    pub fn new(seed: Seed) -> Result<Self, SysError> {
        sys::nonblocking(seed.socket.as_fd())?;
        let socket = watch(seed.socket, "launcher socket")?;
        Ok(Self { socket: Mutex::new(socket), process: seed.process, resident: seed.resident })
    }

    /// Ends a launcher that was made for one call, once that is launched for the last time: it ends while the tool
    /// runs, and nobody has to wait for it.
    pub fn retire(&self) {
        if !self.resident {
            self.kill();
        }
    }

    /// Ends the launcher. Calls in flight do not need it; every further launch fails.
    pub fn kill(&self) {
        self.process.kill();
    }

    /// What a launch that failed for want of the launcher failed of: a filter around toolcell that kills for a step of
    /// the sandbox is no fault of toolcell's.
    pub fn explain(&self, error: StageError) -> StageError {
        if error.step != Step::Receive || !self.process.died_of_a_filter() {
            return error;
        }
        let mut error = StageError::new(Step::Clone, SysError::new("clone", "namespaces", Errno::EPERM));
        error.object = "namespaces".to_owned();
        error.note = Some("a system call filter around toolcell kills (SIGSYS) whoever makes them".to_owned());
        error
    }

    /// Waits for the launcher to be free. Who stops waiting here has taken nothing from anyone.
    pub async fn turn(&self) -> Turn<'_> {
        Turn { socket: self.socket.lock().await }
    }
}

/// The right to the next launch.
pub struct Turn<'a> {
    socket: MutexGuard<'a, AsyncFd<OwnedFd>>,
}

impl Turn<'_> {
    /// Launches a call; returns init's pidfd. A caller that stops waiting for the answer has to [`Launcher::kill`],
    /// or the next one would be given it.
    ///
    /// # Errors
    /// The step that failed; [`Step::Receive`] when the launcher itself is gone.
    pub async fn launch(self, launch: &Launch, fds: Descriptors) -> Result<OwnedFd, StageError> {
        let at = StageError::at(Step::Receive);
        let spec = memory_file("launch", &serde_json::to_vec(launch).unwrap_or_default()).map_err(&at)?;
        send(&self.socket, &spec, &fds).await.map_err(&at)?;
        drop((spec, fds));
        receive(&self.socket).await.map_err(&at)?
    }
}

/// A file in memory with these bytes.
pub fn memory_file(name: &str, bytes: &[u8]) -> Result<OwnedFd, SysError> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let fd = memfd_create(name, MFdFlags::MFD_CLOEXEC).map_err(SysError::on("memfd_create", name))?;
    let mut file = std::fs::File::from(fd);
    file.write_all(bytes).map_err(SysError::io("write", name))?;
    std::io::Seek::rewind(&mut file).map_err(SysError::io("lseek", name))?;
    Ok(file.into())
}

/// Registers a descriptor with the runtime.
pub fn watch(fd: OwnedFd, on: &str) -> Result<AsyncFd<OwnedFd>, SysError> {
    sys::watch(fd).map_err(SysError::io("epoll", on))
}

async fn send(socket: &AsyncFd<OwnedFd>, spec: &OwnedFd, fds: &Descriptors) -> Result<(), SysError> {
    let manifest = Manifest { secrets: fds.secrets.is_some(), cgroups: fds.cgroups.len() as u8 };
    let stdio = fds.stdio.iter();
    let rest = stdio.chain([&fds.report, &fds.control]).chain(&fds.secrets).chain(&fds.cgroups);
    let raw: Vec<i32> = std::iter::once(spec).chain(rest).map(|fd| fd.as_raw_fd()).collect();
    let bytes = manifest.encode();
    loop {
        let mut ready = socket.writable().await.map_err(SysError::io("epoll", "launcher socket"))?;
        let rights = [ControlMessage::ScmRights(&raw)];
        let flags = MsgFlags::MSG_NOSIGNAL;
        match sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(&bytes)], &rights, flags, None) {
            Ok(_) => return Ok(()),
            Err(Errno::EAGAIN) => ready.clear_ready(),
            Err(errno) => return Err(SysError::new("sendmsg", "launcher", errno)),
        }
    }
}

async fn receive(socket: &AsyncFd<OwnedFd>) -> Result<Result<OwnedFd, StageError>, SysError> {
    let mut bytes = [0u8; 16 * 1024];
    let (length, fd) = loop {
        let mut ready = socket.readable().await.map_err(SysError::io("epoll", "launcher socket"))?;
        match sys::receive(socket.as_fd(), &mut bytes) {
            Err(Errno::EAGAIN) => ready.clear_ready(),
            Err(errno) => return Err(SysError::new("recvmsg", "launcher", errno)),
            Ok((length, mut fds)) => break (length, fds.pop()),
        }
    };
    let gone = || SysError::new("recvmsg", "launcher", Errno::EPIPE);
    let answer = serde_json::from_slice(&bytes[..length]).map_err(|_| gone())?;
    Ok(match (answer, fd) {
        (Answer::Cloned, Some(pidfd)) => Ok(pidfd),
        (Answer::Failed(error), _) => Err(error),
        (Answer::Cloned, None) => return Err(gone()),
    })
}
