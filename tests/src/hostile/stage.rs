//! A scene with every tool of the table in it, and a row played on it.

use super::leftovers::Before;
use super::pen::Pen;
use super::row::{EITHER, Exit, Expect, Row, Send};
use super::tracked::Tracked;
use crate::{Answer, Scene, workspace};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

/// The scene.
pub struct Stage {
    /// Its folder and its user.
    pub scene: Scene,
    /// The groups its runners are kept in.
    pub pen: Option<Pen>,
    before: Before,
    /// The line that starts the runner: its making touches every file of the scene, and is done once.
    command: Mutex<Option<Parts>>,
}

type Parts = (std::ffi::OsString, Vec<std::ffi::OsString>, Vec<(std::ffi::OsString, std::ffi::OsString)>, PathBuf);

/// The folder of the tools.
pub fn tools() -> PathBuf {
    workspace().join("tests/hostile")
}

impl Stage {
    /// Puts the rows' tools on the scene.
    pub fn new(scene: Scene, rows: &[Row]) -> Self {
        scene.config(
            "[[grant]]\ncapability = \"*\"\nprofiles = [\"open\", \"century\"]\n[[grant]]\nexec = true\nprofiles = [\"open\"]\n",
        );
        // The longest time there is: ten years.
        scene.write(
            "config/toolcell/profiles/century.toml",
            "schema = 1\nextends = \"standard\"\nwhy = \"a test\"\n[limits]\nwall = \"87600h\"\n",
        );
        for row in rows {
            install(&scene, row);
        }
        let pen = if scene.calls_as_root() { Pen::new() } else { None };
        let before = Before::look(&scene);
        Self { scene, pen, before, command: Mutex::new(None) }
    }

    /// Whether calls on this stage have a control group.
    pub fn has_group(&self) -> bool {
        self.pen.is_some()
    }

    /// The real binary, with the row's flags.
    pub fn command(&self, row: &Row) -> Command {
        let mut command = self.bare(&["run", &id(row)]);
        command.args(row.flags);
        command
    }

    /// The real binary with these arguments.
    pub fn bare(&self, args: &[&str]) -> Command {
        let mut parts = self.command.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (program, first, env, folder) = parts.get_or_insert_with(|| {
            let made = self.scene.command();
            let made = self.pen.as_ref().map_or(made, |pen| {
                let again = self.scene.command();
                pen.hold(&again)
            });
            let env = made.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
            (
                made.get_program().to_owned(),
                made.get_args().map(ToOwned::to_owned).collect(),
                env.collect(),
                self.scene.work(),
            )
        });
        let mut command = Command::new(program);
        command.args(first).args(args).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        command.current_dir(folder);
        command
    }

    /// Plays a row.
    ///
    /// # Panics
    /// When the binary cannot be started.
    pub fn play(&self, row: &Row) -> Answer {
        self.ask(&mut self.command(row), &bytes(row.input))
    }

    /// Starts a command with this input and reads all it says.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn ask(&self, command: &mut Command, input: &[u8]) -> Answer {
        let begun = Instant::now();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut tracked = Tracked::spawn(command).expect("the binary starts");
        let mut pipe = tracked.child().stdin.take().expect("a pipe");
        std::thread::scope(|scope| {
            // A call that is refused may not read its input at all.
            scope.spawn(move || pipe.write_all(input).is_ok());
            Answer::of(tracked.output().expect("it ends"), begun.elapsed())
        })
    }

    /// What is left of all calls so far. Nothing may be in flight on this stage.
    pub fn left(&self) -> Vec<String> {
        self.before.left(&self.scene, self.pen.as_ref(), false)
    }

    /// The same, looked at once: all of it has to be gone when the envelope is there.
    pub fn left_now(&self) -> Vec<String> {
        self.before.now(&self.scene, self.pen.as_ref(), false)
    }

    /// The same where runners were killed: their groups are left to the next start.
    pub fn left_by_the_dead(&self) -> Vec<String> {
        self.before.left(&self.scene, self.pen.as_ref(), true)
    }

    /// What is expected of a row here.
    pub fn expected(&self, row: &Row) -> Expect {
        if self.has_group() { row.expect } else { row.without_group.unwrap_or(row.expect) }
    }

    /// How the verdict alone differs: for a machine so busy that a tool may not have got far when its time was over.
    pub fn misjudged(&self, row: &Row, answer: &Answer) -> Vec<String> {
        match serde_json::from_slice(&answer.stdout) {
            Ok(envelope) => verdict(&self.expected(row), &envelope),
            Err(_) => vec![format!("no envelope: {answer:?}")],
        }
    }

    /// How an answer differs from what is expected of the row here; empty when it does not.
    pub fn differences(&self, row: &Row, answer: &Answer) -> Vec<String> {
        let want = self.expected(row);
        let Ok(envelope) = serde_json::from_slice::<Value>(&answer.stdout) else {
            return vec![format!("no envelope: {answer:?}")];
        };
        let text = |pointer: &str| envelope.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut found = verdict(&want, &envelope);
        let mut differs = |what: &str, have: String, want: String| {
            if have != want {
                found.push(format!("{what} is {have}, not {want}"));
            }
        };
        match want.exit {
            Exit::Any => {}
            Exit::Code(code) => {
                differs("exit", envelope["exit"].to_string(), json!({"code": code, "signal": null}).to_string())
            }
            Exit::Signal(name) => {
                differs("exit", envelope["exit"].to_string(), json!({"code": null, "signal": name}).to_string())
            }
        }
        for (pointer, json) in want.holds {
            let have = envelope.pointer(pointer).unwrap_or(&Value::Null).to_string();
            differs(pointer, have, (*json).to_owned());
        }
        let warnings = answer.warnings();
        let has = |code: &&&str| warnings.iter().any(|one| one == **code);
        let lacking: Vec<_> = want.warnings.iter().filter(|code| !has(code)).collect();
        let wrong: Vec<_> = want.without.iter().filter(has).collect();
        if !lacking.is_empty() || !wrong.is_empty() {
            found.push(format!("warnings are {warnings:?}: {lacking:?} lacking, {wrong:?} wrong"));
        }
        if !text("/error/message").contains(want.message) {
            found.push(format!("the message {:?} does not hold {:?}", text("/error/message"), want.message));
        }
        found
    }
}

