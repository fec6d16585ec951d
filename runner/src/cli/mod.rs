//! The commands: one thin file each. stdout carries what was asked for and nothing else; words go to stderr.

mod args;
mod call;
mod doctor;
mod input;
mod profile;
mod registry;
mod say;
mod usage;
mod values;
mod watchdog;

use crate::cell::client::Seed;
use crate::config::{Config, Sources};
use crate::envelope::Envelope;
use crate::exit_code::exit_code;
use crate::host::Host;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::runner::Runner;
use crate::start_failure;
use crate::sys::SysError;
use args::{Cli, Command, Common};
use nix::errno::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Instant;
use tokio::runtime::Runtime;

/// More descriptors than the runtime takes.
const RUNTIME_DESCRIPTORS: usize = 8;

/// The launcher, forked first thing; None where the command needs none.
pub type Started = Option<Result<Seed, SysError>>;

/// What can begin before the command line is understood; after the launcher has been forked, since it starts a thread.
///
/// Who names a profile may want no control group; then the wait for one would only hold the end of this process up.
pub fn begin(args: &[OsString]) {
    let named = args.iter().any(|word| word.as_encoded_bytes().starts_with(b"--profile"));
    watchdog::start(move || {
        if !named {
            crate::cgroup::warm_up();
        }
    });
}

/// Runs the command line and returns the exit code.
///
/// `accepted`: when this process started; deadlines count from here. `seed`: the launcher, where the command may
/// need one.
pub fn main(args: Vec<OsString>, accepted: Instant, seed: Started) -> u8 {
    match args::parse(&args) {
        Ok(cli) => {
            let answers = matches!(cli.command, Command::Run(_) | Command::Exec(_));
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| dispatch(cli, accepted, seed)));
            done.unwrap_or_else(|_| panicked(answers, accepted))
        }
        Err(error) => {
            say::set_format(wants_json_lines(&args));
            usage::usage(&args, &error)
        }
    }
}

/// Whether a command line will need a launcher; asked before anything else, since it has to be forked first.
pub fn needs_launcher(args: &[OsString]) -> bool {
    args.iter().skip(1).any(|word| ["run", "exec", "doctor"].iter().any(|name| word == OsStr::new(name)))
}

/// Whether a command makes more than one call.
pub fn makes_many_calls(args: &[OsString]) -> bool {
    args.iter().any(|word| word == "doctor")
}

fn dispatch(cli: Cli, accepted: Instant, seed: Started) -> u8 {
    let common = cli.common;
    say::set_format(common.log_format == args::LogFormat::Json);
    match cli.command {
        Command::Run(run) => call::run(run, &common, accepted, seed),
        Command::Exec(exec) => call::exec(exec, &common, accepted, seed),
        Command::Plan(plan) => call::plan(plan, &common, accepted),
        Command::List(list) => registry::list(&list, &common),
        Command::Show(show) => registry::show(&show, &common),
        Command::Doctor(doctor) => doctor::doctor(&doctor, &common, seed),
        Command::Profile(args) => profile::profile(args, &common),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut args::command(), "toolcell", &mut text);
            say::out(&text)
        }
        Command::Man { command } => man(command.as_deref()),
    }
}

/// The manual page of the program, or of one of its commands.
fn man(name: Option<&str>) -> u8 {
    let mut all = args::command();
    // Commands get the common flags, and their whole name.
    all.build();
    let page = name.and_then(|name| all.find_subcommand(name)).unwrap_or(&all);
    let mut text = Vec::new();
    match clap_mangen::Man::new(page.clone()).render(&mut text) {
        Ok(()) => say::out(&text),
        Err(error) => say::refused(&Refusal::new(Reason::Internal, error.to_string())),
    }
}

/// A bug of toolcell's own, whose place the panic's message on stderr has told. Whoever reads stdout still gets an
/// envelope, unless the answer has already been printed.
fn panicked(answers: bool, accepted: Instant) -> u8 {
    if answers && !say::has_spoken() {
        let refusal = Refusal::new(Reason::Internal, "toolcell panicked").hint("report it, with what stands on stderr");
        return print(&crate::runner::refuse(&crate::runner::Identity::default(), accepted, &refusal), false);
    }
    70
}

/// Whether lines on stderr are wanted as JSON, asked before clap has understood the rest.
fn wants_json_lines(args: &[OsString]) -> bool {
    let pairs = args.windows(2).any(|pair| pair[0] == "--log-format" && pair[1] == "json");
    pairs || args.iter().any(|word| word == "--log-format=json")
}

/// Prints an envelope and says the exit code that goes with it.
fn print(envelope: &Envelope, pretty: bool) -> u8 {
    let mut text = envelope.to_json(pretty).into_bytes();
    text.push(b'\n');
    match say::out(&text) {
        0 => exit_code(envelope.status, envelope.error.as_ref()),
        lost => lost,
    }
}

/// The launcher and the runtime to talk to it from.
fn machinery(seed: Started) -> Result<(Seed, Runtime), Refusal> {
    let none = || Err(SysError::new("fork", "launcher", Errno::ESRCH));
    let seed = seed.unwrap_or_else(none).map_err(start_failure::refusal)?;
    // tokio panics, where it cannot have the descriptors that it needs at once.
    let clones: Result<Vec<_>, _> =
        (0..RUNTIME_DESCRIPTORS).map(|_| std::io::stderr().as_fd().try_clone_to_owned()).collect();
    clones.map_err(SysError::io("dup", "descriptors of the runtime")).map_err(start_failure::refusal)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok((seed, runtime.map_err(SysError::io("epoll", "runtime")).map_err(start_failure::refusal)?))
}

/// The runner of this process, by flags, environment and files.
fn runner(common: &Common) -> Result<Runner, Refusal> {
    let cwd = std::env::current_dir().map_err(|error| {
        Refusal::new(Reason::Usage, format!("the working directory cannot be read: {error}"))
            .hint("cd to a folder that exists")
    })?;
    let env = |name: &str| std::env::var_os(name);
    let sources = Sources {
        config: common.config.clone(),
        registry: common.registry.clone(),
        env: &env,
        cwd: cwd.clone(),
        uid: nix::unistd::geteuid().as_raw(),
    };
    let config = Config::load(&sources).map_err(crate::resolve::broken)?;
    if let Some(why) = &config.ignored {
        say::warn(&format!("not believed: {why}"));
    }
    let mut host = Host::detect(config.identity);
    let exe = std::env::current_exe().unwrap_or_default();
    let bin_dir = exe.parent().map(PathBuf::from).unwrap_or_default();
    let state = crate::config::state_folder(&env);
    host.namespaces = crate::probe::namespaces(exe, config.clone(), host.clone(), state);
    Ok(Runner { config, host, cwd, bin_dir })
}
