//! The command line.

use super::values::{Need, call_id, cores, layer, level, pair, processes};
use crate::resolve::Tighten;
use crate::units::{Millis, Size};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs supplier tools for AI agents: one call, one sandboxed process, one JSON envelope.
#[derive(Debug, Parser)]
#[command(name = "toolcell", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

/// The whole command line. What prints a text of the program's own takes the common flags, and does not list them.
pub fn command() -> clap::Command {
    let mut command = Cli::command();
    let common: Vec<clap::Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    for name in ["completions", "man"] {
        command = command.mut_subcommand(name, |one| one.args(common.iter().map(|arg| arg.clone().hide(true))));
    }
    command
}

/// Reads a command line.
pub fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches_from(args)?)
}

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Common {
    /// Registry folders, separated by `:`
    #[arg(long, global = true, display_order = 1000, value_name = "DIR")]
    pub registry: Option<OsString>,
    /// The configuration file
    #[arg(long, global = true, display_order = 1000, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How lines on stderr are written
    #[arg(long, global = true, display_order = 1000, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// Say more on stderr
    #[arg(long, global = true, display_order = 1000)]
    pub verbose: bool,
}

/// How lines on stderr are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Call a capability
    Run(Run),
    /// Execute a command in the sandbox, without a contract
    Exec(Exec),
    /// Print the Call that `run` would execute, and start nothing
    Plan(Plan),
    /// List the capabilities of the registries
    List(List),
    /// Show a capability's contract and how this host runs it
    Show(Show),
    /// Say what this host can enforce, and end with a real call
    Doctor(Doctor),
    /// List profiles, show and check them, and say what they allow
    Profile(super::profile::args::Profile),
    /// Print a completion script
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or that of a command
    Man {
        /// Of which command
        #[arg(value_parser = ["run", "exec", "plan", "list", "show", "doctor", "profile", "completions", "man"])]
        command: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct Run {
    /// The capability's id, or id@REQUIREMENT such as fund_profile_a@^1
    pub capability: String,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub identity: IdentityArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct Exec {
    /// The command, behind `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "call")]
    pub argv: Vec<OsString>,
    /// Execute a Call that `plan` printed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["stdin", "stdout", "argv"])]
    pub call: Option<PathBuf>,
    /// Standard input (`-`: toolcell's own); without it /dev/null
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// What standard output is
    #[arg(long, value_enum, default_value_t = ExecStdout::Text)]
    pub stdout: ExecStdout,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub identity: IdentityArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExecStdout {
    /// One JSON value
    Json,
    /// One JSON value a line
    Jsonl,
    /// Text, answered as {"text": ...}
    Text,
}

#[derive(Debug, Args)]
pub struct Plan {
    /// The capability's id, or id@REQUIREMENT
    pub capability: String,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Taken as `run` takes them; a plan has no identity and answers nothing
    #[command(flatten)]
    pub identity: IdentityArgs,
    #[command(flatten)]
    pub answer: AnswerArgs,
}

#[derive(Debug, Args)]
pub struct List {
    /// Indent the JSON
    #[arg(long)]
    pub pretty: bool,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The capability's id, or id@REQUIREMENT
    pub capability: String,
    /// Indent the JSON
    #[arg(long)]
    pub pretty: bool,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// The input document (`-`: standard input); without it standard input, if that is a pipe or a file, else {}
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Set one value of the input: a JSON Pointer, and JSON or else a string
    #[arg(long, value_name = "/PTR=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Sandbox and limits")]
pub struct LimitArgs {
    /// Another profile; beyond strict and standard (for exec also workspace) it must be granted
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// A shorter deadline, such as 5s
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    pub timeout: Option<Millis>,
    /// Less memory, such as 64MiB
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub memory: Option<Size>,
    /// Fewer processes
    #[arg(long, value_name = "N", value_parser = processes, allow_negative_numbers = true)]
    pub pids: Option<u64>,
    /// Less CPU, in cores
    #[arg(long, value_name = "X", value_parser = cores, allow_negative_numbers = true)]
    pub cpu: Option<f64>,
    /// A folder mounted writable at /work
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Refuse below this sandbox level
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = level, allow_negative_numbers = true)]
    pub min_level: u8,
    /// Refuse without these layers; `all` stands for every one the profile asks for
    #[arg(long, value_name = "LAYER", value_delimiter = ',', value_parser = layer)]
    pub require: Vec<Need>,
}

impl LimitArgs {
    /// As resolution takes it.
    pub fn tighten(&self) -> Tighten {
        let all = self.require.iter().any(|need| matches!(need, Need::All));
        Tighten {
            profile: self.profile.clone(),
            wall: self.timeout,
            memory: self.memory,
            pids: self.pids,
            cpu: self.cpu,
            min_level: self.min_level,
            require_all: all,
            require: self
                .require
                .iter()
                .filter_map(|need| if let Need::One(layer) = need { Some(*layer) } else { None })
                .collect(),
            workspace: self.workspace.clone(),
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Identity")]
pub struct IdentityArgs {
    /// The call's id; a new UUID without it
    #[arg(long, value_name = "ID", value_parser = call_id)]
    pub call_id: Option<String>,
    /// The caller's span; TRACEPARENT without it
    #[arg(long, value_name = "TRACEPARENT")]
    pub traceparent: Option<String>,
    /// Who calls
    #[arg(long = "as", value_name = "WHO")]
    pub who: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Answer")]
pub struct AnswerArgs {
    /// A new or empty folder for the files the tool leaves
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Whether a record is kept
    #[arg(long, value_enum, default_value_t = Record::Auto)]
    pub record: Record,
    /// Print each line of a `jsonl` tool as an event when it comes; the envelope is the last line
    #[arg(long, conflicts_with = "pretty")]
    pub stream: bool,
    /// Indent the JSON
    #[arg(long)]
    pub pretty: bool,
}

/// Whether a record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Record {
    /// Where it can be
    Auto,
    /// Not
    Off,
    /// Or nothing runs
    Require,
}
