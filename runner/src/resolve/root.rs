//! Section `mounts`: the root a profile shows, and the Landlock rules that go with each part of it.

use super::files::FileIn;
use super::program::{Program, Scene, TOOL_BIN};
use super::rights::{self, Rules, TOOL_ID};
use super::{Context, INSIDE, Layout, OUTSIDE, Sections, look};
use crate::call::{Access, Bind, Link, MadeFile, Mounts, Note, Owner};
use crate::envelope::WarningCode;
use crate::layer::Layer;
use crate::profile::{NetworkMode, Profile};
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::text::Text;
use std::path::{Path, PathBuf};

/// Folders that only hold libraries: mapped from by every dynamic program, so never noexec.
const LIBRARIES: [&str; 6] =
    ["/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib", "/usr/local/lib64"];
/// What stands at the top on hosts that have not merged it into /usr, and is a link on the others.
const TOP: [(&str, bool); 6] =
    [("/bin", false), ("/sbin", false), ("/lib", true), ("/lib32", true), ("/lib64", true), ("/libx32", true)];
/// Devices every program may expect. /dev/tty is there and refuses, since the call has no terminal.
const DEVICES: [&str; 6] = ["/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];
/// Files of the host's /etc that programs need and that tell nothing about the host's users.
const ETC: [&str; 3] = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"];

/// Lays the root out, part by part.
pub struct Builder<'a> {
    profile: &'a Profile,
    ctx: &'a Context<'a>,
    private: bool,
    tool: Option<&'a Path>,
    work: Option<PathBuf>,
    work_writable: bool,
    mounts: Mounts,
    rules: Rules,
    notes: Vec<Note>,
}

impl<'a> Builder<'a> {
    /// Starts with nothing.
    pub fn new(profile: &'a Profile, ctx: &'a Context<'a>, private: bool, tool: Option<&'a Path>) -> Self {
        let mounts = Mounts {
            private_root: private,
            binds: Vec::new(),
            links: Vec::new(),
            files: Vec::new(),
            devices: Vec::new(),
            proc: private && super::is_on(profile, Layer::Proc),
            scratch: Vec::new(),
        };
        let (rules, notes) = (Rules::default(), Vec::new());
        Self { profile, ctx, private, tool, work: None, work_writable: false, mounts, rules, notes }
    }

    /// The caller's writable folder. The profile says whether there may be one.
    pub fn workspace(&mut self, folder: Option<&Path>) -> Result<(), Refusal> {
        let wants = self.profile.write.iter().any(|rule| rule.path == Path::new("/work"));
        match (wants, folder) {
            (true, Some(folder)) => {
                self.work = Some(super::exec::caller_folder(folder, self.ctx)?);
                self.work_writable = true;
                Ok(())
            }
            (false, None) => Ok(()),
            (true, None) => Err(Refusal::new(
                Reason::Usage,
                format!("the profile `{}` needs a folder to work in", self.profile.name),
            )
            .hint("name it with --workspace DIR")),
            (false, Some(_)) => Err(Refusal::new(
                Reason::Usage,
                format!("the profile `{}` has no folder that may be written", self.profile.name),
            )
            .hint("leave --workspace out, or use --profile workspace where it is granted")),
        }
    }

    /// The caller's folder at /work, read-only.
    pub fn work_read_only(&mut self, folder: PathBuf) {
        self.work = Some(folder);
    }

    /// The folder that is the caller's own, if there is one.
    pub fn work(&self) -> Option<&Path> {
        self.work.as_deref()
    }

    /// Where the writable folders stand.
    pub fn layout(&self) -> Layout {
        if self.private { INSIDE } else { OUTSIDE }
    }

    /// Finds the program.
    pub fn program(&self, name: &Text) -> Result<Program, Refusal> {
        let scene = Scene { private: self.private, tool: self.tool, bin: self.ctx.bin_dir, work: self.work.as_deref() };
        scene.find(name)
    }

    /// The caller's files, read-only.
    pub fn files_in(&mut self, files: &[FileIn]) {
        for file in files.iter().filter(|_| self.private) {
            let owner = self.owner(&file.host);
            let bind = Bind { owner, recursive: false, ..bind(&file.host, &file.inside) };
            self.mounts.binds.push(bind);
        }
        if !files.is_empty() {
            self.rules.allow("/in", &[Access::Read]);
        }
    }

    /// Whose files have to appear as the tool's own: only a root runner gives the tool another id.
    fn owner(&self, path: &Path) -> Option<Owner> {
        look::owner(path).filter(|_| self.ctx.host.root)
    }

