//! What `cargo demo` runs: one call of each status on the example capabilities, explained.
//!
//! It builds the workspace's programs, calls the `toolcell` beside itself as any caller would, and fails when a status,
//! a reason or an exit code is not the one that it announced.

use std::error::Error;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

use serde_json::Value;

/// Arrays in an envelope are shown up to this length.
const SHOWN_ITEMS: usize = 3;
/// Members of an envelope that are left out here, because they are the same story in every call.
const LEFT_OUT: [&str; 9] =
    ["schema", "call_id", "capability", "usage", "stderr", "files", "trace", "record", "killed_by"];

struct Scene {
    shows: &'static str,
    capability: &'static str,
    input: &'static str,
    status: &'static str,
    reason: Option<&'static str>,
    exit: i32,
}

const SCENES: [Scene; 4] = [
    Scene {
        shows: "The tool ran in its sandbox, and its answer keeps the contract.",
        capability: "fund_profile_a",
        input: r#"{"code": "SPY"}"#,
        status: "ok",
        reason: None,
        exit: 0,
    },
    Scene {
        shows: "Percentages are not prices: the tool refuses to guess, and the caller must change the request.",
        capability: "returns_drawdown",
        input: r#"{"unit": "percent", "periods_per_year": 252, "prices": [{"date": "2024-01-02", "close": 1.5}]}"#,
        status: "call_error",
        reason: Some("unclear_unit"),
        exit: 64,
    },
    Scene {
        shows: "The request is good and the tool works, but the data end early: what there is comes as a partial answer.",
        capability: "price_history",
        input: r#"{"from": "2018-12-24", "to": "2019-12-31"}"#,
        status: "data_limitation",
        reason: Some("partial_range"),
        exit: 66,
    },
    Scene {
        shows: "The same good request as the first, but the supplier's data file broke off: the way to the data is broken.",
        capability: "fund_profile_offline",
        input: r#"{"code": "SPY"}"#,
        status: "channel_failure",
        reason: Some("upstream_protocol"),
        exit: 69,
    },
];

fn main() -> ExitCode {
    match demo() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn demo() -> Result<bool, Box<dyn Error>> {
    let me = env::current_exe()?;
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no workspace")?;
    build(&me, workspace)?;
    let toolcell = me.with_file_name("toolcell");
    let state = StateFolder(env::temp_dir().join(format!("toolcell-demo-{}", std::process::id())));
    println!("Four calls, one for each status.");
    let mut all_good = true;
    for (number, scene) in SCENES.iter().enumerate() {
        println!("\n{}", bold(&format!("{}. {}: {}", number + 1, scene.status, scene.shows)));
        let shown = toolcell.strip_prefix(workspace).unwrap_or(&toolcell).display();
        println!("$ echo '{}' | {shown} run --registry examples/capabilities {}", scene.input, scene.capability);
        all_good &= play(scene, &toolcell, workspace, &state.0)?;
    }
    println!("\n{}", if all_good { "All four ended as announced." } else { "Not all four ended as announced." });
    Ok(all_good)
}

/// Builds every program of the workspace into the folder that this one stands in.
fn build(me: &Path, workspace: &Path) -> Result<(), Box<dyn Error>> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--workspace", "--bins"]).current_dir(workspace);
    if let Some(target) = me.ancestors().find(|folder| folder.join(".rustc_info.json").is_file()) {
        cargo.arg("--target-dir").arg(target);
    }
    eprintln!("building the workspace's programs (release) ...");
    let status = cargo.stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("cargo build: {status}").into()) }
}

/// Makes one call, shows what came back, and says whether it is what was announced.
fn play(scene: &Scene, toolcell: &Path, workspace: &Path, state: &Path) -> Result<bool, Box<dyn Error>> {
    let mut child = Command::new(toolcell)
        .args(["run", "--registry", "examples/capabilities", scene.capability])
        .current_dir(workspace)
        .env("TOOLCELL_STATE", state)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", toolcell.display()))?;
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(scene.input.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
            _ => {}
        }
    }
    let answer = child.wait_with_output()?;
    let envelope: Value = match serde_json::from_slice(&answer.stdout) {
        Ok(envelope) => envelope,
        Err(error) => {
            println!("{}", mark(false, &format!("no envelope ({error}), {}", answer.status)));
            return Ok(false);
        }
    };
    let good = envelope["status"] == scene.status
        && envelope["error"]["reason"].as_str() == scene.reason
        && answer.status.code() == Some(scene.exit);
    let ended = answer.status.code().map_or(answer.status.to_string(), |code| format!("exit code {code}"));
    let (shown, note) = shorten(envelope);
    println!("{}", serde_json::to_string_pretty(&shown)?);
    println!("{note}");
    let announced =
        if good { String::new() } else { format!("; announced was {}, exit code {}", scene.status, scene.exit) };
    println!("{}", mark(good, &format!("{ended}{announced}")));
    Ok(good)
}

/// An envelope for reading, and a line that says what it lacks.
fn shorten(mut envelope: Value) -> (Value, String) {
    let mut gone = Vec::new();
    if let Some(members) = envelope.as_object_mut() {
        gone.extend(LEFT_OUT.iter().filter(|key| members.shift_remove(**key).is_some()).map(ToString::to_string));
        if let Some(sandbox) = members.get_mut("sandbox").and_then(Value::as_object_mut) {
            let inner = ["layers", "denied"].iter().filter(|key| sandbox.shift_remove(**key).is_some());
            gone.extend(inner.map(|key| format!("sandbox.{key}")));
        }
    }
    let cut = envelope.get_mut("output").is_some_and(cut_arrays);
    let mut note = format!("(shortened here: without {}", gone.join(", "));
    note.push_str(if cut { "; long arrays in the output are cut)" } else { "; the output is whole)" });
    (envelope, note)
}

/// Cuts long arrays and leaves a text in place of what is gone. Says whether it cut any.
fn cut_arrays(value: &mut Value) -> bool {
    match value {
        Value::Array(items) => {
            let more = items.len().saturating_sub(SHOWN_ITEMS);
            items.truncate(SHOWN_ITEMS);
            let inner = items.iter_mut().fold(false, |cut, item| cut_arrays(item) | cut);
            if more > 0 {
                items.push(Value::String(format!("... and {more} more")));
            }
            more > 0 || inner
        }
        Value::Object(members) => members.values_mut().fold(false, |cut, member| cut_arrays(member) | cut),
        _ => false,
    }
}

fn bold(text: &str) -> String {
    painted("1", text)
}

fn mark(good: bool, text: &str) -> String {
    if good { painted("32", &format!("{text}, as announced")) } else { painted("31", &format!("WRONG: {text}")) }
}

/// Colour on a terminal only, and not where NO_COLOR is set.
fn painted(code: &str, text: &str) -> String {
    let colour = io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// The demo's own state folder, gone when the demo ends.
struct StateFolder(PathBuf);

impl Drop for StateFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
