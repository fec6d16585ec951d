//! Pid 1 of the call: builds the root, starts the tool, reaps, and ends everything.
//!
//! It is a target, since the tool has its id: so it holds no capability once the tool runs, its memory is shut
//! (PR_SET_DUMPABLE), it has no signal handler (signals from inside reach a pid 1 only through one), and it stands
//! outside the tool's control group.

use super::mounts::{self, Trees};
use super::protocol::{Ending, Launch, Report, StageError, Step, command};
use super::stage::{self, Streams, send};
use crate::layer::{Layer, LayerReport, Need};
use crate::outcome::End;
use crate::sys::{self, Forked, SysError};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// What init is born with.
pub struct Birth {
    /// Standard streams, secrets and cgroup files for the tool.
    pub stdio: [OwnedFd; 3],
    /// See [`Streams::secrets`].
    pub secrets: Option<OwnedFd>,
    /// See [`Streams::cgroups`].
    pub cgroups: Vec<OwnedFd>,
    /// The report socket.
    pub report: OwnedFd,
    /// The lifeline, with the runner's commands.
    pub control: OwnedFd,
    /// End of file here means that the id maps are written.
    pub mapped: OwnedFd,
    /// The detached mounts, where the launcher could open them.
    pub trees: Option<Trees>,
    /// Whether the network namespace was made with this process and has loopback down.
    pub fresh_net: bool,
}

/// Init's whole life.
pub fn run(launch: &Launch, birth: Birth) -> ! {
    let report = match birth.report.try_clone() {
        Ok(report) => report,
        Err(_) => sys::exit_now(1),
    };
    if let Err(error) = live(launch, birth) {
        send(report.as_fd(), &Report::Failed(error));
    }
    sys::exit_now(0)
}

fn live(launch: &Launch, mut birth: Birth) -> Result<(), StageError> {
    let _ = nix::unistd::read(&birth.mapped, &mut [0]);
    let mut oom = OomScore::open();
    identity(launch)?;
    let root = if launch.mounts.private_root { Some(build_root(launch, &birth)?) } else { None };
    // Moved to their places; the tool's process has no business with them.
    birth.trees = None;
    network(launch, &birth)?;
    if let Some(error) = root.as_ref().and_then(|root| root.proc_error.as_ref()) {
        missing(launch, &birth, Layer::Proc, Step::Proc, error)?;
    }
    if let Some(out) = root.as_ref().and_then(|root| root.out.as_ref()) {
        send_out(&birth.report, out);
    }
    let children = watch_children().map_err(StageError::at(Step::Fork))?;
    // A host short of memory shall take the tool, not its init: the tool inherits the higher score.
    oom.raise();
    let (go, release) = nix::unistd::pipe().map_err(SysError::on("pipe", "")).map_err(StageError::at(Step::Fork))?;
    let streams = Streams { stdio: birth.stdio, secrets: birth.secrets, cgroups: birth.cgroups, go };
    let (executed, exec_mark) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)
        .map_err(SysError::on("pipe", ""))
        .map_err(StageError::at(Step::Fork))?;
    let tool = match sys::fork().map_err(StageError::at(Step::Fork))? {
        Forked::Child => {
            drop((release, executed));
            let error = stage::enter(launch, streams, birth.report.as_fd());
            send(birth.report.as_fd(), &Report::Failed(error));
            drop(exec_mark);
            sys::exit_now(0)
        }
        Forked::Parent(pid) => Pid::from_raw(pid),
    };
    drop((streams, exec_mark));
    oom.restore();
    harden(launch)?;
    drop((oom, release));
    let cell = Cell { launch, report: birth.report, control: birth.control, children, tool };
    cell.supervise(executed, root.and_then(|root| root.scratch));
    Ok(())
}

fn identity(launch: &Launch) -> Result<(), StageError> {
    let at = StageError::at(Step::Identity);
    if launch.namespaces.user {
        let uid = launch.namespaces.uid.unwrap_or(1000);
        let gid = launch.namespaces.gid.unwrap_or(1000);
        let (gid, uid) = (nix::unistd::Gid::from_raw(gid), nix::unistd::Uid::from_raw(uid));
        nix::unistd::setresgid(gid, gid, gid).map_err(SysError::on("setresgid", gid.to_string())).map_err(&at)?;
        nix::unistd::setresuid(uid, uid, uid).map_err(SysError::on("setresuid", uid.to_string())).map_err(&at)?;
    }
    // A change of identity clears it, so it comes after. The lifeline is the first belt, this the second.
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(SysError::on("prctl", "PR_SET_PDEATHSIG")).map_err(&at)?;
    if !launch.namespaces.pid {
        nix::sys::prctl::set_child_subreaper(true)
            .map_err(SysError::on("prctl", "PR_SET_CHILD_SUBREAPER"))
            .map_err(&at)?;
    }
    Ok(())
}