    /// The sections, with the program in them.
    pub fn finish(mut self, program: &Program) -> Result<Sections, Refusal> {
        let files_in = std::mem::take(&mut self.mounts.binds);
        if self.private {
            self.system()?;
            self.etc();
            self.tool_folder();
            self.executables(program);
            self.mounts.binds.extend(files_in);
            self.work_folder();
            self.written()?;
            self.devices();
            self.made_files();
        }
        let (cwd, out_dir) = self.scratch();
        let foreign = self.private && self.work.is_some();
        Ok(Sections {
            mounts: self.mounts,
            landlock: self.rules.section(self.profile),
            seccomp: rights::seccomp(self.profile, foreign),
            cwd,
            out_dir,
            notes: self.notes,
        })
    }

    fn executable(&self, path: &Path) -> bool {
        self.profile.exec.iter().any(|rule| path.starts_with(&rule.path))
    }

    /// What the profile lets the tool read.
    fn system(&mut self) -> Result<(), Refusal> {
        let mut shown = 0;
        for rule in &self.profile.read {
            let Some(real) = look::real(&rule.path) else {
                self.missing(&rule.path);
                continue;
            };
            shown += 1;
            let exec = self.executable(&rule.path);
            self.mounts.binds.push(Bind { exec, ..bind(&real, &rule.path) });
            self.rules.allow(&rule.path, &[Access::Read]);
            if rule.path == Path::new("/usr") {
                self.usr(exec);
            } else {
                self.follow_links(&rule.path);
            }
        }
        if shown == 0 {
            let message = format!("none of the paths that the profile `{}` shows exists here", self.profile.name);
            return Err(Refusal::new(Reason::SandboxUnavailable, message)
                .hint("check the [[filesystem.read]] rules of the profile"));
        }
        for rule in self.profile.exec.iter().filter(|rule| rule.path.exists()) {
            self.rules.allow(&rule.path, &[Access::Read, Access::Execute]);
            if !self.profile.read.iter().any(|read| read.path == rule.path) {
                self.mounts.binds.push(Bind { exec: true, ..bind(&rule.path, &rule.path) });
            }
        }
        Ok(())
    }

    fn missing(&mut self, path: &Path) {
        let message = format!("{} does not exist on this host; the other rules hold", path.display());
        self.notes.push(Note { code: WarningCode::ProfilePathMissing, message });
    }

    /// /usr with its library folders, and what belongs to it at the top.
    fn usr(&mut self, exec: bool) {
        if !exec {
            for library in LIBRARIES.iter().map(Path::new).filter(|path| path.is_dir() && !path.is_symlink()) {
                self.mounts.binds.push(Bind { exec: true, ..bind(library, library) });
            }
        }
        for (top, library) in TOP {
            let path = Path::new(top);
            if let Ok(target) = std::fs::read_link(path) {
                self.mounts.links.push(Link { path: Text::from(top), target: Text::from(target.as_path()) });
            } else if path.is_dir() {
                self.mounts.binds.push(Bind { exec: exec || library, ..bind(path, path) });
                let access = if exec { &[Access::Read, Access::Execute][..] } else { &[Access::Read] };
                self.rules.allow(path, access);
            }
        }
    }

    /// Links in a folder that lead out of it, as certificate folders have them: what they lead to comes along, each
    /// file alone, so that nothing beside it (private keys, say) is shown.
    fn follow_links(&mut self, folder: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.flatten().filter(|entry| entry.path().is_symlink()).take(2000) {
            let Some(real) = look::real(&entry.path()).filter(|real| real.is_file()) else { continue };
            let covered = |path: &Path| self.mounts.binds.iter().any(|bind| path.starts_with(bind.target.as_path()));
            let mut hop = entry.path();
            while let Ok(target) = std::fs::read_link(&hop) {
                let next = hop.parent().unwrap_or(Path::new("/")).join(&target);
                if !covered(&hop) && !self.mounts.links.iter().any(|link| link.path.as_path() == hop) {
                    self.mounts
                        .links
                        .push(Link { path: Text::from(hop.as_path()), target: Text::from(target.as_path()) });
                }
                hop = next;
            }
            if !covered(&real) {
                self.mounts.binds.push(bind(&real, &real));
                self.rules.allow(&real, &[Access::Read]);
            }
        }
    }

    fn etc(&mut self) {
        for path in ETC.iter().map(Path::new) {
            match std::fs::read_link(path) {
                Ok(target) => {
                    self.mounts.links.push(Link { path: Text::from(path), target: Text::from(target.as_path()) });
                }
                Err(_) if path.exists() => self.mounts.binds.push(bind(path, path)),
                Err(_) => {}
            }
        }
        // The root itself: what stands there is what this Call names.
        self.rules.allow("/", &[Access::List]);
        self.rules.allow("/etc", &[Access::Read]);
        if self.mounts.proc {
            self.rules.allow("/proc", &[Access::Read]);
        }
    }

    fn tool_folder(&mut self) {
        let Some(tool) = self.tool else { return };
        let owner = self.owner(tool);
        self.mounts.binds.push(Bind { exec: true, owner, ..bind(tool, Path::new("/tool")) });
        let all = !self.profile.exec.is_empty();
        self.rules.allow("/tool", if all { &[Access::Read, Access::Execute] } else { &[Access::Read] });
    }

