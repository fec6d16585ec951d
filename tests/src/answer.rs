//! What a process answered, and how it is asked.

use serde_json::Value;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a command with this standard input, and reads all it says.
///
/// # Panics
/// When it cannot be started.
pub fn finish(command: &mut Command, stdin: &[u8]) -> Answer {
    let begun = Instant::now();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let bytes = stdin.to_vec();
    // A call that is refused may not read its input at all.
    let feed = std::thread::spawn(move || pipe.write_all(&bytes).is_ok());
    let output = child.wait_with_output().expect("the binary ends");
    let _ = feed.join();
    Answer::of(output, begun.elapsed())
}

/// What the binary answered.
#[derive(Debug)]
pub struct Answer {
    /// Its exit code; None: it died by a signal.
    pub code: Option<i32>,
    /// The signal it died by.
    pub signal: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
}

impl Answer {
    /// What a process said until it ended.
    pub fn of(output: std::process::Output, took: Duration) -> Self {
        Self {
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            took,
        }
    }

    /// Standard output as the one JSON value it has to be.
    ///
    /// # Panics
    /// When it is not.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?}\n{}", String::from_utf8_lossy(&self.stdout), self.stderr))
    }

    /// A part of the envelope, by JSON Pointer; null where there is none.
    pub fn at(&self, pointer: &str) -> Value {
        self.json().pointer(pointer).cloned().unwrap_or(Value::Null)
    }

    /// The envelope's status.
    pub fn status(&self) -> String {
        self.at("/status").as_str().unwrap_or_default().to_owned()
    }

    /// The envelope's reason; empty for `ok`.
    pub fn reason(&self) -> String {
        self.at("/error/reason").as_str().unwrap_or_default().to_owned()
    }

    /// The codes of the envelope's warnings.
    pub fn warnings(&self) -> Vec<String> {
        let all = self.at("/warnings");
        let codes = all.as_array().into_iter().flatten().map(|one| one["code"].as_str().unwrap_or_default().to_owned());
        codes.collect()
    }

    /// The output of an `ok` call.
    ///
    /// # Panics
    /// With the whole envelope, when the call did not end `ok`.
    pub fn output(&self) -> Value {
        assert_eq!(self.status(), "ok", "{:#}", self.json());
        self.at("/output")
    }

    /// Asserts status and reason, showing the whole envelope when they differ.
    ///
    /// # Panics
    /// When they differ.
    pub fn expect(&self, status: &str, reason: &str) -> &Self {
        assert_eq!((self.status().as_str(), self.reason().as_str()), (status, reason), "{:#}", self.json());
        self
    }
}
