//! The sections that the cell enforces, one file each there, under the same names.

use crate::text::Text;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which namespaces are new, and the tool's identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Namespaces {
    /// A user namespace of its own.
    pub user: bool,
    /// A mount namespace of its own.
    pub mount: bool,
    /// A pid namespace with an init of ours.
    pub pid: bool,
    /// A network namespace with loopback only.
    pub net: bool,
    /// System V and POSIX message queues of its own.
    pub ipc: bool,
    /// A host name of its own.
    pub uts: bool,
    /// A cgroup namespace rooted in the call's group.
    pub cgroup: bool,
    /// The tool's user id inside (0 is never used); null: the caller's own.
    pub uid: Option<u32>,
    /// The tool's group id inside.
    pub gid: Option<u32>,
    /// The host ids a root runner takes one of for each call in flight; null: the caller's own id.
    pub outside: Option<IdRange>,
}

/// A range of host ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdRange {
    /// The first id.
    pub base: u32,
    /// How many.
    pub count: u32,
}

/// The file system the tool sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mounts {
    /// True: a root of its own that holds only what is named here. False: the host's.
    pub private_root: bool,
    /// Binds, in the order they are made (a later one may cover a part of an earlier one).
    pub binds: Vec<Bind>,
    /// Symbolic links inside the root.
    pub links: Vec<Link>,
    /// Small files that are made up.
    pub files: Vec<MadeFile>,
    /// Device nodes of the host, bound one by one.
    pub devices: Vec<Text>,
    /// A proc of the call's own pid namespace at /proc.
    pub proc: bool,
    /// The writable folders that share one tmpfs; without a private root, sub-folders of a temporary folder.
    pub scratch: Vec<Text>,
}

/// One bind mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bind {
    /// The path on the host.
    pub source: Text,
    /// The path inside.
    pub target: Text,
    /// Whether the tool may write there.
    pub writable: bool,
    /// Whether programs may be executed or mapped from there.
    pub exec: bool,
    /// Whether mounts below the source come along.
    pub recursive: bool,
    /// Whose files appear as the tool's own, when the runner is root (an idmapped mount); null: no mapping.
    pub owner: Option<Owner>,
}

/// A file's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// User id on the host.
    pub uid: u32,
    /// Group id on the host.
    pub gid: u32,
}

/// A symbolic link inside the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Where the link stands.
    pub path: Text,
    /// Where it leads.
    pub target: Text,
}

/// A made-up file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MadeFile {
    /// Where the file stands.
    pub path: Text,
    /// What it holds.
    pub content: String,
}

/// The Landlock domain: what the tool may do with which paths, as they stand inside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Landlock {
    /// The rules; what no rule names is refused.
    pub rules: Vec<LandlockRule>,
    /// Connecting to abstract UNIX sockets outside the domain is refused (ABI 6).
    pub scope_abstract_sockets: bool,
    /// Signalling processes outside the domain is refused (ABI 6).
    pub scope_signals: bool,
}

/// One Landlock rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LandlockRule {
    /// A file or a folder with everything beneath it.
    pub path: Text,
    /// What is allowed there.
    pub access: Vec<Access>,
}

/// What a Landlock rule allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// List folders.
    List,
    /// Open files for reading and list folders.
    Read,
    /// Execute files.
    Execute,
    /// Write, create, rename, link, truncate and remove.
    Write,
    /// Read and write a device, with its ioctls.
    Device,
}

/// The seccomp filter, beyond the built-in deny list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seccomp {
    /// Further system calls that are refused, by name, sorted.
    pub deny: Vec<String>,
    /// Socket families that may be opened, sorted; all others are EAFNOSUPPORT.
    pub families: Vec<Family>,
    /// Code in memory files is refused: memfd_create, and execveat with an empty path.
    pub deny_memory_exec: bool,
}

/// A socket family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// AF_UNIX. Without it socketpair still works.
    Unix,
    /// AF_INET.
    Inet,
    /// AF_INET6.
    Inet6,
    /// AF_NETLINK, protocol NETLINK_ROUTE only.
    NetlinkRoute,
}