fn build_root(launch: &Launch, birth: &Birth) -> Result<mounts::Entered, StageError> {
    match &birth.trees {
        Some(trees) => mounts::enter_root(launch, trees),
        // An ordinary user may clone mounts only here, in a mount namespace of its own.
        None => mounts::enter_root(launch, &mounts::open_trees(&launch.mounts, |_| Ok(None))?),
    }
}

fn network(launch: &Launch, birth: &Birth) -> Result<(), StageError> {
    if launch.namespaces.uts {
        nix::unistd::sethostname("toolcell")
            .map_err(SysError::on("sethostname", "toolcell"))
            .map_err(StageError::at(Step::HostName))?;
    }
    if birth.fresh_net {
        sys::raise_loopback().map_err(StageError::at(Step::Loopback))?;
    }
    Ok(())
}

/// A layer that could not be had: an end when the profile requires it, a report when it does not.
fn missing(launch: &Launch, birth: &Birth, layer: Layer, step: Step, error: &SysError) -> Result<(), StageError> {
    if launch.require.get(&layer).copied().unwrap_or(Need::Required) == Need::Required {
        return Err(StageError::new(step, error.clone()));
    }
    send(birth.report.as_fd(), &Report::Layer(layer, LayerReport::missing(error.to_string())));
    Ok(())
}

fn send_out(report: &OwnedFd, out: &OwnedFd) {
    use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
    let bytes = serde_json::to_vec(&Report::Out).unwrap_or_default();
    let fds = [out.as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&fds)];
    let data = [std::io::IoSlice::new(&bytes)];
    let _ = sendmsg::<()>(report.as_raw_fd(), &data, &rights, MsgFlags::MSG_NOSIGNAL, None);
}

fn watch_children() -> Result<SignalFd, SysError> {
    let mut set = SigSet::empty();
    set.add(Signal::SIGCHLD);
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&set), None).map_err(SysError::on("sigprocmask", "SIGCHLD"))?;
    SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        .map_err(SysError::on("signalfd", "SIGCHLD"))
}

/// This process's own oom_score_adj. Opened early: once the root has changed there may be no /proc, and once the
/// memory is shut the file belongs to root.
struct OomScore {
    file: Option<std::fs::File>,
    was: i32,
}

impl OomScore {
    fn open() -> Self {
        let path = "/proc/self/oom_score_adj";
        let was = std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        Self { file: std::fs::OpenOptions::new().write(true).open(path).ok(), was }
    }

    fn raise(&mut self) {
        self.set((self.was + 500).min(1000));
    }

    fn restore(&mut self) {
        self.set(self.was);
    }

    fn set(&mut self, score: i32) {
        if let Some(file) = &mut self.file {
            let _ = file.write_all(score.to_string().as_bytes());
        }
    }
}

fn harden(launch: &Launch) -> Result<(), StageError> {
    let at = StageError::at(Step::Harden);
    nix::sys::prctl::set_dumpable(false).map_err(SysError::on("prctl", "PR_SET_DUMPABLE")).map_err(&at)?;
    if launch.namespaces.user {
        sys::cap_drop_all().map_err(&at)?;
        nix::sys::prctl::set_no_new_privs().map_err(SysError::on("prctl", "PR_SET_NO_NEW_PRIVS")).map_err(&at)?;
    }
    Ok(())
}

/// Init while the tool runs.
struct Cell<'a> {
    launch: &'a Launch,
    report: OwnedFd,
    control: OwnedFd,
    children: SignalFd,
    tool: Pid,
}

/// Why init stopped waiting.
#[derive(PartialEq, Eq)]
enum Stop {
    /// The tool has ended.
    Ended(End),
    /// Everything has to be killed at once.
    Kill,
    /// The runner is gone: nobody reads what is reported.
    Orphaned,
}

