use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::*;

#[derive(serde::Deserialize, Debug)]
struct Input {
    rows: Vec<Row>,
}

#[derive(serde::Deserialize, Debug)]
struct Row {
    limit: u8,
}

fn refused<I: DeserializeOwned + fmt::Debug>(text: &str) -> (i32, Option<String>, Value, String) {
    let error = parse::<I>(text.as_bytes()).unwrap_err();
    let object = error.document().error;
    (error.exit_code(), object.reason, object.details.unwrap_or_default(), object.message.unwrap())
}

#[test]
fn good_input_is_read() {
    let input: Input = parse(br#" {"rows": [{"limit": 7, "unknown": {"a": [1, null, true]}}]} "#).unwrap();
    assert_eq!(input.rows[0].limit, 7);
}

#[test]
fn empty_input_is_a_call_error_of_its_own() {
    for text in ["", " \r\n\t"] {
        let (code, _, _, message) = refused::<Value>(text);
        assert_eq!(code, 64);
        assert!(message.contains("stdin is empty"), "{message}");
    }
}

#[test]
fn text_that_is_not_one_json_value_is_refused_with_its_place() {
    for text in ["{", "nul", "{} {}", "[1,]", "NaN", "\u{feff}{}", "{\"a\":1}x", &"[".repeat(100_000)] {
        let (code, reason, details, _) = refused::<Value>(text);
        assert_eq!((code, reason.as_deref()), (65, Some("invalid_input_json")), "{:.20}", text);
        assert!(details["line"].is_number() && details["column"].is_number(), "{:.20}", text);
    }
    assert_eq!(parse::<Value>(b"{\"a\":\"\xff\"}").unwrap_err().exit_code(), 65);
}

#[test]
fn a_wrong_type_is_named_by_its_pointer() {
    let (code, _, details, message) = refused::<Input>(r#"{"rows":[{"limit":1},{"limit":"x"}]}"#);
    assert_eq!((code, &details["pointer"]), (65, &Value::from("/rows/1/limit")));
    assert!(message.contains("/rows/1/limit") && message.contains("expected u8"), "{message}");
    let (_, _, details, message) = refused::<Input>(r#"{"rows":[{}]}"#);
    assert_eq!(details["pointer"], "/rows/0");
    assert!(message.contains("missing field `limit`"), "{message}");
}

#[test]
fn a_duplicate_key_is_refused_at_any_depth_and_in_any_type() {
    let known = r#"{"rows":[{"limit":1,"limit":200}]}"#;
    let unknown = r#"{"rows":[],"x":{"a~/b":1,"a~/b":1}}"#;
    let escaped = r#"{"rows":[],"a":1,"\u0061":2}"#;
    for (text, at) in [(known, "/rows/0/limit"), (unknown, "/x/a~0~1b"), (escaped, "/a")] {
        let (code, _, details, message) = refused::<Input>(text);
        assert_eq!((code, &details["pointer"]), (65, &Value::from(at)));
        assert!(message.contains("duplicate key"), "{message}");
    }
    assert_eq!(parse::<BTreeMap<String, u8>>(br#"{"a":1,"a":2}"#).unwrap_err().exit_code(), 65);
}

#[test]
fn equal_keys_in_different_objects_are_no_duplicates() {
    parse::<Value>(br#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}"#).unwrap();
}

#[test]
fn numbers_and_raw_values_survive() {
    assert_eq!(parse::<u64>(b"18446744073709551615").unwrap(), u64::MAX);
    assert_eq!(parse::<i128>(b"-170141183460469231731687303715884105728").unwrap(), i128::MIN);
    assert_eq!(parse::<Box<RawValue>>(b"{\"n\": 1.00}").unwrap().get(), "{\"n\": 1.00}");
    assert_eq!(parse::<Value>(b"[-0.5, 1e3]").unwrap()[1].as_f64(), Some(1000.0));
}

#[test]
fn the_limit_is_exact() {
    assert_eq!(read_limited(&b"12345"[..], 5).unwrap(), b"12345");
    let error = read_limited(&b"123456"[..], 5).unwrap_err();
    assert_eq!(error.exit_code(), 65);
    assert!(error.to_string().contains("larger than 5 bytes"), "{error}");
}
