//! Writing: to stdout what was asked for, to stderr words for people. A reader that has gone away is no error.

use crate::refusal::Refusal;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Has lines on stderr written as JSON objects.
pub fn set_format(json: bool) {
    AS_JSON.store(json, Ordering::Relaxed);
}

/// Whether colour is wanted there: on a terminal, unless NO_COLOR says otherwise.
pub fn colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

static SPOKEN: AtomicBool = AtomicBool::new(false);

/// Whether an answer has been written.
pub fn has_spoken() -> bool {
    SPOKEN.load(Ordering::Relaxed)
}

/// The exit code where the answer could not be written, by a full disk for one: the way to the data is broken.
const LOST: u8 = 69;
/// What a pipe takes at once, whoever reads it.
const AT_ONCE: usize = 32 * 1024;
/// How long a reader may keep an answer waiting before a signal ends this process without more ado.
const READER: Duration = Duration::from_secs(1);

/// The call is over, and a reader who does not read holds this process up: from now on a signal ends it.
pub fn let_signals_end_it() {
    let give_back = || {
        std::thread::sleep(READER);
        [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().for_each(crate::sys::give_back);
    };
    let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(give_back);
}

/// Writes the answer. The exit code: 0, or that of an answer that was lost.
pub fn out(bytes: &[u8]) -> u8 {
    SPOKEN.store(true, Ordering::Relaxed);
    if bytes.len() > AT_ONCE {
        let_signals_end_it();
    }
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // The reader has gone away: its business.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            err(&format!("the answer could not be written to standard output: {error}"));
            LOST
        }
        _ => 0,
    }
}

/// Writes one line before the answer. Whether anybody still reads.
pub fn event(line: &str) -> bool {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(line.as_bytes()).and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()).is_ok()
}

/// Writes what went wrong, for people.
fn err(text: &str) {
    line("error", text, None);
}

/// Writes what somebody should look at, for people.
pub fn warn(text: &str) {
    line("warning", text, None);
}

/// Writes what somebody asked to be told, for people.
pub fn note(text: &str) {
    line("info", text, None);
}

/// Writes lines that are words for people already.
pub fn lines(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Whether lines on stderr are JSON objects.
pub fn as_json() -> bool {
    AS_JSON.load(Ordering::Relaxed)
}

fn line(level: &str, text: &str, hint: Option<&str>) {
    match (as_json(), level, hint) {
        (true, _, None) => lines(&serde_json::json!({"level": level, "message": text}).to_string()),
        (true, _, Some(_)) => lines(&serde_json::json!({"level": level, "message": text, "hint": hint}).to_string()),
        (false, "info", _) => lines(text),
        (false, _, None) => lines(&format!("{level}: {text}")),
        (false, _, Some(hint)) => lines(&format!("{level}: {text}\nhint: {hint}")),
    }
}

/// Says why there is no answer, and the exit code that goes with it. For commands whose answer is no envelope.
pub fn refused(refusal: &Refusal) -> u8 {
    line("error", &refusal.message, refusal.hint.as_deref());
    let error = crate::envelope::CallError::from(refusal);
    crate::exit_code::exit_code(refusal.reason.status(), Some(&error))
}
