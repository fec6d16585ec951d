//! The probe: a tool that tries what a sandbox should stop, and says what the kernel answered.
//!
//! Input: `{"try": "<act>", ...}`. Output: `{"result": "ok" | "<ERRNO>", ...}` and what else the act has seen. An act
//! that names no real object (an invalid descriptor, pointer or flag) changes nothing, and yet tells a filter's
//! answer from the kernel's own.

mod files;
mod look;
mod net;
mod process;
mod raw;

use nix::errno::Errno;
use serde_json::{Value, json};
use std::io::Read;

/// What an act has found, or the kernel's answer.
type Found = Result<Value, Errno>;

fn main() {
    let mut text = String::new();
    let input: Value = match std::io::stdin().read_to_string(&mut text).map(|_| serde_json::from_str(&text)) {
        Ok(Ok(input)) => input,
        other => panic!("the probe needs a JSON document: {other:?}"),
    };
    println!("{}", answer(&Act(&input)));
}

/// An input, with its members by name.
struct Act<'a>(&'a Value);

impl Act<'_> {
    fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap_or_else(|| panic!("`{name}` is not a string in {}", self.0))
    }

    fn number(&self, name: &str) -> i64 {
        self.0[name].as_i64().unwrap_or_else(|| panic!("`{name}` is not a number in {}", self.0))
    }

    fn list(&self, name: &str) -> &[Value] {
        self.0[name].as_array().map_or(&[], Vec::as_slice)
    }
}

fn answer(act: &Act) -> Value {
    let name = act.text("try");
    let groups = [files::attempt, net::attempt, process::attempt, look::attempt];
    let found = groups.into_iter().find_map(|group| group(name, act));
    let found = found.unwrap_or_else(|| panic!("the probe knows no act `{name}`"));
    match found {
        Ok(Value::Object(mut members)) => {
            members.entry("result").or_insert_with(|| json!("ok"));
            Value::Object(members)
        }
        Ok(value) => json!({"result": "ok", "value": value}),
        Err(errno) => json!({"result": name_of(errno)}),
    }
}

/// `EPERM` and the like.
fn name_of(errno: Errno) -> String {
    format!("{errno:?}")
}

/// The kernel's answer inside an error of the standard library; `EIO` for one that is not the kernel's.
fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// `ok` or the name of the error, for acts with several parts.
fn outcome<T>(result: Result<T, Errno>) -> Value {
    json!(result.map_or_else(name_of, |_| "ok".to_owned()))
}
