//! Paths: what of reading, writing and executing is allowed, by which rule, and what stops the rest.

use super::place::{Found, Place, find};
use super::who::Who;
use super::{Rule, Sandbox, Stop, Verdict};
use crate::call::{Access, Bind};
use crate::layer::Layer;
use crate::profile::Section;
use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Execute,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Execute => "execute",
        }
    }

    /// The bit of a file's mode.
    fn bit(self) -> u32 {
        match self {
            Kind::Read => 4,
            Kind::Write => 2,
            Kind::Execute => 1,
        }
    }
}

/// Folders inside that are there for a capability, or for a program beside toolcell.
const OF_THE_CALL: [&str; 3] = ["/tool", "/tool-bin", "/in"];

/// What may be done at an absolute path, as it stands inside. For a folder: listing it, making files in it, and
/// executing what is in it.
pub fn path(sandbox: &Sandbox<'_>, asked: &Path) -> Vec<Verdict> {
    let kinds = [Kind::Read, Kind::Write, Kind::Execute];
    let Some(found) = find(sandbox.mounts, asked) else {
        return kinds.map(|kind| Verdict::stopped(kind.name(), vec![Stop::new("host", "too many links")])).to_vec();
    };
    if sandbox.mounts.private_root && OF_THE_CALL.iter().any(|folder| found.path.starts_with(folder)) {
        let note = "it is there only where the call brings it: the capability's folder, its files, its program";
        return kinds.map(|kind| Verdict::depends(kind.name(), note)).to_vec();
    }
    kinds.map(|kind| judge(sandbox, &found, asked, kind)).to_vec()
}

fn judge(sandbox: &Sandbox<'_>, found: &Found<'_>, asked: &Path, kind: Kind) -> Verdict {
    if matches!(found.place, Place::Absent) {
        let stop = Stop::new("root", "not shown: no rule of the profile names it");
        return Verdict { note: own_program(sandbox, kind), ..Verdict::stopped(kind.name(), vec![stop]) };
    }
    let mut stops = Vec::new();
    stops.extend(mount(sandbox, found, kind));
    stops.extend(landlock(sandbox, found, kind));
    if let Place::Host { bind, path } = &found.place {
        stops.extend(host(sandbox, found, *bind, path, kind));
    }
    if !stops.is_empty() {
        return Verdict { note: own_program(sandbox, kind), ..Verdict::stopped(kind.name(), stops) };
    }
    match &found.place {
        Place::Proc if found.path != Path::new("/proc") => {
            Verdict::depends(kind.name(), "the kernel decides for each process and file of /proc")
        }
        Place::Folder if kind == Kind::Execute => {
            Verdict::depends(kind.name(), "it only leads to what the profile names; ask for what is below it")
        }
        Place::Scratch if kind == Kind::Read && !is_scratch_folder(sandbox, &found.path) => {
            Verdict::depends(kind.name(), "empty when the call begins: what the tool has put there, it may read")
        }
        _ => Verdict::allowed(kind.name(), rule(sandbox, found, asked, kind)),
    }
}

fn is_scratch_folder(sandbox: &Sandbox<'_>, path: &Path) -> bool {
    sandbox.mounts.scratch.iter().any(|folder| folder.as_path() == path)
}

/// What is executable whatever the profile says.
fn own_program(sandbox: &Sandbox<'_>, kind: Kind) -> Option<String> {
    let held = sandbox.mounts.private_root || sandbox.landlock.is_some();
    (held && kind == Kind::Execute)
        .then(|| "the tool's own program, its interpreters and its loader may be executed all the same".to_owned())
}

