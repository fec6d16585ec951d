//! The launcher: a process with one thread, forked before the runner starts any, that clones the init of each call.
//!
//! Forking costs by what the parent has in memory, and is unsound in a process with threads; so this small one does
//! it. It keeps no secret (its environment is wiped) and outlives the runner by nothing: end of file on its socket
//! ends it. Calls in flight do not need it.

use super::init::{self, Birth};
use super::mounts::{self, Trees};
use super::namespaces::{self, NetAhead, OwnerMaps};
use super::protocol::{Answer, Launch, Manifest, Report, StageError, Step};
use super::stage;
use crate::sys::{self, Forked, OneThread, SysError};
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use std::io::{IoSlice, Read, Seek};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// What kind of launcher this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Whether more than one call is to be expected, so that network namespaces are made ahead again and again.
    pub resident: bool,
    /// Whether the runner's first thread forked it. The parent-death signal follows the thread that forked, so it is
    /// of use only where that thread lives as long as the runner; the socket and the lifeline serve in any case.
    pub of_main: bool,
}

/// The launcher's whole life.
pub fn run(socket: OwnedFd, kind: Kind) -> ! {
    let Ok(alone) = OneThread::proven() else { sys::exit_now(1) };
    // Nothing of the agent's may be held open by processes that live as long as a call.
    sys::live_with_only(socket, kind, alone, live)
}

fn live(socket: OwnedFd, kind: Kind, alone: OneThread) -> ! {
    settle(kind, &alone);
    let groups = nix::unistd::getgroups().unwrap_or_default();
    let mut launcher = Launcher { net: NetAhead::new(), owners: OwnerMaps::default(), groups, kind, socket, alone };
    while launcher.serve_one() {
        if let Some(net) = launcher.net.as_mut().filter(|_| kind.resident) {
            net.refill();
        }
    }
    sys::exit_now(0)
}

/// Cuts every tie to the caller of toolcell that init would inherit.
fn settle(kind: Kind, alone: &OneThread) {
    sys::environment_wipe(alone);
    sys::reset_signals();
    // A terminal's Ctrl-C goes to the whole foreground group; cancelling is the runner's business. (A session of its own
    // would also move it to another scheduling group, and cost it its turn.)
    let own = nix::unistd::Pid::from_raw(0);
    let _ = nix::unistd::setpgid(own, own);
    if kind.of_main {
        let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    }
    // Modes of what is made in the new root must not depend on the caller.
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o022));
    let _ = nix::unistd::chdir("/");
    let flags = nix::fcntl::OFlag::O_RDWR;
    if let Ok(null) = nix::fcntl::open("/dev/null", flags, nix::sys::stat::Mode::empty()) {
        let _ = nix::unistd::dup2_stdin(&null);
        let _ = nix::unistd::dup2_stdout(&null);
        let _ = nix::unistd::dup2_stderr(&null);
    }
}

struct Launcher {
    socket: OwnedFd,
    net: Option<NetAhead>,
    owners: OwnerMaps,
    /// The caller's other groups.
    groups: Vec<nix::unistd::Gid>,
    kind: Kind,
    alone: OneThread,
}

impl Launcher {
    /// False: the runner is gone.
    fn serve_one(&mut self) -> bool {
        let request = match self.receive() {
            Ok(Some(request)) => request,
            Ok(None) => return false,
            Err(error) => return self.answer(&Answer::Failed(error), None),
        };
        match self.launch(request) {
            Ok(pidfd) => self.answer(&Answer::Cloned, Some(pidfd)),
            Err(error) => self.answer(&Answer::Failed(error), None),
        }
    }

    fn receive(&self) -> Result<Option<Request>, StageError> {
        let at = StageError::at(Step::Receive);
        let mut bytes = [0u8; 16];
        let (length, fds) = loop {
            match sys::receive(self.socket.as_fd(), &mut bytes) {
                Err(Errno::EINTR) => {}
                Err(errno) => return Err(at(SysError::new("recvmsg", "launcher socket", errno))),
                Ok(received) => break received,
            }
        };
        if length == 0 {
            return Ok(None);
        }
        let bad = || at(SysError::new("recvmsg", "message", Errno::EBADMSG));
        let manifest = Manifest::decode(&bytes[..length]).ok_or_else(bad)?;
        Request::take(manifest, fds).map(Some)
    }

    fn answer(&self, answer: &Answer, pidfd: Option<OwnedFd>) -> bool {
        let bytes = serde_json::to_vec(answer).unwrap_or_default();
        let raw: Vec<i32> = pidfd.iter().map(|fd| fd.as_raw_fd()).collect();
        let rights = [ControlMessage::ScmRights(&raw)];
        let rights = if raw.is_empty() { &[][..] } else { &rights[..] };
        sendmsg::<()>(self.socket.as_raw_fd(), &[IoSlice::new(&bytes)], rights, MsgFlags::MSG_NOSIGNAL, None).is_ok()
    }

