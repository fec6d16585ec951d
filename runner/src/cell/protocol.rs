//! What runner, launcher and init say to each other.

use crate::call::{Landlock, Limits, Mounts, Namespaces, Seccomp};
use crate::layer::{Layer, LayerReport, Need};
use crate::sys::SysError;
use crate::text::Text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the launcher needs of a call and its attempt. The secrets travel beside it, in a memory file that only the
/// tool's own process reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// The program, as it stands inside.
    pub program: Text,
    /// Its arguments.
    pub argv: Vec<Text>,
    /// Its variables as `NAME=value`, but for the secrets.
    pub env: Vec<Text>,
    /// Its working directory.
    pub cwd: Text,
    /// Section of the Call.
    pub namespaces: Namespaces,
    /// Section of the Call.
    pub mounts: Mounts,
    /// Section of the Call.
    pub landlock: Option<Landlock>,
    /// Section of the Call.
    pub seccomp: Option<Seccomp>,
    /// Section of the Call.
    pub limits: Limits,
    /// Section of the Call.
    pub require: BTreeMap<Layer, Need>,
    /// The host's user and group id the tool runs under; null: the caller's.
    pub outside: Option<(u32, u32)>,
    /// The folder inside whose files are collected; init makes it and hands its descriptor to the runner.
    pub out_dir: Option<Text>,
    /// Whether rlimits have to stand in for a missing control group.
    pub rlimits_stand_in: bool,
    /// Milliseconds after which init ends the call by itself, should the runner hang.
    pub last_resort_ms: u64,
}

/// The descriptors that travel with a [`Launch`], in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Whether a memory file with secrets is among them.
    pub secrets: bool,
    /// How many cgroup.procs files there are.
    pub cgroups: u8,
}

impl Manifest {
    /// Launch, stdin, stdout, stderr, report, control.
    pub const FIXED: usize = 6;
    /// The most descriptors a message can carry.
    pub const MAX: usize = Self::FIXED + 1 + 8;

    /// As the bytes of the message.
    pub fn encode(self) -> [u8; 2] {
        [u8::from(self.secrets), self.cgroups]
    }

    /// From the bytes of the message.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [secrets, cgroups] => Some(Self { secrets: *secrets == 1, cgroups: *cgroups }),
            _ => None,
        }
    }
}

/// The launcher's answer: init's pidfd, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The call's init; the pidfd travels with the message.
    Cloned,
    /// No init was made.
    Failed(StageError),
}

/// What init (and the tool's process before exec) reports. One JSON message each, over a
/// sequenced-packet socket that only they hold, so that its end of file means init is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// A best-effort layer is less than whole.
    Layer(Layer, LayerReport),
    /// The out folder's descriptor travels with this message.
    Out,
    /// A read-only bind whose file system cannot map owners: its files keep theirs.
    Unmapped(String),
    /// The program has been executed.
    Started,
    /// A step failed; nothing was executed.
    Failed(StageError),
    /// The tool has ended; what it left behind is given a moment.
    ToolEnded(crate::outcome::End),
    /// The tool has ended and nothing of the call is left but init.
    Ended(Ending),
}

/// How the call ended, seen from inside.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ending {
    /// The tool's exit code, or the signal that ended it.
    pub end: crate::outcome::End,
    /// User and system time of everything init has waited for, microseconds.
    pub cpu_us: u64,
    /// Processes that outlived the tool and were killed.
    pub leaked: u32,
    /// Whether the scratch tmpfs was full.
    pub tmp_full: bool,
    /// Whether init ended it by itself, long after the deadline: the runner had not said a word.
    pub overdue: bool,
}

/// A set-up step that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageError {
    /// Which step.
    pub step: Step,
    /// The system call.
    pub call: String,
    /// What it was done to.
    pub object: String,
    /// The kernel's answer as a number.
    pub errno: i32,
    /// More than the three above can say.
    pub note: Option<String>,
}

impl StageError {
    /// An error in `step`.
    pub fn new(step: Step, error: SysError) -> Self {
        Self { step, call: error.call.to_owned(), object: error.on, errno: error.errno as i32, note: None }
    }

