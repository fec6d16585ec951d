//! Where a call's control group can be made.

use cgroups_rs::fs::cpu::CpuController;
use cgroups_rs::fs::memory::MemController;
use cgroups_rs::fs::pid::PidController;
use cgroups_rs::fs::{Cgroup, Hierarchy, Subsystem};
use std::fs;
use std::path::{Path, PathBuf};

/// The controllers a call is limited by. Not cpuacct: init has waited for every process and knows their CPU time.
const LIMITING: [&str; 3] = ["memory", "pids", "cpu"];

/// A place below the caller's own group, so that no outer limit is escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// cgroup v1: one hierarchy for each controller; the caller's own group in each.
    V1(Vec<Controller>),
    /// cgroup v2: one hierarchy.
    V2 {
        /// The group below which calls get theirs.
        base: PathBuf,
    },
}

/// One v1 controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    /// Its name, such as `memory`.
    pub name: String,
    /// The caller's own group in its hierarchy.
    pub base: PathBuf,
}

impl Place {
    /// Finds the place by /proc/self/cgroup and /proc/self/mountinfo.
    ///
    /// # Errors
    /// The reason why there is none, for people.
    pub fn find() -> Result<Self, String> {
        let read = |path| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
        Self::parse(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?)
    }

    /// The same from the two texts (cgroups(7), proc_pid_mountinfo(5)).
    ///
    /// # Errors
    /// The reason why there is none, for people.
    pub fn parse(own: &str, mountinfo: &str) -> Result<Self, String> {
        let mounts: Vec<Mount> = mountinfo.lines().filter_map(Mount::parse).collect();
        let groups: Vec<Own> = own.lines().filter_map(Own::parse).collect();
        let mut controllers = Vec::new();
        for name in LIMITING {
            let Some(group) = groups.iter().find(|group| group.controllers.iter().any(|one| one == name)) else {
                continue;
            };
            let mount = mounts.iter().find(|mount| !mount.unified && mount.options.iter().any(|one| one == name));
            if let Some(base) = mount.and_then(|mount| mount.resolve(&group.path)) {
                controllers.push(Controller { name: name.to_owned(), base });
            }
        }
        if controllers.iter().any(|controller| LIMITING.contains(&controller.name.as_str())) {
            return Ok(Place::V1(controllers));
        }
        let group = groups.iter().find(|group| group.controllers.is_empty());
        let mount = mounts.iter().find(|mount| mount.unified);
        match (group, mount) {
            (Some(group), Some(mount)) => {
                let own = mount.resolve(&group.path).ok_or("the caller's own group is not below the cgroup2 mount")?;
                v2_base(&own, &mount.point).map(|base| Place::V2 { base })
            }
            _ => Err("no control groups are mounted".to_owned()),
        }
    }

    /// The limiting controllers that are not to be had here.
    pub fn lacking(&self) -> Vec<&'static str> {
        match self {
            Place::V1(controllers) => {
                let has = |name: &&str| controllers.iter().any(|controller| controller.name == **name);
                LIMITING.iter().filter(|name| !has(name)).copied().collect()
            }
            Place::V2 { base } => {
                let there = fs::read_to_string(base.join("cgroup.controllers")).unwrap_or_default();
                LIMITING.iter().filter(|name| !there.split_whitespace().any(|one| one == **name)).copied().collect()
            }
        }
    }

    /// The folders below which a call's group appears.
    pub fn bases(&self) -> Vec<&Path> {
        match self {
            Place::V1(controllers) => controllers.iter().map(|controller| controller.base.as_path()).collect(),
            Place::V2 { base } => vec![base],
        }
    }

    /// The controllers' names, as the crate takes them.
    pub fn names(&self) -> Vec<String> {
        match self {
            Place::V1(controllers) => controllers.iter().map(|controller| controller.name.clone()).collect(),
            Place::V2 { .. } => LIMITING.iter().map(|name| (*name).to_owned()).collect(),
        }
    }
}

/// The nearest group on the way up that may hold groups with controllers: one without processes of its own (the
/// no-internal-process rule; the hierarchy's root is exempt). A group with a limit of its own is never passed,
/// because a sibling of it would escape the limit.
fn v2_base(own: &Path, root: &Path) -> Result<PathBuf, String> {
    let mut group = own.to_path_buf();
    loop {
        let empty = fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|text| text.trim().is_empty());
        if empty || group == root {
            return Ok(group);
        }
        if let Some(limit) = own_limit(&group) {
            return Err(format!(
                "{} has processes of its own and the limit {limit}, which a group beside it would escape",
                group.display()
            ));
        }
        match group.parent() {
            Some(parent) if parent.starts_with(root) => group = parent.to_path_buf(),
            _ => return Err(format!("no group from {} up may hold groups with controllers", own.display())),
        }
    }
}

