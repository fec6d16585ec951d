//! [`run`]: everything between the handler and the process boundary.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Context, ToolError, exit, input, output, sys};

/// Runs a tool: reads the input from stdin, calls `handler`, writes the answer to stdout. Return its result from
/// `main`, and call it first there: what is printed before goes to the real stdout and spoils the answer.
///
/// Exactly one JSON document is written, whatever happens; a document that cannot be delivered is exit code 74.
pub fn run<I, O>(handler: impl FnOnce(I, &Context) -> Result<O, ToolError>) -> ExitCode
where
    I: DeserializeOwned,
    O: Serialize,
{
    let context = Context::from_env();
    let answer = match set_up() {
        Ok(answer) => answer,
        Err(error) => {
            let _ = writeln!(io::stderr(), "toolcell-tool: stdout and signals cannot be set up: {error}");
            return code(exit::INTERNAL);
        }
    };
    let result = caught(|| {
        let input = input::parse(&input::read(io::stdin().lock())?)?;
        output::to_text(&handler(input, &context)?)
    });
    let (text, status) = match result {
        Ok(text) => (text, exit::OK),
        Err(error) => (error_text(&error), error.exit_code()),
    };
    deliver(answer, text, status)
}

fn set_up() -> io::Result<File> {
    let answer = sys::protect_stdout()?;
    sys::answer_on_termination(answer.as_fd())?;
    Ok(File::from(answer))
}

fn code(code: i32) -> ExitCode {
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn error_text(error: &ToolError) -> String {
    serde_json::to_string(&error.document()).unwrap_or_else(|_| r#"{"error":{}}"#.to_owned())
}

fn deliver(mut answer: File, mut text: String, status: i32) -> ExitCode {
    text.push('\n');
    if !sys::claim_answer() {
        // The signal handler is writing on another thread and ends the process; returning would cut it short.
        loop {
            std::thread::park();
        }
    }
    match answer.write_all(text.as_bytes()) {
        Ok(()) => code(status),
        Err(error) => {
            let _ = writeln!(io::stderr(), "toolcell-tool: the answer cannot be written to stdout: {error}");
            code(exit::IO)
        }
    }
}

/// Calls `work` and turns a panic into the tool's own failure with the panic's message and place.
fn caught<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    let last = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&last);
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
        let message = info.payload_as_str().map(str::to_owned);
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some((message, place));
        previous(info);
    }));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        // A payload may panic when it is dropped, and there is no second net.
        std::mem::forget(payload);
        let seen = last.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Another thread may have panicked since: a place counts only for the same message.
        let place = seen.filter(|(text, _)| *text == message).and_then(|(_, place)| place);
        let message = message.unwrap_or_else(|| "without a message".to_owned());
        let error = ToolError::internal(match &place {
            Some(place) => format!("the tool panicked at {place}: {message}"),
            None => format!("the tool panicked: {message}"),
        });
        Err(match place {
            Some(place) => error.detail("location", place),
            None => error,
        })
    })
}