    /// The program, its interpreters and its loader: executable whatever else is not.
    fn executables(&mut self, program: &Program) {
        for one in &program.executables {
            self.rules.allow(&one.inside, &[Access::Read, Access::Execute]);
            let beside = one.inside.starts_with(TOOL_BIN);
            let at_work = self.work.is_some() && one.inside.starts_with("/work");
            let covered = self.mounts.binds.iter().rev().find(|bind| one.inside.starts_with(bind.target.as_path()));
            // On hosts that have not merged /usr, the path inside may lead through a link made later.
            if beside || (at_work && self.private) || covered.is_none_or(|bind| !bind.exec) {
                let owner = if beside || at_work { self.owner(&one.host) } else { None };
                let bind = Bind { exec: true, owner, ..bind(&one.host, &one.inside) };
                self.mounts.binds.push(bind);
            }
        }
    }

    fn work_folder(&mut self) {
        let Some(work) = self.work.clone() else { return };
        let access = if self.work_writable { &[Access::Read, Access::Write][..] } else { &[Access::Read] };
        self.rules.allow("/work", access);
        let (owner, writable) = (self.owner(&work), self.work_writable);
        let folder = Bind { writable, owner, recursive: false, ..bind(&work, Path::new("/work")) };
        // Before a program that stands in it, which is bound over it.
        let at = self.mounts.binds.iter().position(|bind| bind.target.as_path().starts_with("/work"));
        self.mounts.binds.insert(at.unwrap_or(self.mounts.binds.len()), folder);
    }

    fn written(&mut self) -> Result<(), Refusal> {
        for rule in self.profile.write.iter().filter(|rule| rule.path != Path::new("/work")) {
            let Some(real) = look::real(&rule.path) else {
                let message = format!(
                    "{}, which the profile `{}` lets tools write, does not exist",
                    rule.path.display(),
                    self.profile.name
                );
                return Err(Refusal::new(Reason::InvalidContract, message)
                    .hint("make the folder, or mend the [[filesystem.write]] rule"));
            };
            let owner = self.owner(&real);
            self.mounts.binds.push(Bind { writable: true, owner, recursive: false, ..bind(&real, &rule.path) });
            self.rules.allow(&rule.path, &[Access::Read, Access::Write]);
        }
        Ok(())
    }

    fn devices(&mut self) {
        let named = self.profile.devices.iter().map(String::as_str);
        for device in DEVICES.into_iter().chain(named).filter(|path| Path::new(path).exists()) {
            self.mounts.devices.push(Text::from(device));
            self.rules.allow(device, &[Access::Device]);
        }
        self.rules.allow("/dev", &[Access::Read]);
        for (name, target) in [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
            self.mounts.links.push(Link { path: Text::from(format!("/dev/{name}")), target: Text::from(target) });
        }
    }

    fn made_files(&mut self) {
        let dns = if self.profile.network == NetworkMode::None { "files" } else { "files dns" };
        let files = [
            (
                "/etc/passwd",
                format!(
                    "tool:x:{TOOL_ID}:{TOOL_ID}:tool:/home/tool:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
                ),
            ),
            ("/etc/group", format!("tool:x:{TOOL_ID}:\nnogroup:x:65534:\n")),
            ("/etc/hosts", "127.0.0.1 localhost toolcell\n::1 localhost\n".to_owned()),
            ("/etc/nsswitch.conf", format!("passwd: files\ngroup: files\nhosts: {dns}\n")),
            ("/etc/hostname", "toolcell\n".to_owned()),
        ];
        let made = files.into_iter().map(|(path, content)| MadeFile { path: Text::from(path), content });
        self.mounts.files.extend(made);
    }

    /// The writable folders; returns the working directory and the out folder.
    fn scratch(&mut self) -> (PathBuf, PathBuf) {
        let layout = self.layout();
        let mut folders = vec![layout.home, layout.tmp];
        if self.private {
            folders.push("/dev/shm");
        }
        if self.work.is_none() {
            folders.push(layout.work);
        }
        folders.sort_unstable();
        for folder in folders {
            self.mounts.scratch.push(Text::from(folder));
            self.rules.allow(folder, &[Access::Read, Access::Write]);
        }
        let out = if self.work.is_some() { layout.home } else { layout.work };
        let cwd = match (&self.work, self.private) {
            (Some(work), false) => work.clone(),
            _ => PathBuf::from(layout.work),
        };
        (cwd, Path::new(out).join("out"))
    }
}

/// A read-only, recursive bind without execution.
fn bind(source: &Path, target: &Path) -> Bind {
    Bind {
        source: Text::from(source),
        target: Text::from(target),
        writable: false,
        exec: false,
        recursive: true,
        owner: None,
    }
}
