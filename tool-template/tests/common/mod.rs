//! Starts the example tools as the runner would.
#![allow(dead_code, missing_docs, reason = "each test file uses its own part")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;

/// cargo puts examples beside the folder of the test executables.
pub fn example(name: &str) -> Command {
    let mut folder: PathBuf = std::env::current_exe().unwrap();
    folder.pop();
    if folder.ends_with("deps") {
        folder.pop();
    }
    let path = folder.join("examples").join(name);
    assert!(path.exists(), "{} is not built: run `cargo build --examples -p toolcell-tool`", path.display());
    let mut command = Command::new(path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts it and writes the input from a thread, so that big inputs and outputs cannot block each other.
pub fn start(mut command: Command, input: impl Into<Vec<u8>>) -> (Child, JoinHandle<()>) {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.into();
    // A tool that refuses its input early closes the pipe: that is the tool's answer to judge, not a failed write.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    (child, writer)
}

pub fn answer(command: Command, input: impl Into<Vec<u8>>) -> Answer {
    let (child, writer) = start(command, input);
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Answer::new(output)
}

pub struct Answer {
    pub code: Option<i32>,
    pub document: Value,
    pub stderr: String,
}

impl Answer {
    /// Fails unless stdout is one JSON document and one newline.
    pub fn new(output: Output) -> Self {
        let text = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let line = text.strip_suffix('\n').unwrap_or_else(|| panic!("no document in {text:?}; stderr: {stderr}"));
        let document = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"));
        Self { code: output.status.code(), document, stderr }
    }

    pub fn message(&self) -> &str {
        self.document["error"]["message"].as_str().unwrap()
    }

    pub fn assert_error(&self, code: i32, status: &str, reason: Option<&str>) {
        let error = &self.document["error"];
        assert_eq!(self.code, Some(code), "{}", self.document);
        assert_eq!(error["status"], status, "{}", self.document);
        assert_eq!(error.get("reason").and_then(Value::as_str), reason, "{}", self.document);
    }
}