/// How status, reason and `killed_by` differ from what is wanted.
fn verdict(want: &Expect, envelope: &Value) -> Vec<String> {
    let pairs = [("/status", want.status), ("/error/reason", want.reason), ("/killed_by", want.killed_by)].into_iter();
    pairs
        .filter_map(|(pointer, want)| {
            let have = envelope.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            (have != want && want != EITHER).then(|| format!("{pointer} is {have:?}, not {want:?}"))
        })
        .collect()
}

/// The id of a row's capability.
pub fn id(row: &Row) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let name: String = row.name.chars().map(plain).collect();
    format!("{}_{name}", row.case.to_ascii_lowercase())
}

fn install(scene: &Scene, row: &Row) {
    let id = id(row);
    let mut args: Vec<String> = Vec::new();
    let source = tools().join(row.tool);
    let target = scene.registry().join(&id).join("run");
    match row.tool.rsplit_once('.').map(|(_, extension)| extension) {
        // A binary of this package, beside toolcell.
        None => args.push(row.tool.to_owned()),
        Some("c") => {
            let program = compiled(row.tool);
            std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder can be made");
            std::fs::copy(program, &target).expect("a program can be copied");
            args.push("./run".to_owned());
        }
        Some(_) => {
            let text = std::fs::read(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
            scene.write(&format!("registry/{id}/run"), text);
            args.push("./run".to_owned());
        }
    }
    if target.is_file() {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&target, mode).expect("the mode can be set");
    }
    args.extend(row.args.iter().map(|one| (*one).to_owned()));
    let toml = format!("command = {args:?}\nprofile = \"{}\"\n{}\n[limits]\n{}", row.profile, row.toml, row.limits);
    scene.capability(&id, &json!({}), &toml);
}

/// A C tool, compiled once.
fn compiled(tool: &str) -> PathBuf {
    static DONE: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let folder = crate::binary_dir().join("hostile-tools");
    let program = folder.join(tool.trim_end_matches(".c"));
    let mut done = DONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !done.iter().any(|one| one == tool) {
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let built = program.with_extension(std::process::id().to_string());
        let mut gcc = Command::new("gcc");
        gcc.args(["-O1", "-static", "-pthread", "-w", "-o"]).arg(&built).arg(tools().join(tool));
        let output = Tracked::spawn(gcc.stdin(Stdio::null()).stderr(Stdio::piped())).and_then(Tracked::output);
        let output = output.expect("gcc starts");
        assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
        std::fs::rename(&built, &program).expect("a program can be put in its place");
        done.push(tool.to_owned());
    }
    program
}

/// The bytes a row sends.
pub fn bytes(send: Send) -> Vec<u8> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match send {
        Send::Bytes(bytes) => bytes.to_vec(),
        Send::Print(bytes) => json!({"head": hex(bytes)}).to_string().into_bytes(),
        Send::Repeat(head, byte, times, tail) => {
            json!({"head": hex(head), "byte": byte, "times": times, "tail": hex(tail)}).to_string().into_bytes()
        }
        Send::Made(head, piece, times, tail) => [head, &piece.repeat(times), tail].concat(),
    }
}
