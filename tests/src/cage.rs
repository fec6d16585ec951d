//! The probe in its cage: one act tried under several profiles, so that a denial stands beside its control.

use crate::{Answer, Scene, binary, needs};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Who calls toolcell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Root.
    Root,
    /// Someone without rights: uid 65534, or whoever runs the tests when that is not root.
    User,
}

/// The user of [`Who::User`] where the tests run as root.
pub const USER: u32 = 65534;

/// Profiles made for controls, each a built-in one without one layer: what fails under the built-in and succeeds
/// here was stopped by that layer.
const LOOSER: [(&str, &str, &str); 3] = [
    ("no-seccomp", "strict", "seccomp = \"off\""),
    ("no-landlock", "strict", "landlock = \"off\""),
    ("standard-no-seccomp", "standard", "seccomp = \"off\""),
];

/// A scene with the probe as the capability `probe`, and every profile granted.
pub struct Cage {
    /// The scene.
    pub scene: Scene,
    /// Who calls.
    pub who: Who,
}

/// See [`Cage::neighbour`]; ended when dropped.
pub struct Neighbour(std::process::Child);

impl Neighbour {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Cage {
    /// A cage whose calls are made by `who`. None: this process cannot be root, which has been said.
    pub fn of(who: Who, test: &str) -> Option<Self> {
        if who == Who::Root && !needs::is_root() {
            needs::skip(test, "not root");
            return None;
        }
        let mut scene = Scene::new();
        if who == Who::User && needs::is_root() {
            scene = scene.as_uid(USER);
        }
        let mut granted = vec!["open", "workspace", "network"];
        for (name, parent, require) in LOOSER {
            let text = format!("schema = 1\nextends = \"{parent}\"\nwhy = \"a control\"\n[require]\n{require}\n");
            scene.write(&format!("config/toolcell/profiles/{name}.toml"), text);
            granted.push(name);
        }
        scene.config(&format!(
            "registry = [\"../../registry\"]\n[[grant]]\ncapability = \"*\"\nprofiles = {granted:?}\n[[grant]]\nexec = true\nprofiles = {granted:?}\n"
        ));
        scene.capability("probe", &json!({}), "command = [\"probe\"]\nprofile = \"strict\"\n");
        Some(Self { scene, who })
    }

    /// A process beside toolcell, of the same user, with a variable: what means of looking find there, they could
    /// find elsewhere too.
    pub fn neighbour(&self, name: &str, value: &str) -> Neighbour {
        let mut command = match self.who {
            Who::User if needs::is_root() => {
                let mut command = Command::new("setpriv");
                command.args([format!("--reuid={USER}"), format!("--regid={USER}")]).args(["--clear-groups", "sleep"]);
                command
            }
            _ => Command::new("sleep"),
        };
        let child = command.arg("60").env_clear().env("PATH", "/usr/bin:/bin").env(name, value).spawn();
        let child = child.expect("sleep starts");
        // Until the last exec the memory belongs to a program on the way there.
        std::thread::sleep(std::time::Duration::from_millis(300));
        Neighbour(child)
    }

    /// The same cage, with a variable in toolcell's environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.scene = self.scene.env(name, value);
        self
    }

    /// Adds a profile of the scene's own, granted to all.
    pub fn profile(&self, name: &str, text: &str) {
        self.scene
            .write(&format!("config/toolcell/profiles/{name}.toml"), format!("schema = 1\nwhy = \"a test\"\n{text}"));
        let path = self.scene.path().join("config/toolcell/toolcell.toml");
        let config = std::fs::read_to_string(path).expect("a cage has a config");
        self.scene.config(&format!("{config}[[grant]]\ncapability = \"*\"\nprofiles = [\"{name}\"]\n"));
    }

    /// The whole answer to an act under a profile.
    pub fn call(&self, profile: &str, act: &Value) -> Answer {
        self.scene.run("probe", act, &["--profile", profile])
    }

    /// What the probe answers under a profile.
    ///
    /// # Panics
    /// With the envelope, when the call did not end `ok`.
    pub fn probe(&self, profile: &str, act: &Value) -> Value {
        self.call(profile, act).output()
    }

    /// Only the `result` of an act under a profile.
    pub fn result(&self, profile: &str, act: &Value) -> String {
        result_of(&self.probe(profile, act))
    }

    /// What the probe answers without toolcell, called by the same user in the same environment and folder: the
    /// control where no profile lets an act succeed.
    ///
    /// # Panics
    /// When it cannot be run.
    pub fn bare(&self, act: &Value) -> Value {
        let like = self.scene.command();
        let mut command = if self.who == Who::User && needs::is_root() {
            let mut command = Command::new("setpriv");
            command.args([format!("--reuid={USER}"), format!("--regid={USER}")]);
            command.args(["--clear-groups", "--inh-caps=-all"]).arg(binary("probe"));
            command
        } else {
            Command::new(binary("probe"))
        };
        command.env_clear().envs(like.get_envs().filter_map(|(name, value)| value.map(|value| (name, value))));
        command.current_dir(self.scene.work()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the probe starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut stdin, act.to_string().as_bytes()).expect("the probe reads");
        drop(stdin);
        let output = child.wait_with_output().expect("the probe ends");
        serde_json::from_slice(&output.stdout).expect("the probe answers")
    }

    /// The act succeeds under `open`, and fails under `strict` and `standard` with this error.
    ///
    /// # Panics
    /// When it does not.
    pub fn denied(&self, act: &Value, errno: &str) {
        assert_eq!(self.result("open", act), "ok", "the control of {act} failed");
        self.refused("strict", act, errno);
        self.refused("standard", act, errno);
    }

    /// The act succeeds under `control`, and fails under `profile` with this error.
    ///
    /// # Panics
    /// When it does not.
    pub fn denied_unlike(&self, control: &str, profile: &str, act: &Value, errno: &str) {
        assert_eq!(self.result(control, act), "ok", "the control of {act} under {control} failed");
        self.refused(profile, act, errno);
    }

    fn refused(&self, profile: &str, act: &Value, errno: &str) {
        assert_eq!(self.result(profile, act), errno, "{act} under {profile}");
    }
}

/// Whether a process of the tests may write a core of any size.
pub fn may_dump_core() -> bool {
    use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
    getrlimit(Resource::RLIMIT_CORE).is_ok_and(|(_, hard)| hard == RLIM_INFINITY)
}

/// The `result` of a probe's answer.
pub fn result_of(answer: &Value) -> String {
    answer["result"].as_str().unwrap_or_default().to_owned()
}

/// Makes of each function over a [`Cage`] two tests: one that calls as root, one that calls as an ordinary user.
#[macro_export]
macro_rules! for_both {
    ($($(#[$meta:meta])* fn $name:ident($cage:ident: &Cage) $body:block)+) => {
        $($(#[$meta])* fn $name($cage: &$crate::cage::Cage) $body)+

        mod as_root {
            $(#[test]
            fn $name() {
                if let Some(cage) = $crate::cage::Cage::of($crate::cage::Who::Root, stringify!($name)) {
                    super::$name(&cage);
                }
            })+
        }

        mod as_an_ordinary_user {
            $(#[test]
            fn $name() {
                if let Some(cage) = $crate::cage::Cage::of($crate::cage::Who::User, stringify!($name)) {
                    super::$name(&cage);
                }
            })+
        }
    };
}
