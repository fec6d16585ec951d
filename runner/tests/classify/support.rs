//! A Call, Outcomes, and a verdict as one line.

use serde_json::{Value, json};
use toolcell::call::{Call, ExitMeaning, StdoutKind};
use toolcell::classify::{Verdict, classify};
use toolcell::layer::{Layer, LayerReport};
use toolcell::outcome::{Capture, End, KillCause, Outcome, StartFailure, StartFailureKind};
use toolcell_tool::Status;

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;

/// A call without output_schema and without declared exit codes.
pub fn call() -> Call {
    let limits = json!({
        "wall_ms": 2000, "grace_ms": 500, "leak_window_ms": 200, "memory": 64 * MIB, "cpu": 1.0, "pids": 10,
        "open_files": 256, "file_size": 256 * MIB, "tmp": 32 * MIB, "tmp_inodes": 16384, "stdout": 8 * MIB,
        "stderr": MIB, "out": 64 * MIB,
    });
    let namespaces = json!({
        "user": true, "mount": true, "pid": true, "net": true, "ipc": true, "uts": true, "cgroup": true,
        "uid": 1000, "gid": 1000, "outside": null,
    });
    let mounts = json!({
        "private_root": true, "binds": [], "links": [], "files": [], "devices": [], "proc": true, "scratch": ["/tmp"],
    });
    let capability = json!({"id": "echo", "version": "1.0.0", "supplier": "A", "contract_sha256": "00"});
    let contract = json!({"output_schema": null, "exit_codes": {}, "idempotent": true, "retry": null});
    serde_json::from_value(json!({
        "schema": toolcell::call::SCHEMA, "capability": capability, "profile": "strict", "program": "/tool/bin/echo",
        "argv": ["echo"], "env": {}, "secrets": [], "sensitive": [], "cwd": "/work",
        "stdio": {"stdin": {"json": {}}, "stdout": "json"}, "namespaces": namespaces, "mounts": mounts,
        "landlock": null, "seccomp": null, "limits": limits, "require": {}, "min_level": 0, "out_dir": "/work/out",
        "contract": contract, "notes": [],
    }))
    .unwrap()
}

pub fn with(change: impl FnOnce(&mut Call)) -> Call {
    let mut call = call();
    change(&mut call);
    call
}

/// A call whose output is an object with an integer `n`.
pub fn typed() -> Call {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    with(|call| call.contract.output_schema = Some(schema))
}

pub fn printing(kind: StdoutKind) -> Call {
    with(|call| call.stdio.stdout = kind)
}

/// A call whose tool.toml declares one exit code.
pub fn declaring(code: u8, status: Status, reason: Option<&str>, retryable: bool) -> Call {
    let meaning = ExitMeaning { status, reason: reason.map(str::to_owned), retryable };
    with(|call| drop(call.contract.exit_codes.insert(code, meaning)))
}

pub fn bytes(bytes: impl AsRef<[u8]>) -> Capture {
    let bytes = bytes.as_ref();
    Capture { kept: bytes.to_vec().into(), total: bytes.len() as u64, truncated: false }
}

pub fn exited(code: u8, stdout: impl AsRef<[u8]>) -> Outcome {
    Outcome { end: Some(End::Exited(code)), stdout: bytes(stdout), ..Outcome::default() }
}

pub fn signaled(number: i32) -> Outcome {
    Outcome { end: Some(End::Signaled(number)), ..Outcome::default() }
}

pub fn killed(by: KillCause, end: End) -> Outcome {
    Outcome { end: Some(end), killed_by: Some(by), ..Outcome::default() }
}

pub fn failed(kind: StartFailureKind, killed_by: Option<KillCause>) -> Outcome {
    let failure = StartFailure {
        kind,
        step: "exec".into(),
        errno: Some("ENOENT".into()),
        object: "/tool/run".into(),
        message: "exec /tool/run: no such file".into(),
        hint: None,
    };
    Outcome { failure: Some(failure), killed_by, ..Outcome::default() }
}

pub fn and(mut outcome: Outcome, change: impl FnOnce(&mut Outcome)) -> Outcome {
    change(&mut outcome);
    outcome
}

pub fn oom(outcome: Outcome) -> Outcome {
    and(outcome, |outcome| outcome.events.oom_kills = Some(1))
}

pub fn layer(layer: Layer, report: LayerReport) -> impl FnOnce(&mut Outcome) {
    move |outcome| drop(outcome.layers.insert(layer, report))
}

/// `status reason origin [retry[=ms]] [out JSON] [! warnings]`
pub fn line(verdict: &Verdict) -> String {
    let mut words = vec![verdict.status.as_str().to_owned()];
    if let Some(error) = &verdict.error {
        words.push(error.reason.clone());
        words.push(serde_json::to_value(error.origin).unwrap().as_str().unwrap().to_owned());
        match (error.retryable, error.retry_after_ms) {
            (true, Some(millis)) => words.push(format!("retry={millis}")),
            (true, None) => words.push("retry".into()),
            (false, after) => assert_eq!(after, None),
        }
    }
    words.extend(verdict.output.iter().map(|output| format!("out {}", output.get())));
    if !verdict.warnings.is_empty() {
        let codes: Vec<Value> = verdict.warnings.iter().map(|one| serde_json::to_value(one.code).unwrap()).collect();
        let codes: Vec<&str> = codes.iter().filter_map(Value::as_str).collect();
        words.push(format!("! {}", codes.join(" ")));
    }
    words.join(" ")
}

/// Rows of: what happened, the call, the outcome, the verdict's line. All wrong rows are shown at once.
pub fn check(rows: Vec<(&str, Call, Outcome, &str)>) {
    let wrong: Vec<String> = rows
        .into_iter()
        .filter_map(|(name, call, outcome, expected)| {
            let found = line(&classify(&call, &outcome));
            (found != expected).then(|| format!("{name}\n  expected {expected}\n  found    {found}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
