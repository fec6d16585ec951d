//! What the command line parser stops at: help is an answer, everything else a refusal.

use super::{args, print, say};
use crate::envelope::Envelope;
use crate::reason::Reason;
use crate::refusal::Refusal;
use crate::trace::TraceContext;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// Answers with the help that was asked for, or refuses, with an envelope where one is due.
pub fn usage(args: &[OsString], error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        let text = if say::colour(&std::io::stdout()) {
            error.render().ansi().to_string()
        } else {
            error.render().to_string()
        };
        return say::out(text.as_bytes());
    }
    let command = command_name(args);
    let refusal = refusal(command.as_deref(), error);
    if say::as_json() {
        say::refused(&refusal);
    } else {
        let text = error.render();
        let text = if say::colour(&std::io::stderr()) { text.ansi().to_string() } else { text.to_string() };
        say::lines(text.trim_end());
    }
    if matches!(command.as_deref(), Some("run" | "exec")) {
        let id = uuid::Uuid::now_v7().to_string();
        return print(&Envelope::refused(id, None, &refusal, TraceContext::root().ids()), false);
    }
    64
}

/// The fact and the way out, without the parser's own advice where that leads nowhere.
fn refusal(command: Option<&str>, error: &clap::Error) -> Refusal {
    let text = error.render().to_string();
    let lines = text.trim_start_matches("error: ").lines().take_while(|line| !line.starts_with("Usage:"));
    let lines = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    let (tips, facts): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("tip: "));
    let message = facts.join("; ").replace(":; ", ": ");
    let help = command.map_or("toolcell --help".to_owned(), |command| format!("toolcell {command} --help"));
    let tip = tips.iter().map(|tip| tip.trim_start_matches("tip: ")).find(|tip| !tip.contains("as a value"));
    let hint = match (tip, stray_word(error)) {
        (_, Some(word)) if command == Some("exec") => {
            format!("the command stands behind `--`: toolcell exec -- {word}")
        }
        (Some(tip), _) => format!("{tip}; {help}"),
        (None, _) => help,
    };
    Refusal::new(Reason::Usage, message).hint(hint)
}

/// A word that is no flag, where none is expected.
fn stray_word(error: &clap::Error) -> Option<&str> {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) if !word.starts_with('-') => Some(word),
        _ => None,
    }
}

/// The command that a command line names, though the parser could not make sense of all of it: the first word that
/// is one. Behind `--` stands what is not toolcell's own.
fn command_name(args: &[OsString]) -> Option<String> {
    let words = args.iter().skip(1).take_while(|word| *word != "--");
    let known: Vec<String> = args::command().get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let mut after_flag = false;
    for word in words.filter_map(|word| word.to_str()) {
        // The value of a flag that is known may be called like a command.
        if !after_flag && known.iter().any(|name| name == word) {
            return Some(word.to_owned());
        }
        after_flag = matches!(word, "--registry" | "--config" | "--log-format");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> (String, String) {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = args::parse(&args).expect_err(line);
        let refusal = refusal(command_name(&args).as_deref(), &error);
        (refusal.message, refusal.hint.unwrap_or_default())
    }

    #[test]
    fn each_fact_stands_alone_and_each_hint_leads_on() {
        let of = |flag: &str, value: &str, why: &str| format!("invalid value '{value}' for '{flag}': {why}");
        let help = "toolcell run --help";
        let rows = [
            ("t run", "the following required arguments were not provided: <CAPABILITY>".to_owned(), help),
            (
                "t exec",
                "the following required arguments were not provided: <COMMAND>...".to_owned(),
                "toolcell exec --help",
            ),
            (
                "t exec ls",
                "unexpected argument 'ls' found".to_owned(),
                "the command stands behind `--`: toolcell exec -- ls",
            ),
            ("t run h --nosuch", "unexpected argument '--nosuch' found".to_owned(), help),
            (
                "t run h --timeou 1s",
                "unexpected argument '--timeou' found".to_owned(),
                "a similar argument exists: '--timeout'; toolcell run --help",
            ),
            (
                "t run h --timeout 0",
                of(
                    "--timeout <DURATION>",
                    "0",
                    "`0` is zero; leave it out for the default, or name a positive duration",
                ),
                help,
            ),
            (
                "t run h --timeout -1",
                of("--timeout <DURATION>", "-1", "`-1` is negative; name a positive duration"),
                help,
            ),
            ("t run h --memory -1", of("--memory <SIZE>", "-1", "`-1` is negative; name a positive size"), help),
            ("t run h --pids -1", of("--pids <N>", "-1", "give a number of processes from 1 on"), help),
            ("t run h --pids x", of("--pids <N>", "x", "give a number of processes from 1 on"), help),
            ("t run h --cpu -1", of("--cpu <X>", "-1", "give a number of cores from 0.01 on, such as 0.5"), help),
            ("t run h --min-level -1", of("--min-level <N>", "-1", "give a level from 0 to 3"), help),
            ("t --nosuch", "unexpected argument '--nosuch' found".to_owned(), "toolcell --help"),
        ];
        for (line, message, hint) in rows {
            assert_eq!(said(line), (message, hint.to_owned()), "{line}");
        }
    }

    #[test]
    fn the_command_is_known_wherever_the_mistake_stands() {
        let rows = [
            ("t --regist x run h", Some("run")),
            ("t --config run exec -- ls", Some("exec")),
            ("t list run", Some("list")),
            ("t -- run", None),
            ("t nosuch", None),
        ];
        for (line, name) in rows {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(command_name(&args).as_deref(), name, "{line}");
        }
    }
}