    /// Shapes an error for `map_err`.
    pub fn at(step: Step) -> impl Fn(SysError) -> Self {
        move |error| Self::new(step, error)
    }
}

/// Bytes from the runner to init over the lifeline, whose end of file means: the runner is gone.
pub mod command {
    /// Send SIGTERM to the tool's process group.
    pub const TERM: u8 = b'T';
    /// Kill everything and report.
    pub const KILL: u8 = b'K';
}

macro_rules! steps {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $layer:expr;)+) => {
        /// The set-up steps, in the order they are taken; docs/sandbox.md lists the same names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Step { $($(#[doc = $doc])+ $variant,)+ }

        impl Step {
            /// Every step, in order.
            pub const ALL: &[Step] = &[$(Step::$variant),+];

            /// The name in documents, messages and records.
            pub fn name(self) -> &'static str {
                match self { $(Step::$variant => $name,)+ }
            }

            /// What the step does, in one line.
            pub fn doc(self) -> &'static str {
                match self { $(Step::$variant => concat!($($doc),+).trim(),)+ }
            }

            /// The layer that is missing when the step cannot be done; null: not a matter of layers.
            pub fn layer(self) -> Option<Layer> {
                match self { $(Step::$variant => $layer,)+ }
            }
        }
    };
}

steps! {
    /// The launcher reads the call and its descriptors.
    Receive "receive" None;
    /// The launcher opens what will be bound, with the caller's rights, as detached mounts.
    Trees "trees" Some(Layer::MountNs);
    /// The launcher clones init into the new namespaces.
    Clone "clone" Some(Layer::UserNs);
    /// The launcher writes init's uid and gid maps.
    Maps "maps" Some(Layer::UserNs);
    /// Init takes its id inside and asks to die with its parent.
    Identity "identity" Some(Layer::UserNs);
    /// Init cuts mount propagation and mounts the new root.
    NewRoot "new_root" Some(Layer::Root);
    /// Init binds what the profile names.
    Binds "binds" Some(Layer::Root);
    /// Init binds the device nodes.
    Devices "devices" Some(Layer::Root);
    /// Init mounts a proc of the call's own pid namespace.
    Proc "proc" Some(Layer::Proc);
    /// Init mounts the scratch tmpfs and its folders.
    Scratch "scratch" Some(Layer::Root);
    /// Init writes the made-up files and links.
    Files "files" Some(Layer::Root);
    /// Init makes the new root the root, drops the old one and seals it read-only.
    Pivot "pivot" Some(Layer::Root);
    /// Init sets the host name.
    HostName "host_name" Some(Layer::UtsNs);
    /// Init raises loopback.
    Loopback "loopback" Some(Layer::NetNs);
    /// Init forks the tool's process.
    Fork "fork" None;
    /// Init gives up its capabilities and shuts its memory to the tool.
    Harden "harden" Some(Layer::Capabilities);
    /// The tool's process enters its control group.
    Cgroup "cgroup" Some(Layer::Cgroup);
    /// The tool's process takes a cgroup namespace rooted there.
    CgroupNs "cgroup_ns" Some(Layer::CgroupNs);
    /// The tool's process starts a session, resets signals and takes its three streams.
    Session "session" Some(Layer::Session);
    /// The tool's process sets its resource limits.
    Rlimits "rlimits" Some(Layer::Rlimits);
    /// The tool's process enters its working directory.
    WorkDir "work_dir" None;
    /// The tool's process gives up every capability.
    Capabilities "capabilities" Some(Layer::Capabilities);
    /// The tool's process bars itself from gaining privilege.
    NoNewPrivs "no_new_privs" Some(Layer::NoNewPrivs);
    /// The tool's process enters its Landlock domain.
    Landlock "landlock" Some(Layer::Landlock);
    /// The tool's process installs its system call filter.
    Seccomp "seccomp" Some(Layer::Seccomp);
    /// The tool's process becomes the tool.
    Exec "exec" None;
}