impl Cell<'_> {
    fn supervise(self, executed: OwnedFd, scratch: Option<OwnedFd>) {
        // End of file: the program has been executed, or the tool's process has reported why not.
        let _ = nix::unistd::read(&executed, &mut [0]);
        drop(executed);
        send(self.report.as_fd(), &Report::Started);
        let last = Instant::now() + Duration::from_millis(self.launch.last_resort_ms);
        let stop = self.wait(last);
        let tmp_full = scratch.is_some_and(|folder| is_full(&folder));
        let (end, leaked) = match stop {
            Stop::Ended(end) => {
                send(self.report.as_fd(), &Report::ToolEnded(end));
                (end, self.clear(self.launch.limits.leak_window_ms))
            }
            Stop::Kill | Stop::Orphaned => {
                let _ = self.sweep_kill();
                let end = self.reap_tool();
                self.clear(0);
                (end, 0)
            }
        };
        if stop == Stop::Orphaned {
            return;
        }
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok();
        let micros = |time: nix::sys::time::TimeVal| time.tv_sec() as u64 * 1_000_000 + time.tv_usec() as u64;
        let cpu_us = usage.map_or(0, |usage| micros(usage.user_time()) + micros(usage.system_time()));
        let max_rss = usage.map_or(0, |usage| usage.max_rss() as u64 * 1024);
        send(self.report.as_fd(), &Report::Ended(Ending { end, cpu_us, max_rss, leaked, tmp_full }));
    }

    /// Waits for the tool's end, a command, or the runner's end.
    fn wait(&self, last: Instant) -> Stop {
        loop {
            if let Some(end) = self.reap() {
                return Stop::Ended(end);
            }
            let mut fds = [
                PollFd::new(self.control.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.children.as_fd(), PollFlags::POLLIN),
            ];
            let left = last.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Stop::Kill;
            }
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            let _ = poll(&mut fds, timeout);
            if fds[0].any().unwrap_or(false) {
                let mut byte = [0];
                match nix::unistd::read(&self.control, &mut byte) {
                    Ok(0) => return Stop::Orphaned,
                    Ok(_) if byte[0] == command::TERM => {
                        // The whole group, so that a shell's child hears it too.
                        let _ = kill(Pid::from_raw(-self.tool.as_raw()), Signal::SIGTERM);
                    }
                    Ok(_) => return Stop::Kill,
                    Err(_) => {}
                }
            }
            let _ = self.children.read_signal();
        }
    }

    /// Reaps whatever has ended; says how the tool did, if it was among them.
    fn reap(&self) -> Option<End> {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(status) if status.pid() == Some(self.tool) => {
                    if let Some(end) = end_of(status) {
                        return Some(end);
                    }
                }
                Ok(WaitStatus::StillAlive) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Waits for the killed tool. It cannot refuse SIGKILL; in uninterruptible sleep the runner's patience ends
    /// before this does, and it kills init.
    fn reap_tool(&self) -> End {
        loop {
            match waitpid(self.tool, None).map(end_of) {
                Ok(Some(end)) => return end,
                Ok(None) | Err(nix::errno::Errno::EINTR) => {}
                Err(_) => return End::Signaled(libc::SIGKILL),
            }
        }
    }

    /// Waits `window_ms` for what outlived the tool, then kills it. Returns how many had to be killed.
    fn clear(&self, window_ms: u64) -> u32 {
        let end = Instant::now() + Duration::from_millis(window_ms);
        while self.anything_left() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let killed = self.sweep_kill();
                while self.anything_left() {
                    self.sweep_kill();
                    std::thread::sleep(Duration::from_micros(200));
                }
                return killed;
            }
            let mut fds = [
                PollFd::new(self.children.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.control.as_fd(), PollFlags::POLLIN),
            ];
            let _ = poll(&mut fds, PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX));
            let _ = self.children.read_signal();
            if fds[1].any().unwrap_or(false) {
                // Any command now, and the runner's end, mean the same: no more waiting.
                return self.clear(0);
            }
        }
        0
    }

    /// Whether any process of the call is left. All of them are descendants, so init has a child then.
    fn anything_left(&self) -> bool {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Err(nix::errno::Errno::ECHILD) => return false,
                Ok(WaitStatus::StillAlive) | Err(_) => return true,
                Ok(_) => {}
            }
        }
    }

    /// Kills every process of the call but init; returns how many there were.
    fn sweep_kill(&self) -> u32 {
        if self.launch.namespaces.pid {
            let count = super::sweep::count_processes();
            let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
            count
        } else {
            super::sweep::kill_descendants()
        }
    }
}

fn end_of(status: WaitStatus) -> Option<End> {
    match status {
        WaitStatus::Exited(_, code) => Some(End::Exited(code as u8)),
        WaitStatus::Signaled(_, signal, _) => Some(End::Signaled(signal as i32)),
        _ => None,
    }
}

fn is_full(folder: &OwnedFd) -> bool {
    nix::sys::statfs::fstatfs(folder).is_ok_and(|stat| stat.blocks_free() == 0 || stat.files_free() == 0)
}
