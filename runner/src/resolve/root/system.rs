//! What a profile shows of the host's system.

use super::{Builder, Program, bind, look};
use crate::call::{Access, Bind, Link, Note};
use crate::envelope::WarningCode;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::text::Text;
use std::path::Path;

/// Folders that only hold libraries: mapped from by every dynamic program, so never noexec.
const LIBRARIES: [&str; 6] =
    ["/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib", "/usr/local/lib64"];
/// What stands at the top on hosts that have not merged it into /usr, and is a link on the others.
const TOP: [(&str, bool); 6] =
    [("/bin", false), ("/sbin", false), ("/lib", true), ("/lib32", true), ("/lib64", true), ("/libx32", true)];
/// Files of the host's /etc that programs need and that tell nothing about the host's users.
const ETC: [&str; 3] = ["/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime"];

impl Builder<'_> {
    /// What the profile lets the tool read.
    pub(super) fn system(&mut self) -> Result<(), Refusal> {
        let mut shown = 0;
        for rule in &self.profile.read {
            let Some(real) = look::real(&rule.path) else {
                if !rule.optional {
                    self.missing(&rule.path);
                }
                continue;
            };
            shown += 1;
            self.foreign |=
                !["/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64"].iter().any(|top| rule.path.starts_with(top));
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

    /// The host's /etc, as far as it is shown.
    pub(super) fn etc(&mut self) {
        let etc = self.mounts.binds.iter().any(|bind| bind.target.as_path() == Path::new("/etc"));
        for path in ETC.iter().map(Path::new).filter(|_| !etc) {
            match std::fs::read_link(path) {
                // A link in a folder of the profile's may have brought it along already.
                Ok(_) if self.mounts.links.iter().any(|link| link.path.as_path() == path) => {}
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

    /// The rules of a domain without mounts: the same paths, as they stand on the host.
    pub(super) fn host_rules(&mut self, program: &Program) {
        for rule in self.profile.read.iter().filter(|rule| rule.path.exists()) {
            self.rules.allow(&rule.path, &[Access::Read]);
        }
        for rule in self.profile.exec.iter().filter(|rule| rule.path.exists()) {
            self.rules.allow(&rule.path, &[Access::Read, Access::Execute]);
        }
        for rule in self.profile.write.iter().filter(|rule| rule.path.exists()) {
            self.rules.allow(&rule.path, &[Access::Read, Access::Write]);
        }
        for path in TOP.iter().map(|(path, _)| *path).chain(ETC).chain(["/etc/passwd", "/etc/group", "/etc/hosts"]) {
            self.rules.allow(path, &[Access::Read]);
        }
        // Landlock keeps the tool from looking into other processes; their names and states stay visible.
        self.rules.allow("/proc", &[Access::Read]);
        for device in super::made::DEVICES.iter().filter(|path| Path::new(path).exists()) {
            self.rules.allow(device, &[Access::Device]);
        }
        if let Some(tool) = self.tool {
            let all = !self.profile.exec.is_empty();
            self.rules.allow(tool, if all { &[Access::Read, Access::Execute][..] } else { &[Access::Read] });
        }
        if let Some(work) = self.work.clone() {
            let access = if self.work_writable { &[Access::Read, Access::Write][..] } else { &[Access::Read] };
            self.rules.allow(&work, access);
        }
        for one in &program.executables {
            self.rules.allow(&one.host, &[Access::Read, Access::Execute]);
        }
    }
}
