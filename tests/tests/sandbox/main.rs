//! What a tool can do in its sandbox and what it cannot, tried from inside by the probe. Every denial stands beside a
//! control: the same act, by the same probe, where it has to succeed.

mod exec;
mod files;
mod host;
mod identity;
mod inherited;
mod network;
mod processes;
mod syscalls;