    fn launch(&mut self, request: Request) -> Result<OwnedFd, StageError> {
        let Request { launch, streams, report, control, secrets, cgroups } = request;
        self.take_groups(&launch)?;
        let trees = self.trees(&launch, &report)?;
        let (mapped, maps_written) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)
            .map_err(SysError::on("pipe", ""))
            .map_err(StageError::at(Step::Clone))?;
        let ready = launch.namespaces.net && self.net.as_mut().is_some_and(NetAhead::enter);
        let fresh_net = launch.namespaces.net && !ready;
        let cloned = sys::clone_into(namespaces::flags(&launch.namespaces, fresh_net), true, &self.alone);
        if let Ok(Forked::Child) = cloned {
            drop(maps_written);
            self.forget();
            let dies_with_parent = self.kind.of_main;
            let birth =
                Birth { stdio: streams, secrets, cgroups, report, control, mapped, trees, fresh_net, dies_with_parent };
            init::run(&launch, birth, &self.alone)
        }
        if let Some(net) = self.net.as_ref().filter(|_| ready) {
            net.leave();
        }
        let Forked::Parent((pid, pidfd)) = cloned.map_err(StageError::at(Step::Clone))? else {
            sys::exit_now(1);
        };
        if let Err(error) = self.maps(&launch, pid) {
            let _ = sys::pidfd_kill(pidfd.as_fd(), libc::SIGKILL);
            return Err(StageError::new(Step::Maps, error));
        }
        drop(maps_written);
        Ok(pidfd)
    }

    /// A tool with an id of its own must not come with the caller's other groups, and all their rights. An ordinary
    /// user may not drop them.
    fn take_groups(&self, launch: &Launch) -> Result<(), StageError> {
        if self.groups.is_empty() || !nix::unistd::geteuid().is_root() {
            return Ok(());
        }
        let groups = if launch.namespaces.user { &[][..] } else { &self.groups };
        nix::unistd::setgroups(groups).map_err(SysError::on("setgroups", "")).map_err(StageError::at(Step::Identity))
    }

    /// Closes what only the launcher needs: an init must not hold it, nor count it against the tool's limit.
    fn forget(&mut self) {
        self.owners = OwnerMaps::default();
        self.net = None;
        if let Ok(null) = nix::fcntl::open("/dev/null", nix::fcntl::OFlag::O_CLOEXEC, nix::sys::stat::Mode::empty()) {
            self.socket = null;
        }
    }

    /// A root launcher opens the mounts here, with owners mapped to the call's id; an ordinary user's init does it.
    fn trees(&mut self, launch: &Launch, report: &OwnedFd) -> Result<Option<Trees>, StageError> {
        let Some(outside) = launch.outside.filter(|_| launch.mounts.private_root) else {
            return Ok(None);
        };
        self.owners.trim();
        for bind in &launch.mounts.binds {
            if let Some(owner) = bind.owner {
                self.owners.make(owner, outside, &self.alone)?;
            }
        }
        let owners = &self.owners;
        let map =
            |bind: &crate::call::Bind| bind.owner.and_then(|owner| owners.made(owner, outside)).map(|ns| ns.as_fd());
        let unmapped = |path: &str| stage::try_send(report.as_fd(), &Report::Unmapped(path.to_owned()));
        mounts::open_trees(&launch.mounts, map, unmapped).map(Some)
    }

    fn maps(&self, launch: &Launch, pid: i32) -> Result<(), SysError> {
        if !launch.namespaces.user {
            return Ok(());
        }
        let inside = (launch.namespaces.uid.unwrap_or(1000), launch.namespaces.gid.unwrap_or(1000));
        let own = || (nix::unistd::geteuid().as_raw(), nix::unistd::getegid().as_raw());
        namespaces::write_maps(pid, inside, launch.outside.unwrap_or_else(own))
    }
}

/// A launch with its descriptors.
struct Request {
    launch: Launch,
    streams: [OwnedFd; 3],
    report: OwnedFd,
    control: OwnedFd,
    secrets: Option<OwnedFd>,
    cgroups: Vec<OwnedFd>,
}

impl Request {
    fn take(manifest: Manifest, fds: Vec<OwnedFd>) -> Result<Self, StageError> {
        let at = StageError::at(Step::Receive);
        let short = || at(SysError::new("recvmsg", "descriptors", Errno::EBADMSG));
        let mut fds = fds.into_iter();
        let mut next = || fds.next().ok_or_else(short);
        let mut file = std::fs::File::from(next()?);
        let streams = [next()?, next()?, next()?];
        let (report, control) = (next()?, next()?);
        let secrets = if manifest.secrets { Some(next()?) } else { None };
        let cgroups = (0..manifest.cgroups).map(|_| next()).collect::<Result<_, _>>()?;
        let mut bytes = Vec::new();
        file.rewind()
            .and_then(|()| file.read_to_end(&mut bytes))
            .map_err(SysError::io("read", "launch"))
            .map_err(&at)?;
        let launch = serde_json::from_slice(&bytes).map_err(|error| {
            let mut failed = at(SysError::new("read", "launch", Errno::EBADMSG));
            failed.note = Some(error.to_string());
            failed
        })?;
        Ok(Self { launch, streams, report, control, secrets, cgroups })
    }
}
