//! A scene: a temporary folder with a registry, a working directory, a state folder and a configuration, in which the
//! real binary is called with an environment built from nothing.

use crate::answer::{Answer, finish};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The workspace's folder.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("/")).to_path_buf()
}

/// The folder the workspace's binaries are built into: above the test executable's own `deps`.
pub fn binary_dir() -> PathBuf {
    let exe = std::env::current_exe().expect("a test knows its own path");
    exe.ancestors().nth(2).expect("a test stands in target/.../deps").to_path_buf()
}

/// A binary of the workspace.
///
/// # Panics
/// When it has not been built: `cargo test --workspace` builds all.
pub fn binary(name: &str) -> PathBuf {
    let path = binary_dir().join(name);
    assert!(path.is_file(), "{} is not built; run the whole workspace's tests", path.display());
    path
}

/// A temporary folder with everything a call needs. Removed when dropped.
pub struct Scene {
    root: PathBuf,
    uid: Option<u32>,
    env: Vec<(String, String)>,
}

impl Scene {
    /// An empty scene. Everyone may enter it, so that it also serves calls made under another id.
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("toolcell-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let root = std::env::temp_dir().join(name);
        for folder in ["registry", "work", "config", "state", "home", "tmp"] {
            fs::create_dir_all(root.join(folder)).expect("a scene can be made");
        }
        Self { root: root.canonicalize().expect("the scene exists"), uid: None, env: Vec::new() }
    }

    /// Scenes for every kind of caller that can be had here: the present user and, for root, an ordinary one too.
    pub fn everyone() -> Vec<Self> {
        let mut scenes = vec![Self::new()];
        if crate::needs::is_root() {
            scenes.push(Self::new().as_uid(65534));
        }
        scenes
    }

    /// The same scene, called as another user. Everything in it is given to that user.
    pub fn as_uid(mut self, uid: u32) -> Self {
        self.uid = Some(uid);
        self
    }

    /// Whether the calls are made with root's rights.
    pub fn calls_as_root(&self) -> bool {
        self.uid.map_or_else(crate::needs::is_root, |uid| uid == 0)
    }

    /// With a variable in toolcell's environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The scene's folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The working directory of the calls.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The registry.
    pub fn registry(&self) -> PathBuf {
        self.root.join("registry")
    }

    /// Writes a file below the scene, with the folders above it.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("below the scene")).expect("folders can be made");
        fs::write(&path, text).expect("a file can be written");
        path
    }

    /// Writes the user's configuration.
    pub fn config(&self, text: &str) -> &Self {
        let path = self.write("config/toolcell/toolcell.toml", text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("the mode can be set");
        self
    }

    /// Adds a capability that takes any object and answers anything: a script below its folder, and what more
    /// tool.toml says.
    pub fn script(&self, id: &str, script: &str, tool_toml: &str) -> &Self {
        let path = self.write(&format!("registry/{id}/run"), script);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the mode can be set");
        self.capability(id, &json!({}), &format!("command = [\"./run\"]\n{tool_toml}"))
    }

    /// Adds a capability: members that replace the contract's defaults, and tool.toml without its first line.
    pub fn capability(&self, id: &str, contract: &Value, tool_toml: &str) -> &Self {
        let mut all = json!({
            "schema": 1, "id": id.split('@').next(), "version": "1.0.0", "title": id, "description": "made for a test",
            "input_schema": {"type": "object"},
        });
        for (key, value) in contract.as_object().expect("an object") {
            all[key] = value.clone();
        }
        self.write(&format!("registry/{id}/capability.json"), format!("{all:#}"));
        self.write(&format!("registry/{id}/tool.toml"), format!("schema = 1\n{tool_toml}"));
        self
    }

    /// Calls a capability with an input.
    pub fn run(&self, capability: &str, input: &Value, flags: &[&str]) -> Answer {
        let mut args = vec!["run", capability];
        args.extend(flags);
        self.toolcell(&args, input.to_string().as_bytes())
    }

    /// Executes a command.
    pub fn exec(&self, flags: &[&str], command: &[&str]) -> Answer {
        let mut args = vec!["exec"];
        args.extend(flags);
        args.push("--");
        args.extend(command);
        self.toolcell(&args, b"")
    }

    /// The real binary as a command, ready for more; environment built from nothing.
    pub fn command(&self) -> Command {
        let mut command = match self.uid.filter(|uid| *uid != nix::unistd::geteuid().as_raw()) {
            None => Command::new(binary("toolcell")),
            Some(uid) => {
                give_away(&self.root, uid);
                let mut command = Command::new("setpriv");
                command.args([format!("--reuid={uid}"), format!("--regid={uid}")]);
                command.args(["--clear-groups", "--inh-caps=-all"]).arg(binary("toolcell"));
                command
            }
        };
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.root.join("home"))
            .env("XDG_CONFIG_HOME", self.root.join("config"))
            .env("TMPDIR", self.root.join("tmp"))
            .env("TOOLCELL_STATE", self.root.join("state"))
            .env("TOOLCELL_REGISTRY", self.registry())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.work());
        command
    }

    /// Calls the binary with these arguments and this standard input, and reads all it says.
    pub fn toolcell(&self, args: &[&str], stdin: &[u8]) -> Answer {
        finish(self.command().args(args), stdin)
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn give_away(path: &Path, uid: u32) {
    let _ = std::os::unix::fs::lchown(path, Some(uid), Some(uid));
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            give_away(&entry.path(), uid);
        }
    }
}
