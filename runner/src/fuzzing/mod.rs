//! What fuzzing asks of the parsers.
//!
//! Each function takes any bytes and panics when a promise is broken; `fuzz/` feeds them, and the tests here feed them
//! the corpus and every finding (docs/fuzzing.md). Compiled for tests, and with `--cfg fuzzing`.

mod argv;
mod contract;
mod error_object;
mod independent;
mod output;
mod profile;
#[cfg(test)]
mod tests;
mod trace;

pub use argv::argv;
pub use contract::{capability, tool};
pub use error_object::error_object;
pub use output::output;
pub use profile::profile;
pub use trace::trace;

use crate::call::{Call, StdoutKind};
use crate::file_error::FileError;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// A call without declared exit codes.
fn call(stdout: StdoutKind, output_schema: Option<Value>) -> Call {
    // Read once: fuzzing is as fast as its slowest part.
    static PLAIN: OnceLock<Call> = OnceLock::new();
    let mut call = PLAIN.get_or_init(plain_call).clone();
    call.stdio.stdout = stdout;
    call.contract.output_schema = output_schema;
    call
}

fn plain_call() -> Call {
    let limits = json!({
        "wall_ms": 2000, "grace_ms": 500, "leak_window_ms": 200, "memory": 1 << 26, "cpu": 1.0, "pids": 10,
        "open_files": 256, "file_size": 1 << 28, "tmp": 1 << 25, "tmp_inodes": 16384, "stdout": 1 << 23,
        "stderr": 1 << 20, "out": 1 << 26,
    });
    let namespaces = json!({
        "user": true, "mount": true, "pid": true, "net": true, "ipc": true, "uts": true, "cgroup": true,
        "uid": 1000, "gid": 1000, "outside": null,
    });
    let mounts = json!({
        "private_root": true, "binds": [], "links": [], "files": [], "devices": [], "proc": true, "scratch": ["/tmp"],
    });
    let call = json!({
        "schema": crate::call::SCHEMA, "capability": null, "profile": "strict", "program": "/bin/true",
        "argv": ["true"], "env": {}, "secrets": [], "sensitive": [], "cwd": "/work",
        "stdio": {"stdin": "none", "stdout": "json"}, "namespaces": namespaces, "mounts": mounts, "landlock": null,
        "seccomp": null, "limits": limits, "require": {}, "min_level": 0, "out_dir": "/work/out",
        "contract": {"output_schema": null, "exit_codes": {}, "idempotent": true, "retry": null},
        "notes": [],
    });
    serde_json::from_value(call).expect("the call is one")
}

/// What holds for every error of a file: it has words, and its place is one of the text's.
fn file_error(error: &FileError, text: &[u8]) {
    assert!(!error.message.trim().is_empty(), "no message: {error:?}");
    assert!(error.hint.as_ref().is_none_or(|hint| !hint.trim().is_empty()), "an empty hint: {error:?}");
    assert!(!error.message.contains('\u{1}'), "a mark of ours is left in: {error:?}");
    let pointer = error.pointer.as_deref().unwrap_or_default();
    assert!(crate::json::pointer_parse(pointer).is_ok(), "no pointer: {error:?}");
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "no such line: {error:?}");
    let longest = text.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap_or_default();
    assert!(error.column.is_none_or(|column| (1..=longest + 1).contains(&column)), "no such column: {error:?}");
}
