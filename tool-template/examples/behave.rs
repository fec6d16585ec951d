//! A tool that does what its input says: the tests of `run` start it.

use std::process::ExitCode;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolcell_tool::{Context, OrFail, ToolError, run};

#[derive(Deserialize)]
struct Input {
    act: Act,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    Echo,
    Print,
    Panic,
    PanicInThread,
    Nan,
    Sleep,
    WaitForCancel,
    Partial,
    Retry,
    Secret,
    OutFile,
    TimeLeft,
}

#[derive(Serialize)]
struct Output {
    text: String,
    values: Vec<f64>,
}

fn behave(input: Input, context: &Context) -> Result<Output, ToolError> {
    let text = |text: String| Ok(Output { text, values: vec![1.5] });
    match input.act {
        Act::Echo => text(input.text),
        Act::Print => {
            println!("a new version is available");
            let child = std::process::Command::new("echo").arg("from a child").status();
            child.or_channel_failure("echo")?;
            text("printed".to_owned())
        }
        Act::Panic => panic!("index {} is gone", input.text),
        Act::PanicInThread => match std::thread::spawn(|| panic!("in a thread")).join() {
            Ok(()) => text("no panic".to_owned()),
            Err(payload) => std::panic::resume_unwind(payload),
        },
        Act::Nan => Ok(Output { text: String::new(), values: vec![0.0, f64::NAN] }),
        Act::Sleep => {
            eprintln!("asleep");
            std::thread::sleep(Duration::from_secs(30));
            text("woke up".to_owned())
        }
        Act::WaitForCancel => {
            eprintln!("asleep");
            while !context.cancelled() {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(ToolError::data_limitation("told to stop").partial("half"))
        }
        Act::Partial => Err(ToolError::data_limitation("only 2024").reason("no_coverage").partial([2024])),
        Act::Retry => Err(ToolError::channel_failure("busy").retry_after(Duration::from_secs(2))),
        Act::Secret => text(context.secret("BEHAVE_SECRET")?.len().to_string()),
        Act::OutFile => {
            use std::io::Write;
            context.out_file("sub/a.txt")?.write_all(input.text.as_bytes()).or_channel_failure("a.txt")?;
            text(String::new())
        }
        Act::TimeLeft => text(format!("{:?}", context.time_left().map(|left| left.as_secs()))),
    }
}

fn main() -> ExitCode {
    run(behave)
}