fn own_limit(group: &Path) -> Option<String> {
    let files =
        ["memory.max", "pids.max", "cpu.max", "memory.high", "memory.swap.max", "io.max", "cpuset.cpus", "cpuset.mems"];
    files.into_iter().find_map(|file| {
        let text = fs::read_to_string(group.join(file)).ok()?;
        let text = text.trim();
        (!text.is_empty() && !text.starts_with("max")).then(|| format!("{file} {text}"))
    })
}

impl Hierarchy for Place {
    fn subsystems(&self) -> Vec<Subsystem> {
        let one = |name: &str, base: &PathBuf, v2: bool| match name {
            "memory" => Some(Subsystem::Mem(MemController::new(base.clone(), base.clone(), v2))),
            "pids" => Some(Subsystem::Pid(PidController::new(base.clone(), base.clone(), v2))),
            "cpu" => Some(Subsystem::Cpu(CpuController::new(base.clone(), base.clone(), v2))),
            _ => None,
        };
        match self {
            Place::V1(controllers) => {
                controllers.iter().filter_map(|controller| one(&controller.name, &controller.base, false)).collect()
            }
            Place::V2 { base } => LIMITING.iter().filter_map(|name| one(name, base, true)).collect(),
        }
    }

    fn root(&self) -> PathBuf {
        match self {
            // The crate asks for it on v2 only.
            Place::V1(_) => PathBuf::new(),
            Place::V2 { base } => base.clone(),
        }
    }

    fn root_control_group(&self) -> Cgroup {
        Cgroup::load(Box::new(self.clone()), "")
    }

    fn parent_control_group(&self, _path: &str) -> Cgroup {
        self.root_control_group()
    }

    fn v2(&self) -> bool {
        matches!(self, Place::V2 { .. })
    }
}

/// A line of /proc/self/cgroup.
struct Own {
    controllers: Vec<String>,
    path: String,
}

impl Own {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Some(Self { controllers, path: parts.next()?.to_owned() })
    }
}

/// A cgroup line of /proc/self/mountinfo.
struct Mount {
    root: String,
    point: PathBuf,
    unified: bool,
    options: Vec<String>,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let left: Vec<&str> = left.split(' ').collect();
        let right: Vec<&str> = right.split(' ').collect();
        let kind = *right.first()?;
        if kind != "cgroup" && kind != "cgroup2" {
            return None;
        }
        Some(Self {
            root: (*left.get(3)?).to_owned(),
            point: PathBuf::from(left.get(4)?),
            unified: kind == "cgroup2",
            options: right.get(2)?.split(',').map(str::to_owned).collect(),
        })
    }

    /// The folder of the group `path`, which is counted from the hierarchy's root, while the mount may show only a
    /// part of it.
    fn resolve(&self, path: &str) -> Option<PathBuf> {
        let below = if self.root == "/" { path } else { path.strip_prefix(self.root.as_str())? };
        // A group outside the caller's cgroup namespace is shown with `..`.
        if below.split('/').any(|part| part == "..") {
            return None;
        }
        Some(self.point.join(below.trim_start_matches('/')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1_MOUNTS: &str = "30 20 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                             31 20 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
                             32 20 0:28 /sub /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                             33 20 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    fn base(place: &Place, name: &str) -> String {
        let Place::V1(controllers) = place else { panic!("not v1") };
        controllers.iter().find(|one| one.name == name).unwrap().base.display().to_string()
    }

    #[test]
    fn v1_groups_stand_below_the_callers_own_in_each_hierarchy() {
        let own = "4:memory:/outer/limit\n3:pids:/\n2:cpu,cpuacct:/sub/a\n0::/\n";
        let place = Place::parse(own, V1_MOUNTS).unwrap();
        assert_eq!(base(&place, "memory"), "/sys/fs/cgroup/memory/outer/limit");
        assert_eq!(base(&place, "pids"), "/sys/fs/cgroup/pids/");
        assert_eq!(base(&place, "cpu"), "/sys/fs/cgroup/cpu/a");
        assert!(place.lacking().is_empty());
    }

    #[test]
    fn a_controller_that_is_not_mounted_is_lacking() {
        let place = Place::parse("4:memory:/\n", V1_MOUNTS).unwrap();
        assert_eq!(place.lacking(), ["pids", "cpu"]);
    }

    #[test]
    fn no_control_groups_at_all_is_said() {
        assert_eq!(Place::parse("0::/\n", "").unwrap_err(), "no control groups are mounted");
    }

    #[test]
    fn v2_goes_up_to_a_group_without_processes_but_past_no_limit() {
        let root = std::env::temp_dir().join(format!("toolcell-place-{}", std::process::id()));
        let own = root.join("slice/run");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("cgroup.procs"), "1\n").unwrap();
        fs::write(root.join("slice/cgroup.procs"), "").unwrap();
        assert_eq!(v2_base(&own, &root).unwrap(), root.join("slice"));
        fs::write(own.join("memory.max"), "1048576\n").unwrap();
        assert!(v2_base(&own, &root).unwrap_err().contains("memory.max 1048576"));
        fs::remove_dir_all(&root).unwrap();
    }
}
