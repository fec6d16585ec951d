//! Standard output of a tool that exited 0: the scanner, the schema check and the verdict together.

use super::{call, independent};
use crate::call::StdoutKind;
use crate::classify::{Verdict, classify};
use crate::json;
use crate::outcome::{Capture, End, Outcome};
use serde_json::Value;
use toolcell_tool::Status;

/// The first byte chooses how it is read and whether there is an output_schema; the rest is standard output.
pub fn output(data: &[u8]) {
    let Some((choice, stdout)) = data.split_first() else { return };
    let kind = [StdoutKind::Json, StdoutKind::Jsonl, StdoutKind::Text][usize::from(choice % 3)];
    let typed = choice & 0x80 != 0;
    let verdict = judged(kind, typed, stdout);
    let expected = match kind {
        StdoutKind::Json => independent::inner(stdout).map(str::to_owned),
        StdoutKind::Jsonl => lines(stdout),
        StdoutKind::Text => std::str::from_utf8(stdout.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stdout))
            .ok()
            .map(|text| serde_json::json!({ "text": text }).to_string()),
    };
    match (&verdict.output, expected) {
        (Some(found), Some(expected)) => assert_eq!(found.get(), expected),
        (None, Some(expected)) => assert!(typed && !keeps(&expected), "{verdict:?} refuses {expected}"),
        (found, None) => assert!(found.is_none(), "{found:?} is not what was declared"),
    }
    words(&verdict, stdout);
    place(kind, stdout);
}

fn judged(kind: StdoutKind, typed: bool, stdout: &[u8]) -> Verdict {
    let schema = typed.then(|| serde_json::json!({"type": "object", "required": ["n"]}));
    let kept = Capture { kept: stdout.to_vec().into(), total: stdout.len() as u64, truncated: false };
    let outcome = Outcome { end: Some(End::Exited(0)), stdout: kept, ..Outcome::default() };
    let call = call(kind, schema);
    let verdict = classify(&call, &outcome);
    if typed && let Some(output) = &verdict.output {
        assert!(keeps(output.get()), "{} breaks the schema", output.get());
    }
    verdict
}

/// `{"type": "object", "required": ["n"]}`, by hand.
fn keeps(output: &str) -> bool {
    let value: Value = serde_json::from_str(output).expect("an output is JSON");
    value.as_object().is_some_and(|object| object.contains_key("n"))
}

/// One value a line; one level of the depth is the array's.
fn lines(stdout: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(stdout.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stdout)).ok()?;
    let lines = text.split('\n').filter(|line| !line.trim_matches([' ', '\t', '\r']).is_empty());
    let values: Vec<&str> = lines.map(independent::strict).collect::<Option<_>>()?;
    let array = format!("[{}]", values.join(","));
    independent::strict(&array).map(str::to_owned)
}

/// What holds for every verdict on exit 0.
fn words(verdict: &Verdict, stdout: &[u8]) {
    assert_eq!(verdict.output.is_some(), verdict.status == Status::Ok);
    assert_eq!(verdict.error.is_none(), verdict.status == Status::Ok);
    let Some(error) = &verdict.error else { return };
    assert_eq!(verdict.status, Status::ChannelFailure);
    assert!(["empty_output", "invalid_output", "output_schema"].contains(&error.reason.as_str()), "{error:?}");
    assert!(!error.message.is_empty() && error.hint.as_ref().is_some_and(|hint| !hint.is_empty()), "{error:?}");
    assert!(!error.retryable, "{error:?}");
    let offset = error.details.get("offset").and_then(Value::as_u64).unwrap_or_default();
    assert!(offset <= stdout.len() as u64, "{error:?} lies outside of {} bytes", stdout.len());
}

/// The scanner's own errors have a place in the text and words; what it takes, it finds where it stands.
fn place(kind: StdoutKind, stdout: &[u8]) {
    match json::check(stdout) {
        Ok(checked) => {
            let body = stdout.get(checked.body.clone()).expect("the body lies in the text");
            assert_eq!(Some(body), independent::body(stdout).map(str::as_bytes));
            let value = json::value(stdout).expect("what was checked is read");
            let again = serde_json::to_vec(&value).expect("a value is written");
            assert_eq!(json::value(&again).expect("what was written is read"), value);
        }
        Err(error) => {
            assert!(error.offset <= stdout.len() && !error.message.is_empty(), "{error:?}");
            assert!(std::str::from_utf8(stdout).is_err() || text_border(stdout, error.offset), "{error:?}");
        }
    }
    if kind == StdoutKind::Jsonl
        && let Err(error) = json::lines(stdout)
    {
        assert!(error.offset <= stdout.len() && !error.message.is_empty(), "{error:?}");
    }
}

/// Whether an offset cuts no character in two.
fn text_border(text: &[u8], offset: usize) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.is_char_boundary(offset))
}
