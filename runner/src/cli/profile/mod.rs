//! `profile`: what a profile says, where each rule comes from, what is wrong with it, and what it allows.

pub mod args;
mod lint;
mod list;
mod show;
mod table;
mod why;

use super::args::Common;
use super::{runner, say};
use crate::profile::{Chain, Profile};
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::runner::Runner;
use args::ProfileCommand;

pub fn profile(args: args::Profile, common: &Common) -> u8 {
    let done = runner(common).and_then(|runner| match args.command {
        ProfileCommand::List(args) => Ok(list::list(&args, &runner)),
        ProfileCommand::Show(args) => show::show(&args, &runner),
        ProfileCommand::Lint(args) => lint::lint(&args, &runner),
        ProfileCommand::Why(args) => why::why(&args, &runner),
    });
    done.unwrap_or_else(|refusal| say::refused(&refusal))
}

/// A profile with its files. A name that nobody knows is the caller's mistake, a broken file the host's.
fn read(name: &str, runner: &Runner) -> Result<(Chain, Profile), Refusal> {
    let folder = runner.config.profiles_dir.as_deref();
    let read = Chain::load(name, folder).and_then(|chain| chain.merged().map(|profile| (chain, profile)));
    read.map_err(|error| {
        let refusal = crate::resolve::broken(error);
        match crate::profile::names(folder).iter().any(|known| known == name) {
            true => refusal,
            false => Refusal { reason: Reason::Usage, ..refusal },
        }
    })
}

fn print(text: &str) -> u8 {
    say::out(format!("{}\n", text.trim_end()).as_bytes())
}
