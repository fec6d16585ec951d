//! Finding the tool's program, and everything that has to be executable for it to start.

use super::look;
use crate::cell::script_interpreter;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::text::Text;
use std::path::{Path, PathBuf};

/// PATH of the tool: the folders a bare name is looked up in, but for the one toolcell stands in.
pub fn search_path(private: bool, tool: Option<&Path>) -> String {
    let own = match (private, tool) {
        (true, _) => Some(PathBuf::from("/tool/bin")),
        (false, tool) => tool.map(|tool| tool.join("bin")),
    };
    let own = own.map(|path| format!("{}:", path.display())).unwrap_or_default();
    format!("{own}/usr/local/bin:/usr/bin:/bin")
}

/// The folder inside in which a program that stands beside toolcell appears.
pub const TOOL_BIN: &str = "/tool-bin";

/// Where the system's programs stand.
const SYSTEM: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Interpreters of interpreters are followed this far (the kernel follows 4).
const MAX_CHAIN: usize = 6;

/// Where things stand on the host and inside.
pub struct Scene<'a> {
    /// Whether there is a private root; without one both are the same.
    pub private: bool,
    /// The capability's folder on the host.
    pub tool: Option<&'a Path>,
    /// The folder toolcell stands in.
    pub bin: &'a Path,
    /// The caller's folder that appears at /work.
    pub work: Option<&'a Path>,
}

/// A program with what it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its absolute path inside.
    pub inside: PathBuf,
    /// Itself, its interpreters and its loader, links followed.
    pub executables: Vec<Executable>,
}

/// A file that has to be executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// On the host.
    pub host: PathBuf,
    /// Inside.
    pub inside: PathBuf,
}

impl Scene<'_> {
    /// The path on the host of a path inside.
    pub fn host(&self, inside: &Path) -> PathBuf {
        if !self.private {
            return inside.to_path_buf();
        }
        let below = |prefix: &str, folder: Option<&Path>| {
            inside.strip_prefix(prefix).ok().and_then(|rest| folder.map(|folder| folder.join(rest)))
        };
        below("/tool", self.tool)
            .or_else(|| below(TOOL_BIN, Some(self.bin)))
            .or_else(|| below("/work", self.work))
            .unwrap_or_else(|| inside.to_path_buf())
    }

    /// The path inside of a real path on the host.
    fn inside(&self, host: &Path) -> PathBuf {
        if !self.private {
            return host.to_path_buf();
        }
        let below = |folder: Option<&Path>, prefix: &str| {
            let real = look::real(folder?)?;
            host.strip_prefix(real).ok().map(|rest| Path::new(prefix).join(rest))
        };
        below(self.tool, "/tool")
            .or_else(|| below(self.work, "/work"))
            .or_else(|| host.starts_with("/usr").then(|| host.to_path_buf()))
            .or_else(|| below(Some(self.bin), TOOL_BIN))
            .unwrap_or_else(|| host.to_path_buf())
    }

    /// Finds the program a command names.
    pub fn find(&self, name: &Text) -> Result<Program, Refusal> {
        let path = name.as_path();
        let inside = if name.as_bytes().contains(&b'/') {
            let folder = self.work.filter(|_| !self.private).unwrap_or(Path::new("/work"));
            let absolute = if path.is_absolute() { path.to_path_buf() } else { folder.join(path) };
            // Without `.`; `..` stays, since what it means depends on links.
            let absolute: PathBuf = absolute.components().collect();
            let host = self.host(&absolute);
            if host.is_dir() {
                let message = format!("the program `{}` is a folder", name.lossy());
                return Err(Refusal::new(Reason::StartFailed, message).hint("name the program in it"));
            }
            self.exists(&host).then_some(absolute).ok_or_else(|| self.not_found(&name.lossy(), &[host]))?
        } else {
            self.look_up(&name.lossy(), true)?
        };
        let mut executables = Vec::new();
        self.chain(&inside, &mut executables);
        Ok(Program { inside, executables })
    }

    fn exists(&self, host: &Path) -> bool {
        host.is_file()
    }

    /// `beside`: whether the folder toolcell stands in counts. For what the tool itself looks up, only PATH does.
    fn look_up(&self, name: &str, beside: bool) -> Result<PathBuf, Refusal> {
        let mut places: Vec<PathBuf> = Vec::new();
        match (self.private, self.tool) {
            (true, Some(_)) => places.push(PathBuf::from("/tool/bin")),
            (false, Some(tool)) => places.push(tool.join("bin")),
            (_, None) => {}
        }
        if beside && !SYSTEM.iter().any(|system| look::real(Path::new(system)) == look::real(self.bin)) {
            places.push(if self.private { PathBuf::from(TOOL_BIN) } else { self.bin.to_path_buf() });
        }
        places.extend(SYSTEM.map(PathBuf::from));
        let tried: Vec<PathBuf> = places.into_iter().map(|place| place.join(name)).collect();
        let found = tried.iter().find(|inside| self.exists(&self.host(inside)));
        found.cloned().ok_or_else(|| self.not_found(name, &tried))
    }

    /// Adds `inside` and whatever its head names. What cannot be found is left out: exec then says why.
    fn chain(&self, inside: &Path, found: &mut Vec<Executable>) {
        let Some(host) = look::real(&self.host(inside)) else { return };
        if found.len() >= MAX_CHAIN || found.iter().any(|one| one.host == host) {
            return;
        }
        let beside = self.private && inside.starts_with(TOOL_BIN);
        found.push(Executable {
            inside: if beside { inside.to_path_buf() } else { self.inside(&host) },
            host: host.clone(),
        });
        let head = look::head(&host);
        if let Some(loader) = look::elf_interpreter(&head) {
            self.chain(&loader, found);
        }
        let Some(interpreter) = script_interpreter(&head) else { return };
        // Inside, /proc names other programs than here.
        if Path::new(&interpreter).starts_with("/proc") {
            return;
        }
        self.chain(Path::new(&interpreter), found);
        if Path::new(&interpreter).file_name().is_some_and(|name| name == "env")
            && let Some(name) = env_argument(&head)
            && let Ok(path) = self.look_up(&name, false)
        {
            self.chain(&path, found);
        }
    }
}