fn mount(sandbox: &Sandbox<'_>, found: &Found<'_>, kind: Kind) -> Option<Stop> {
    let root = |why: &str| Some(Stop::new("root", why));
    match (&found.place, kind) {
        (Place::Scratch, Kind::Execute) => root("the scratch space is mounted noexec"),
        (Place::Proc, Kind::Execute) => root("/proc is mounted noexec"),
        (Place::Device(_), Kind::Execute) => root("devices are mounted noexec"),
        (Place::Device(path), _) if path == Path::new("/dev/tty") => {
            Some(Stop::new("session", "the call has no terminal"))
        }
        (Place::Made | Place::Folder, Kind::Write) => root("the root is sealed read-only"),
        (Place::Made, Kind::Execute) => root("a small file that toolcell makes up, and no program"),
        (Place::Host { bind: Some(bind), path }, _) => match kind {
            _ if left_behind(sandbox, bind, path) => root("what the host has mounted there does not come along"),
            Kind::Write if !bind.writable => root("mounted read-only: no [[filesystem.write]] rule holds it"),
            Kind::Execute if !bind.exec => root("mounted noexec: no [[filesystem.exec]] rule holds it"),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a path lies in a mount of the host below a bind that comes alone. An ordinary user cannot leave those
/// behind.
fn left_behind(sandbox: &Sandbox<'_>, bind: &Bind, path: &Path) -> bool {
    if bind.recursive || sandbox.namespaces.outside.is_none() {
        return false;
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut points = mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(Path::new);
    let source = std::fs::canonicalize(bind.source.as_path()).unwrap_or_default();
    points.any(|point| point != source && point.starts_with(&source) && path.starts_with(point))
}

/// The rights of every rule at or above the path.
fn landlock(sandbox: &Sandbox<'_>, found: &Found<'_>, kind: Kind) -> Option<Stop> {
    let section = sandbox.landlock?;
    let holds = |rule: &Path| {
        let real = find(sandbox.mounts, rule).filter(|real| !matches!(real.place, Place::Absent));
        rule.is_absolute() && real.is_some_and(|real| found.path.starts_with(&real.path))
    };
    let folder = match &found.place {
        Place::Host { path, .. } => path.is_dir(),
        Place::Folder => true,
        _ => false,
    };
    let gives = |access: Access| match kind {
        Kind::Read => matches!(access, Access::Read | Access::Device) || (folder && access == Access::List),
        Kind::Write => access == Access::Write || (!folder && access == Access::Device),
        Kind::Execute => access == Access::Execute,
    };
    // Whatever is made up of folders only has nothing to execute.
    if kind == Kind::Execute && matches!(found.place, Place::Folder) {
        return None;
    }
    let given =
        section.rules.iter().any(|rule| rule.access.iter().any(|access| gives(*access)) && holds(rule.path.as_path()));
    (!given).then(|| Stop::new("landlock", format!("no rule gives the right to {}", kind.name())))
}

/// What the host itself would say: whether it is there, what it is, and whose.
fn host(sandbox: &Sandbox<'_>, found: &Found<'_>, bind: Option<&Bind>, path: &Path, kind: Kind) -> Vec<Stop> {
    let mut stops = Vec::new();
    let mut add = |why: String| stops.push(Stop::new("host", why));
    for (through, folder) in &found.passed {
        match std::fs::metadata(folder) {
            Ok(data) if data.is_dir() && !Who::of(sandbox, *through).may(&data, 1) => {
                add(format!("its permissions do not let the tool enter {}", folder.display()));
            }
            _ => {}
        }
    }
    let who = Who::of(sandbox, bind);
    let parent = path.parent().unwrap_or(Path::new("/"));
    let (at, data) = match (std::fs::metadata(path), kind) {
        (Ok(data), _) => (path, data),
        // What is not there may be made, where its folder is.
        (Err(_), Kind::Write) => match std::fs::metadata(parent) {
            Ok(data) if data.is_dir() => (parent, data),
            _ => return vec![Stop::new("host", "its folder does not exist")],
        },
        (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => {
            add("it does not exist".to_owned());
            return stops;
        }
        (Err(error), _) => {
            add(error.to_string());
            return stops;
        }
    };
    if !who.may(&data, kind.bit()) {
        add(format!("its permissions do not let the tool {} it", kind.name()));
    } else if kind == Kind::Write && at.is_dir() && !who.may(&data, 1) {
        add("its permissions do not let the tool enter it".to_owned());
    }
    stops.extend(sort(&data, bind, kind));
    stops.extend(mounted(at, kind));
    stops
}

/// What is no file and no folder.
fn sort(data: &Metadata, bind: Option<&Bind>, kind: Kind) -> Option<Stop> {
    let sort = data.file_type();
    let device = sort.is_char_device() || sort.is_block_device();
    let why = match kind {
        Kind::Execute if !data.is_file() && !data.is_dir() => "it is no program",
        _ if sort.is_socket() => "it is a socket, which cannot be opened",
        _ if device && bind.is_some() => "devices outside of [devices] cannot be opened",
        _ => return None,
    };
    Some(Stop::new("host", why))
}

/// How the host has mounted the file system.
fn mounted(path: &Path, kind: Kind) -> Option<Stop> {
    use nix::sys::statvfs::{FsFlags, statvfs};
    let flags = statvfs(path).ok()?.flags();
    let why = match kind {
        Kind::Write if flags.contains(FsFlags::ST_RDONLY) => Some("the host has mounted it read-only"),
        Kind::Execute if flags.contains(FsFlags::ST_NOEXEC) => Some("the host has mounted it noexec"),
        _ => None,
    };
    why.map(|why| Stop::new("host", why))
}

/// The rule that an allowed access goes back to: the narrowest of the profile's, else what toolcell gives by itself.
fn rule(sandbox: &Sandbox<'_>, found: &Found<'_>, asked: &Path, kind: Kind) -> Rule {
    let sections: &[Section] = match kind {
        Kind::Read => &[Section::Write, Section::Exec, Section::Read],
        Kind::Write => &[Section::Write],
        Kind::Execute => &[Section::Exec],
    };
    let own = |text: &str| Rule { rule: text.to_owned(), from: None };
    let named = sections.iter().flat_map(|section| {
        let rules = section.rules(sandbox.profile).iter().map(|rule| rule.path.as_path());
        let below = rules.filter(move |path| asked.starts_with(path) || found.path.starts_with(path));
        below.map(move |path| (*section, path))
    });
    let narrowest = named.max_by_key(|(_, path)| path.components().count());
    let held = sandbox.mounts.private_root || sandbox.landlock.is_some();
    match (&found.place, narrowest) {
        (Place::Host { .. }, _) if !held => sandbox.without(Layer::Root),
        (Place::Host { .. }, Some((section, path))) => {
            Rule { rule: format!("{} {}", section.name(), path.display()), from: sandbox.chain.of_path(section, path) }
        }
        (Place::Host { .. }, None) if asked.starts_with("/work") => own("exec shows the working directory at /work"),
        (Place::Host { .. }, None) => own("comes along with what the profile reads"),
        (Place::Device(path), _) => {
            let path = path.display().to_string();
            match sandbox.chain.of_device(&path) {
                Some(from) => Rule { rule: format!("devices.allow {path}"), from: Some(from) },
                None => own("a device that every program may expect"),
            }
        }
        (Place::Scratch, _) => own("scratch space of the call's own"),
        (Place::Made, _) => own("a small file that toolcell makes up"),
        (Place::Proc, _) => own("/proc of the call's own"),
        (Place::Folder | Place::Absent | Place::Link(_), _) => own("a folder that leads to what the profile names"),
    }
}
