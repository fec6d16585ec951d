//! Control groups: made for one call below the caller's own, limited, read back, counted and removed.

mod files;
mod place;
mod sweep;

pub use place::{Controller, Place};
pub use sweep::sweep;

use crate::call::Limits;
use cgroups_rs::fs::cpu::CpuController;
use cgroups_rs::fs::memory::MemController;
use cgroups_rs::fs::pid::PidController;
use cgroups_rs::fs::{Cgroup, MaxValue};
use files::{number, word_after};
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use sweep::{lock, making};

/// The prefix of every group's name; the call's id follows.
pub const PREFIX: &str = "toolcell-";

/// Why a group could not be had, for people: the file and the kernel's answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CgroupError {
    /// The fact.
    pub message: String,
    /// The kernel's answer, where it was one.
    pub errno: nix::errno::Errno,
}

impl CgroupError {
    fn at(path: &Path, error: &std::io::Error) -> Self {
        let errno = nix::errno::Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO));
        Self { message: format!("{}: {error}", path.display()), errno }
    }

    fn fact(message: String) -> Self {
        Self { message, errno: nix::errno::Errno::EINVAL }
    }
}

/// What the kernel counted in a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// User and system time, microseconds.
    pub cpu_us: Option<u64>,
    /// Highest memory, bytes.
    pub memory_peak: Option<u64>,
    /// Most processes at once.
    pub pids_peak: Option<u64>,
    /// Processes killed for memory.
    pub oom_kills: Option<u64>,
    /// Forks refused.
    pub pids_limit_hits: Option<u64>,
    /// Time the quota stopped it, microseconds.
    pub throttled_us: Option<u64>,
}

/// One call's group. Dropping it removes it.
#[derive(Debug)]
pub struct Group {
    v2: bool,
    dirs: Vec<PathBuf>,
    /// Held while the group is in use: another start of toolcell sweeps away groups that nobody holds.
    _locks: Vec<Option<nix::fcntl::Flock<File>>>,
    /// What the limits lack, for people.
    pub lacking: Vec<String>,
}

impl Group {
    /// Makes a group named after `id` with the limits, each read back.
    ///
    /// # Errors
    /// The file and the kernel's answer, or the limit that did not take.
    pub fn create(place: &Place, id: &str, limits: &Limits) -> Result<Self, CgroupError> {
        let name = format!("{PREFIX}{id}");
        let v2 = matches!(place, Place::V2 { .. });
        let missing = place.lacking();
        if !missing.is_empty() {
            return Err(CgroupError::fact(format!("the controllers {} are not to be had here", missing.join(", "))));
        }
        if let Place::V2 { base } = place {
            delegate(base)?;
        }
        // Until the group is held, nobody may take it for one that was left.
        let _making: Vec<_> = place.bases().into_iter().map(making).collect();
        let dirs: Vec<PathBuf> = place.bases().iter().map(|base| base.join(&name)).collect();
        let made = Cgroup::new_with_specified_controllers(Box::new(place.clone()), &name, Some(place.names()));
        let mut group = Self { v2, dirs, _locks: Vec::new(), lacking: Vec::new() };
        let cgroup =
            made.map_err(|error| CgroupError::fact(format!("{}: {}", group.first().display(), cause(&error))))?;
        group._locks = group.dirs.iter().map(|dir| lock(dir)).collect::<Result<_, _>>()?;
        group.limit(&cgroup, limits)?;
        Ok(group)
    }

