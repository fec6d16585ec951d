//! toolcell runs supplier tools for AI agents: one call, one sandboxed process, one honest envelope.

pub mod call;
pub mod cell;
pub mod cgroup;
pub mod envelope;
pub mod layer;
pub mod outcome;
pub mod sys;
pub mod text;
