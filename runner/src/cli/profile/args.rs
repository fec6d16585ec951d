//! The command line of `profile`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Profile {
    #[command(subcommand)]
    pub command: ProfileCommand,
}

#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// List the built-in profiles and your own
    List(List),
    /// Show a profile with all it extends, and which file each rule comes from
    Show(Show),
    /// Check a profile, or all, for what is wrong with it on this host
    Lint(Lint),
    /// Say whether a path, a host or a system call is allowed, and by which rule
    Why(Why),
}

#[derive(Debug, Args)]
pub struct List {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The profile's name
    pub profile: String,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Lint {
    /// The profile's name; every profile without it
    pub profile: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Why {
    /// The profile's name
    pub profile: String,
    /// A path as it stands inside, a host and its port, or the name of a system call
    #[arg(value_name = "PATH|HOST:PORT|SYSCALL")]
    pub what: String,
    /// The folder at /work; the working directory without it
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
