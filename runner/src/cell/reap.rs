//! Init while the tool runs: waits, forwards, reaps, kills, reports.

use super::protocol::{Ending, Launch, Report, command};
use super::stage::send;
use crate::outcome::End;
use crate::sys::{self, Reaped};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::unistd::Pid;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// Init while the tool runs.
pub struct Cell<'a> {
    /// What runs.
    pub launch: &'a Launch,
    /// The report socket.
    pub report: OwnedFd,
    /// The lifeline.
    pub control: OwnedFd,
    /// Readable when a child has ended.
    pub children: SignalFd,
    /// The tool's process.
    pub tool: Pid,
}

/// Why init stopped waiting.
#[derive(PartialEq, Eq)]
enum Stop {
    /// The tool has ended.
    Ended(End),
    /// Everything has to be killed at once.
    Kill,
    /// The runner should have ended the call long ago, and may be stopped itself.
    Overdue,
    /// The runner is gone: nobody reads what is reported.
    Orphaned,
}

impl Cell<'_> {
    /// Until the tool has ended and nothing of the call is left.
    pub fn supervise(self, executed: OwnedFd, scratch: Option<OwnedFd>) {
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
            Stop::Kill | Stop::Overdue | Stop::Orphaned => {
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
        let overdue = stop == Stop::Overdue;
        send(self.report.as_fd(), &Report::Ended(Ending { end, cpu_us, leaked, tmp_full, overdue }));
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
                return Stop::Overdue;
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
            match sys::reap(-1, true) {
                Reaped::Exited(pid, code) if pid == self.tool.as_raw() => return Some(End::Exited(code)),
                Reaped::Killed(pid, signal) if pid == self.tool.as_raw() => return Some(End::Signaled(signal)),
                Reaped::Exited(..) | Reaped::Killed(..) => {}
                Reaped::Nothing | Reaped::Childless => return None,
            }
        }
    }

    /// Waits for the killed tool. It cannot refuse SIGKILL; in uninterruptible sleep the runner's patience ends
    /// before this does, and it kills init.
    fn reap_tool(&self) -> End {
        match sys::reap(self.tool.as_raw(), false) {
            Reaped::Exited(_, code) => End::Exited(code),
            Reaped::Killed(_, signal) => End::Signaled(signal),
            Reaped::Nothing | Reaped::Childless => End::Signaled(libc::SIGKILL),
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
            match sys::reap(-1, true) {
                Reaped::Childless => return false,
                Reaped::Nothing => return true,
                Reaped::Exited(..) | Reaped::Killed(..) => {}
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

fn is_full(folder: &OwnedFd) -> bool {
    nix::sys::statfs::fstatfs(folder).is_ok_and(|stat| stat.blocks_free() == 0 || stat.files_free() == 0)
}