impl Scene<'_> {
    fn not_found(&self, name: &str, tried: &[PathBuf]) -> Refusal {
        let list: Vec<String> = tried.iter().map(|path| path.display().to_string()).collect();
        let beside = |path: &PathBuf| path.starts_with(TOOL_BIN) || (!self.private && path.starts_with(self.bin));
        let places = tried.iter().map(|path| match beside(path) {
            true => format!("{}, which is beside toolcell", self.bin.join(name).display()),
            false => path.display().to_string(),
        });
        let places: Vec<String> = places.collect();
        let hint = match self.tool {
            Some(_) => "install it, or put it into the capability's folder: /tool/bin, or a path that begins with ./",
            None => "install it, or give its path: one that begins with ./ is taken below the working directory",
        };
        let message = format!("the program `{name}` does not exist (looked at {})", places.join("; "));
        Refusal::new(Reason::StartFailed, message).hint(hint).with_details(serde_json::json!({"tried": list}))
    }
}

/// What a `#!/usr/bin/env NAME` line starts.
fn env_argument(head: &[u8]) -> Option<String> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let text = String::from_utf8_lossy(line).into_owned();
    let mut words = text.split_whitespace().skip(1).filter(|word| !word.starts_with('-') && !word.contains('='));
    words.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn env_lines_name_the_program_they_start() {
        assert_eq!(env_argument(b"#!/usr/bin/env python3\n").as_deref(), Some("python3"));
        assert_eq!(env_argument(b"#!/usr/bin/env -S A=1 node --x\n").as_deref(), Some("node"));
        assert_eq!(env_argument(b"#!/bin/sh\n"), None);
    }

    #[test]
    fn a_script_brings_its_interpreter_along_and_a_missing_program_says_where_it_was_sought() {
        let dir = std::env::temp_dir().join(format!("toolcell-program-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("bin")).unwrap();
        std::fs::write(dir.join("bin/greet"), "#!/usr/bin/env sh\necho hi\n").unwrap();
        let scene = Scene { private: true, tool: Some(&dir), bin: Path::new("/nonexistent"), work: None };
        let program = scene.find(&Text::from("greet")).unwrap();
        assert_eq!(program.inside, Path::new("/tool/bin/greet"));
        assert!(program.executables.len() >= 3, "{program:?}");
        let missing = scene.find(&Text::from("no-such-program")).unwrap_err();
        assert_eq!(missing.reason, Reason::StartFailed);
        assert!(missing.message.contains("/tool/bin/no-such-program"), "{}", missing.message);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
