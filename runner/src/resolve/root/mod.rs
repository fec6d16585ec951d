//! Section `mounts`: the root a profile shows, and the Landlock rules that go with each part of it.

mod made;
mod system;

use super::files::FileIn;
use super::program::{Program, Scene, TOOL_BIN};
use super::rights::{self, Rules, TOOL_ID};
use super::{Context, INSIDE, Layout, OUTSIDE, Sections, look};
use crate::call::{Access, Bind, Mounts, Note, Owner};
use crate::layer::Layer;
use crate::profile::Profile;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::text::Text;
use std::path::{Path, PathBuf};

/// Lays the root out, part by part.
pub struct Builder<'a> {
    profile: &'a Profile,
    ctx: &'a Context<'a>,
    private: bool,
    tool: Option<&'a Path>,
    work: Option<PathBuf>,
    work_writable: bool,
    /// Whether a folder is shown in which somebody of the host may listen on a path socket.
    foreign: bool,
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
        let (work, work_writable, foreign) = (None, false, false);
        Self { profile, ctx, private, tool, work, work_writable, foreign, mounts, rules, notes }
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
        for file in files {
            self.rules.allow(&file.inside, &[Access::Read]);
            self.foreign |= file.host.is_dir();
            if self.private {
                let owner = self.owner(&file.host);
                let bind = Bind { owner, recursive: false, ..bind(&file.host, &file.inside) };
                self.mounts.binds.push(bind);
            }
        }
        if self.private && !files.is_empty() {
            self.rules.allow("/in", &[Access::List]);
        }
    }

    /// Whose files have to appear as the tool's own: only a root runner gives the tool another id.
    fn owner(&self, path: &Path) -> Option<Owner> {
        look::owner(path).filter(|_| self.ctx.host.root)
    }

    /// The sections, with the program in them.
    pub fn finish(mut self, program: &Program) -> Result<Sections, Refusal> {
        self.uncovered()?;
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
        } else {
            self.host_rules(program);
        }
        let (cwd, out_dir) = self.scratch();
        let foreign = self.private && (self.foreign || self.work.is_some());
        Ok(Sections {
            mounts: self.mounts,
            landlock: self.rules.section(self.profile),
            seccomp: rights::seccomp(self.profile, foreign),
            cwd,
            out_dir,
            notes: self.notes,
        })
    }

    /// A rule below a folder that is the tool's own would be covered by it, and so be no rule at all.
    fn uncovered(&self) -> Result<(), Refusal> {
        let own = crate::profile::OWN;
        let rules = self.profile.read.iter().chain(&self.profile.write).chain(&self.profile.exec);
        let covered = rules.filter(|rule| rule.path != Path::new("/work")).find_map(|rule| {
            own.iter().find(|folder| rule.path.starts_with(folder)).map(|folder| (rule.path.display(), folder))
        });
        let Some((path, folder)) = covered.filter(|_| self.private) else { return Ok(()) };
        let message =
            format!("the profile `{}` names {path}, but {folder} inside is the tool's own", self.profile.name);
        Err(Refusal::new(Reason::InvalidContract, message)
            .hint("name a path outside of it, or bind the folder elsewhere on the host"))
    }

    fn executable(&self, path: &Path) -> bool {
        self.profile.exec.iter().any(|rule| path.starts_with(&rule.path))
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
            self.foreign = true;
            self.mounts.binds.push(Bind { writable: true, owner, recursive: false, ..bind(&real, &rule.path) });
            self.rules.allow(&rule.path, &[Access::Read, Access::Write]);
        }
        Ok(())
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
