//! Pid 1 of the call: builds the root, starts the tool, reaps, and ends everything.
//!
//! It is a target, since the tool has its id: so it holds no capability once the tool runs, its memory is shut
//! (PR_SET_DUMPABLE), it has no signal handler (signals from inside reach a pid 1 only through one), and it stands
//! outside the tool's control group.

use super::mounts::{self, Trees};
use super::protocol::{Launch, Report, StageError, Step};
use super::reap::Cell;
use super::stage::{self, Streams, send};
use crate::layer::{Layer, LayerReport, Need};
use crate::sys::{self, Forked, OneThread, SysError};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

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
    /// Whether the parent-death signal is of use (see the launcher's kind).
    pub dies_with_parent: bool,
}

/// Init's whole life.
pub fn run(launch: &Launch, birth: Birth, alone: &OneThread) -> ! {
    let report = match birth.report.try_clone() {
        Ok(report) => report,
        Err(_) => sys::exit_now(1),
    };
    if let Err(error) = live(launch, birth, alone) {
        send(report.as_fd(), &Report::Failed(error));
    }
    sys::exit_now(0)
}

fn live(launch: &Launch, mut birth: Birth, alone: &OneThread) -> Result<(), StageError> {
    let _ = nix::unistd::read(&birth.mapped, &mut [0]);
    let mut oom = OomScore::open();
    identity(launch, birth.dies_with_parent)?;
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
    let tool = match sys::fork(alone).map_err(StageError::at(Step::Fork))? {
        Forked::Child => {
            drop((release, executed));
            let error = stage::enter(launch, streams);
            send(birth.report.as_fd(), &Report::Failed(error));
            drop(exec_mark);
            sys::exit_now(0)
        }
        Forked::Parent(pid) => Pid::from_raw(pid),
    };
    drop((streams, exec_mark));
    oom.restore();
    if let Err(error) = harden(launch) {
        // Before the pipe is closed, which would let the tool run beside an init that it could enter.
        let _ = nix::sys::signal::kill(tool, Signal::SIGKILL);
        return Err(error);
    }
    drop((oom, release));
    let cell = Cell { launch, report: birth.report, control: birth.control, children, tool };
    cell.supervise(executed, root.and_then(|root| root.scratch));
    Ok(())
}

fn identity(launch: &Launch, dies_with_parent: bool) -> Result<(), StageError> {
    let at = StageError::at(Step::Identity);
    if launch.namespaces.user {
        let uid = launch.namespaces.uid.unwrap_or(1000);
        let gid = launch.namespaces.gid.unwrap_or(1000);
        let (gid, uid) = (nix::unistd::Gid::from_raw(gid), nix::unistd::Uid::from_raw(uid));
        nix::unistd::setresgid(gid, gid, gid).map_err(SysError::on("setresgid", gid.to_string())).map_err(&at)?;
        nix::unistd::setresuid(uid, uid, uid).map_err(SysError::on("setresuid", uid.to_string())).map_err(&at)?;
    }
    // Without a pid namespace it has to outlive the runner for a moment, to find and kill what nothing else would end.
    if dies_with_parent && launch.namespaces.pid {
        // A change of identity clears it, so it comes after. The lifeline is the first belt, this the second.
        nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)
            .map_err(SysError::on("prctl", "PR_SET_PDEATHSIG"))
            .map_err(&at)?;
    }
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
        None => mounts::enter_root(launch, &mounts::open_trees(&launch.mounts, |_| None, |_| ())?),
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
        // Init executes nothing, so its bounding set is of no use to anyone.
        sys::cap_drop().map_err(&at)?;
        nix::sys::prctl::set_no_new_privs().map_err(SysError::on("prctl", "PR_SET_NO_NEW_PRIVS")).map_err(&at)?;
    }
    Ok(())
}
