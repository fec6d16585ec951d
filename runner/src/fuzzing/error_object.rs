//! The error object on standard output of a tool that did not exit 0.

use super::{call, independent};
use crate::call::{ExitMeaning, StdoutKind};
use crate::classify::{Verdict, classify};
use crate::outcome::{Capture, End, Outcome};
use serde_json::Value;
use toolcell_tool::{ErrorDocument, Status, exit};

/// The first byte is the exit code, the second what tool.toml says of it; the rest is standard output.
pub fn error_object(data: &[u8]) {
    let [code @ 1..=255, declared, stdout @ ..] = data else { return };
    let declared = match declared {
        b'A'..=b'C' => Some(Status::ALL[usize::from(declared - b'A') + 1]),
        _ => None,
    };
    let verdict = judged(*code, declared, stdout);
    let body = independent::body(stdout).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let said = body.as_ref().and_then(|body| body.get("error")).filter(|error| error.is_object());
    let named = declared.or_else(|| exit::lookup((*code).into()).map(|row| row.status));
    let own = said.and_then(|said| status_of(&said["status"])).filter(|status| *status != Status::Ok);
    let expected = named.or(own).unwrap_or(Status::ChannelFailure);
    assert_eq!(verdict.status, expected, "exit code {code}, {body:?}");
    promises(&verdict, said);
    if let Some(output) = &verdict.output {
        assert_eq!(verdict.status, Status::DataLimitation);
        let beside = body.as_ref().map(|body| if said.is_some() { &body["output"] } else { body });
        assert_eq!(serde_json::from_str::<Value>(output.get()).ok().as_ref(), beside);
    }
    // serde would fill the document, or the object in it, from an array too; classify does not.
    if said.is_some() {
        written_again(*code, declared, stdout, &verdict);
    }
}

fn judged(code: u8, declared: Option<Status>, stdout: &[u8]) -> Verdict {
    let mut call = call(StdoutKind::Json, None);
    let meaning = declared.map(|status| ExitMeaning { status, reason: None, retryable: false });
    call.contract.exit_codes.extend(meaning.map(|meaning| (code, meaning)));
    let kept = Capture { kept: stdout.to_vec().into(), total: stdout.len() as u64, truncated: false };
    classify(&call, &Outcome { end: Some(End::Exited(code)), stdout: kept, ..Outcome::default() })
}

fn status_of(name: &Value) -> Option<Status> {
    Status::ALL.into_iter().find(|status| name.as_str() == Some(status.as_str()))
}

fn promises(verdict: &Verdict, said: Option<&Value>) {
    let error = verdict.error.as_ref().expect("what is not ok has an error");
    assert!(!error.message.trim().is_empty() && error.details.is_object(), "{error:?}");
    let mut letters = error.reason.bytes();
    assert!(letters.next().is_some_and(|first| first.is_ascii_lowercase()) && error.reason.len() <= 64, "{error:?}");
    assert!(letters.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'), "{error:?}");
    assert!(!error.retryable || verdict.status == Status::ChannelFailure, "{error:?}");
    assert!(error.retry_after_ms.is_none() || error.retryable, "{error:?}");
    let text = |name: &str| said.and_then(|said| said[name].as_str()).filter(|text| !text.trim().is_empty());
    assert!(text("message").is_none_or(|message| error.message == message), "{error:?}");
    // A built-in reason keeps its status.
    let known = crate::reason::Reason::by_name(&error.reason);
    assert!(known.is_none_or(|reason| reason.status() == verdict.status), "{error:?} under {:?}", verdict.status);
}

/// What the tool crate reads as an error document and writes again says the same.
fn written_again(code: u8, declared: Option<Status>, stdout: &[u8], first: &Verdict) {
    let Some(text) = independent::body(stdout) else { return };
    let Ok(document) = serde_json::from_str::<ErrorDocument>(text) else { return };
    let written = serde_json::to_vec(&document).expect("a document is written");
    let read: ErrorDocument = serde_json::from_slice(&written).expect("what was written is read");
    assert_eq!(read.error, document.error);
    let second = judged(code, declared, &written);
    let kept = |verdict: &Verdict| verdict.output.as_ref().map(|output| output.get().to_owned());
    assert_eq!((second.status, &second.error, kept(&second)), (first.status, &first.error, kept(first)));
}
