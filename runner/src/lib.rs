//! toolcell runs supplier tools for AI agents: one call, one sandboxed process, one honest envelope.
//!
//! # The reading map
//!
//! ```text
//! args + capability + tool.toml + profile + config + host facts
//!   -> resolve   -> Call      pure data; `toolcell plan` prints it
//!   -> attempt   -> Outcome   raw facts: cell (fork to exec), cgroup, streams, supervise
//!   -> classify  -> Verdict   pure
//!   -> Envelope               what the caller reads
//! ```
//! Read [`call`], [`outcome`], [`classify`], `cell::stage` and [`runner`], and you know the program.

mod attempt;
pub mod call;
pub mod capability;
pub mod cell;
pub mod cgroup;
pub mod classify;
pub mod cli;
pub mod collect;
pub mod config;
mod enforce;
pub mod envelope;
mod envelope_build;
pub mod event;
mod execution;
pub mod exit_code;
pub mod file_error;
#[doc(hidden)]
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod host;
pub mod human;
pub mod identity;
pub mod json;
pub mod layer;
pub mod limits_spec;
pub mod outcome;
pub mod patience;
pub mod probe;
pub mod profile;
pub mod reason;
pub mod refusal;
pub mod registry;
pub mod resolve;
pub mod runner;
pub mod schemas;
mod scratch;
pub mod secrets;
mod shortage;
pub mod signal;
mod start_failure;
pub mod streams;
mod supervise;
mod sys;
#[cfg(any(test, fuzzing))]
mod test_dir;
pub mod text;
pub mod tool;
pub mod trace;
pub mod units;
pub mod validate;

pub use envelope_build::Answered;
pub use sys::{SysError, adopt_signals};
