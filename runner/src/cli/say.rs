//! Writing: to stdout what was asked for, to stderr words for people. A reader that has gone away is no error.

use crate::refusal::Refusal;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Whether lines on stderr are JSON objects.
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

/// Writes the answer.
pub fn out(bytes: &[u8]) -> u8 {
    SPOKEN.store(true, Ordering::Relaxed);
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // The reader has gone away: its business.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            err(&format!("error: the answer could not be written to standard output: {error}"));
        }
        _ => {}
    }
    0
}

/// Writes what went wrong, for people.
pub fn err(text: &str) {
    line("error", text);
}

/// Writes what somebody should look at, for people.
pub fn warn(text: &str) {
    line("warning", text);
}

/// Writes what somebody asked to be told, for people.
pub fn note(text: &str) {
    line("info", text);
}

fn line(level: &str, text: &str) {
    let line = if AS_JSON.load(Ordering::Relaxed) {
        serde_json::json!({"level": level, "message": text}).to_string()
    } else {
        text.to_owned()
    };
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Says why there is no answer, and the exit code that goes with it. For commands whose answer is no envelope.
pub fn refused(refusal: &Refusal) -> u8 {
    err(&format!("error: {refusal}"));
    if let Some(hint) = &refusal.hint {
        err(&format!("hint: {hint}"));
    }
    let error = crate::envelope::CallError::from(refusal);
    crate::exit_code::exit_code(refusal.reason.status(), Some(&error))
}
