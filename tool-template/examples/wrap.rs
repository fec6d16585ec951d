//! A tool around an older program: it runs `sh -c SCRIPT` and reports what came of it.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use toolcell_tool::{Context, Status, ToolError, legacy, run};

#[derive(Deserialize)]
struct Input {
    script: String,
    #[serde(default)]
    stdin: String,
}

#[derive(Serialize)]
struct Output {
    stdout: String,
}

fn wrap(input: Input, context: &Context) -> Result<Output, ToolError> {
    let output = legacy::Command::new("sh")
        .arg("-c")
        .arg(input.script)
        .stdin_bytes(input.stdin)
        .deadline(context)
        .run()?
        .map_exit(&[(1, Status::DataLimitation)])?;
    Ok(Output { stdout: String::from_utf8_lossy(&output.stdout).into_owned() })
}

fn main() -> ExitCode {
    run(wrap)
}
