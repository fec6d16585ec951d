//! The command line.

use crate::layer::Layer;
use crate::resolve::Tighten;
use crate::units::{Millis, Size};
use clap::{Args, Parser, Subcommand, ValueEnum};
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

/// Flags that every command takes.
#[derive(Debug, Clone, Default, Args)]
pub struct Common {
    /// Registry folders, separated by `:`
    #[arg(long, global = true, value_name = "DIR")]
    pub registry: Option<OsString>,
    /// The configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How lines on stderr are written
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// Say more on stderr
    #[arg(long, global = true)]
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
    /// Print a completion script
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
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
    /// The command
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "call")]
    pub argv: Vec<OsString>,
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
pub struct InputArgs {
    /// The input document (`-`: standard input); without it standard input, if that is a pipe or a file, else {}
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Set one value of the input: a JSON Pointer, and JSON or else a string
    #[arg(long, value_name = "/PTR=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((pointer, value)) if pointer.starts_with('/') => Ok((pointer.to_owned(), value.to_owned())),
        _ => Err("write it as /POINTER=VALUE, such as /code=SPY".to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct LimitArgs {
    /// Another profile, which must be granted
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<String>,
    /// A shorter deadline, such as 5s
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Millis>,
    /// Less memory, such as 64MiB
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Size>,
    /// Fewer processes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub pids: Option<u64>,
    /// Less CPU, in cores
    #[arg(long, value_name = "X", value_parser = cores)]
    pub cpu: Option<f64>,
    /// A folder mounted writable at /work
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Refuse below this sandbox level
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=3))]
    pub min_level: u8,
    /// Refuse without these layers; `all` stands for every one the profile asks for
    #[arg(long, value_name = "LAYER", value_delimiter = ',', value_parser = layer)]
    pub require: Vec<Need>,
}

/// What `--require` takes.
#[derive(Debug, Clone, Copy)]
pub enum Need {
    /// Every layer the profile asks for.
    All,
    /// One layer.
    One(Layer),
}

fn layer(text: &str) -> Result<Need, String> {
    if text == "all" {
        return Ok(Need::All);
    }
    let names: Vec<&str> = Layer::ALL.into_iter().map(Layer::name).collect();
    Layer::by_name(text).map(Need::One).ok_or_else(|| format!("the layers are all, {}", names.join(", ")))
}

fn cores(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(cores) if cores.is_finite() && cores >= 0.01 => Ok(cores),
        _ => Err("give a number of cores from 0.01 on, such as 0.5".to_owned()),
    }
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
            min_level: if all { 3 } else { self.min_level },
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

fn call_id(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if (1..=128).contains(&text.len()) && text.bytes().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("an id has 1 to 128 characters of A-Z a-z 0-9 - _ .".to_owned())
    }
}

#[derive(Debug, Args)]
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
