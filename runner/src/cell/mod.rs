//! The cell: everything between fork and exec, one file per section of the Call, under the same names.
//!
//! ```text
//! runner     holds the lifeline, the report pipe, the stdio pipes, the cgroup, a pidfd of init
//!   launcher one thread, forked before anything else starts one; takes a Launch and descriptors, clones init
//!     init   pid 1 of the call: builds the root, starts the tool, reaps, ends everything
//!       tool in its own cgroup, session, Landlock domain and seccomp filter
//! ```
//! docs/sandbox.md lists the steps by the names of [`protocol::Step`].

pub mod client;
mod init;
mod landlock;
pub mod launcher;
mod limits;
mod mounts;
mod namespaces;
pub mod protocol;
mod reap;
pub mod seccomp;
mod stage;
mod sweep;

pub use stage::script_interpreter;

/// The hidden argument by which `toolcell` becomes a launcher on its standard input.
pub const HELPER: &str = "__launcher";
