//! The `toolcell` program.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::Instant;
use toolcell::cell::{self, client::Seed};
use toolcell::cli;

fn main() -> ExitCode {
    let accepted = Instant::now();
    toolcell::adopt_signals();
    let args: Vec<OsString> = std::env::args_os().collect();
    if args.get(1).is_some_and(|word| word == cell::HELPER) {
        return match std::io::stdin().as_fd().try_clone_to_owned() {
            Ok(socket) => cell::launcher::run(socket, cell::launcher::Kind { resident: true, of_main: false }),
            Err(_) => ExitCode::from(70),
        };
    }
    // Before anything starts a thread.
    let seed = cli::needs_launcher(&args).then(|| Seed::fork(cli::makes_many_calls(&args)));
    if seed.as_ref().is_some_and(Result::is_ok) {
        cli::begin(&args);
    }
    ExitCode::from(cli::main(args, accepted, seed))
}