    fn first(&self) -> &Path {
        self.dirs.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The folder of one controller's part.
    fn dir(&self, controller: &str) -> Option<&Path> {
        if self.v2 {
            return self.dirs.first().map(PathBuf::as_path);
        }
        // On v1 the files of a controller carry its name.
        self.dirs.iter().map(PathBuf::as_path).find(|dir| dir.join(controller).exists())
    }

    /// The smallest CPU quota of the groups above, for a period of 100 ms.
    fn outer_quota(&self) -> Option<i64> {
        let read = |dir: &Path, file: &str| number(&fs::read_to_string(dir.join(file)).ok()?);
        let above = self.dir("cpu.cfs_quota_us")?.ancestors().skip(1);
        let quotas = above.filter_map(|dir| {
            let (quota, period) = (read(dir, "cpu.cfs_quota_us")?, read(dir, "cpu.cfs_period_us")?);
            i64::try_from(quota.checked_mul(100_000)?.checked_div(period)?).ok()
        });
        quotas.min()
    }

    /// Sets every limit and reads it back: the crate itself ignores a refused write of a memory limit.
    fn limit(&mut self, cgroup: &Cgroup, limits: &Limits) -> Result<(), CgroupError> {
        let memory = i64::try_from(limits.memory).unwrap_or(i64::MAX);
        let mut quota = (limits.cpu * 100_000.0).round().max(1000.0) as i64;
        if let Some(outer) = self.outer_quota().filter(|_| !self.v2) {
            // On v1 a group may not be given more than those above it; less is a limit kept.
            quota = quota.min(outer);
        }
        if let Some(controller) = cgroup.controller_of::<MemController>() {
            let _ = controller.set_limit(memory);
            let _ = controller.set_memswap_limit(if self.v2 { 0 } else { memory });
        }
        if let Some(controller) = cgroup.controller_of::<PidController>() {
            let _ = controller.set_pid_max(MaxValue::Value(i64::try_from(limits.pids).unwrap_or(i64::MAX)));
        }
        if let Some(controller) = cgroup.controller_of::<CpuController>() {
            let _ = controller.set_cfs_quota_and_period(Some(quota), Some(100_000));
        }
        if self.v2 {
            // The whole tree dies with the first victim: half a tool's answer is no answer.
            let _ = fs::write(self.first().join("memory.oom.group"), "1");
            self.verify("memory.max", &memory.to_string())?;
            self.verify("cpu.max", &format!("{quota} 100000"))?;
            self.verify_swap("memory.swap.max", "0")?;
        } else {
            self.verify("memory.limit_in_bytes", &memory.to_string())?;
            self.verify("cpu.cfs_quota_us", &quota.to_string())?;
            self.verify_swap("memory.memsw.limit_in_bytes", &memory.to_string())?;
        }
        self.verify("pids.max", &limits.pids.to_string())
    }

    fn verify(&self, file: &str, want: &str) -> Result<(), CgroupError> {
        let dir = self.dir(file).ok_or_else(|| CgroupError::fact(format!("{file} is not to be had here")))?;
        let path = dir.join(file);
        let have = fs::read_to_string(&path).map_err(|error| CgroupError::at(&path, &error))?;
        let have = have.trim();
        // The kernel keeps memory limits in whole pages.
        let near = match (have.parse::<u64>(), want.parse::<u64>()) {
            (Ok(have), Ok(want)) if file.starts_with("memory") => have <= want && want - have < 65_536,
            _ => have == want,
        };
        if near { Ok(()) } else { Err(CgroupError::fact(format!("{} is {have}, not {want}", path.display()))) }
    }

    /// Without swap accounting the limit holds only while the host has no swap.
    fn verify_swap(&mut self, file: &str, want: &str) -> Result<(), CgroupError> {
        if self.dir(file).is_some_and(|dir| dir.join(file).exists()) {
            return self.verify(file, want);
        }
        let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
        if swaps.lines().count() > 1 {
            self.lacking.push(format!("swap: this kernel has no {file}"));
        }
        Ok(())
    }

    /// The files through which a process enters the group, opened with the runner's rights.
    ///
    /// # Errors
    /// EACCES where the caller may not move processes there.
    pub fn entrances(&self) -> Result<Vec<OwnedFd>, CgroupError> {
        let open = |dir: &PathBuf| {
            let path = dir.join("cgroup.procs");
            File::options().write(true).open(&path).map(OwnedFd::from).map_err(|error| CgroupError::at(&path, &error))
        };
        self.dirs.iter().map(open).collect()
    }

    /// What has been counted so far.
    pub fn counters(&self) -> Counters {
        if self.v2 { self.counters_v2() } else { self.counters_v1() }
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.dir(file)?.join(file)).ok()
    }

    fn counters_v1(&self) -> Counters {
        Counters {
            cpu_us: None,
            memory_peak: self.read("memory.max_usage_in_bytes").and_then(|text| number(&text)),
            pids_peak: self.read("pids.peak").and_then(|text| number(&text)),
            oom_kills: self.read("memory.oom_control").and_then(|text| word_after(&text, "oom_kill")),
            pids_limit_hits: self.read("pids.events").and_then(|text| word_after(&text, "max")),
            throttled_us: self
                .dir("cpu.cfs_quota_us")
                .and_then(|dir| fs::read_to_string(dir.join("cpu.stat")).ok())
                .and_then(|text| word_after(&text, "throttled_time"))
                .map(|nanos| nanos / 1000),
        }
    }

    fn counters_v2(&self) -> Counters {
        let cpu = self.read("cpu.stat").unwrap_or_default();
        Counters {
            cpu_us: word_after(&cpu, "usage_usec"),
            memory_peak: self.read("memory.peak").and_then(|text| number(&text)),
            pids_peak: self.read("pids.peak").and_then(|text| number(&text)),
            oom_kills: self.read("memory.events").and_then(|text| word_after(&text, "oom_kill")),
            pids_limit_hits: self.read("pids.events").and_then(|text| word_after(&text, "max")),
            throttled_us: word_after(&cpu, "throttled_usec"),
        }
    }

    /// Kills every process in the group. For calls without a pid namespace; a process that forks meanwhile is met by
    /// the next round.
    pub fn kill(&self) {
        if self.v2 && fs::write(self.first().join("cgroup.kill"), "1").is_ok() {
            return;
        }
        for _ in 0..100 {
            let procs = fs::read_to_string(self.first().join("cgroup.procs")).unwrap_or_default();
            let pids: Vec<i32> = procs.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid > 0).collect();
            if pids.is_empty() {
                return;
            }
            for pid in pids {
                let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
            }
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for dir in &self.dirs {
            files::remove(dir);
        }
    }
}

/// Enables the controllers for groups below `base`, where they are not.
fn delegate(base: &Path) -> Result<(), CgroupError> {
    let path = base.join("cgroup.subtree_control");
    let have = fs::read_to_string(&path).map_err(|error| CgroupError::at(&path, &error))?;
    let wanted = ["memory", "pids", "cpu"].into_iter().filter(|name| !have.split_whitespace().any(|one| one == *name));
    let wanted: Vec<String> = wanted.map(|name| format!("+{name}")).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    fs::write(&path, wanted.join(" ")).map_err(|error| CgroupError::at(&path, &error))
}

fn cause(error: &cgroups_rs::fs::error::Error) -> String {
    use std::error::Error as _;
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Begins the wait that the call's entry into its control group would otherwise begin: on v1 the first move of a process
/// in some 20 ms waits until every processor has passed a quiet point (5 to 14 ms), and one that follows it does not.
/// This process moves to where it is; call it from a thread that nobody waits for.
pub fn warm_up() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    if let Ok(Place::V1(controllers)) = Place::find()
        && let Some(controller) = controllers.first()
    {
        let _ = fs::write(controller.base.join("cgroup.procs"), "0");
    }
}
