//! Each rule once, and the two directions against serde_json.

use super::*;
use proptest::prelude::*;

fn fails(text: impl AsRef<[u8]>) -> (JsonErrorKind, usize, String) {
    let error = check(text.as_ref()).unwrap_err();
    (error.kind, error.offset, error.message)
}

#[test]
fn each_error_has_its_kind_place_and_words() {
    use JsonErrorKind::*;
    let cases: &[(&[u8], JsonErrorKind, usize, &str)] = &[
        (b"", Empty, 0, "the text is empty"),
        (b" \r\n", Empty, 3, "the text is empty"),
        (b"[\"\xff\"]", Utf8, 2, "bad UTF-8 at byte 2"),
        (b"A new version is there, run npm i", NotJson, 0, "not JSON at byte 0: \"A new version is there, ...\""),
        (b"npm warn", NotJson, 0, "not JSON at byte 0: \"npm warn\""),
        (b"[NaN]", NotANumber, 1, "`NaN` at byte 1"),
        (b"-Infinity", NotANumber, 0, "`-Infinity` at byte 0"),
        (b"{\"a\":[1,{\"x\":1,\"\\u0078\":2}]}", DuplicateKey, 15, "duplicate key `x` at /a/1/x"),
        (
            b"{\"$serde_json::private::Number\":\"1\"}",
            ReservedKey,
            1,
            "the key `$serde_json::private::Number` at byte 1 is reserved",
        ),
        (b"\"\\ud800\"", LoneSurrogate, 1, "lone surrogate at byte 1"),
        (b"\"\\udc00\"", LoneSurrogate, 1, "lone surrogate at byte 1"),
        (b"\"\\ud800\\u0041\"", LoneSurrogate, 1, "lone surrogate at byte 1"),
        (b"\"a\nb\"", ControlCharacter, 2, "control character 0x0a in a string at byte 2"),
        (b"{\"ok\": true}[]", Trailing, 12, "trailing data at byte 12"),
        (b"3 files", Trailing, 2, "trailing data at byte 2"),
        (b"{\"a\": [1, 2", Truncated, 11, "the document ends at byte 11 inside an array"),
        (b"{\"a\": \"x", Truncated, 8, "the document ends at byte 8 inside a string"),
        (b"[tru", Truncated, 4, "the document ends at byte 4 inside a word"),
        (b"[1,]", Syntax, 3, "expected a value at byte 3, found ']'"),
        (b"{\"a\" 1}", Syntax, 5, "expected `:` at byte 5, found '1'"),
        (b"{a: 1}", Syntax, 1, "expected a key in double quotes at byte 1, found 'a'"),
        (b"{\"a\": 1,}", Syntax, 8, "expected a key in double quotes at byte 8, found '}'"),
        (b"[01]", Syntax, 2, "a digit after a leading 0 at byte 2"),
        (b"\"\\x\"", Syntax, 1, "unknown escape at byte 1"),
    ];
    for (text, kind, offset, message) in cases {
        assert_eq!(fails(text), (*kind, *offset, (*message).to_owned()), "{}", String::from_utf8_lossy(text));
    }
    assert_eq!(check(b"NaN").unwrap_err().hint.unwrap(), "NaN is not JSON; write null or leave the member out");
}

#[test]
fn one_byte_order_mark_is_dropped_and_reported() {
    let checked = check(b"\xef\xbb\xbf {\"ok\":true}\r\n").unwrap();
    assert_eq!(checked, Checked { bom: true, body: 4..15 });
    assert_eq!(raw(b"\xef\xbb\xbf {\"ok\":true}\r\n").unwrap().get(), "{\"ok\":true}");
    assert_eq!(fails(b"\xef\xbb\xbf\xef\xbb\xbf1").0, JsonErrorKind::NotJson);
    assert!(!check(b"1").unwrap().bom);
    let hint = check(b"\xff\xfe{\0}\0").unwrap_err().hint.unwrap();
    assert_eq!(hint, "the text is UTF-16; JSON is UTF-8");
}

#[test]
fn depth_ends_where_serde_jsons_does() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert!(value(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert!(serde_json::from_str::<Value>(&nested(MAX_DEPTH + 1)).is_err());
    let (kind, offset, message) = fails(nested(100_000));
    assert_eq!((kind, offset), (JsonErrorKind::TooDeep, MAX_DEPTH));
    assert_eq!(message, "nested deeper than 127 at byte 127");
}

#[test]
fn what_goes_into_an_envelope_leaves_room_for_the_envelope() {
    let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
    let inside = |text: &str| format!("{{\"output\":{text}}}");
    let deepest = raw(nested(MAX_INNER_DEPTH).as_bytes()).unwrap();
    assert!(value(inside(deepest.get()).as_bytes()).is_ok());
    assert!(value(inside(&nested(MAX_INNER_DEPTH + 1)).as_bytes()).is_err());
    let error = raw(nested(MAX_DEPTH).as_bytes()).unwrap_err();
    assert_eq!(error.message, "nested deeper than 126 at byte 126");
    let line = nested(MAX_INNER_DEPTH - 1);
    assert!(value(inside(lines(line.as_bytes()).unwrap().get()).as_bytes()).is_ok());
}

#[test]
fn numbers_keys_and_text_stay_as_written() {
    let text = r#"{"id": 9007199254740993, "v": 18446744073709551616, "d": 0.1000000000000000055511151231257827, "z": -0, "a": 1e400}"#;
    assert_eq!(raw(text.as_bytes()).unwrap().get(), text);
    assert_eq!(
        value(text.as_bytes()).unwrap().to_string(),
        text.replace(": ", ":").replace(", ", ",").replace("1e400", "1e+400")
    );
}

#[test]
fn many_keys_take_linear_time() {
    let keys: Vec<String> = (0..200_000).map(|n| format!("\"k{n}\":0")).collect();
    let started = std::time::Instant::now();
    assert!(check(format!("{{{}}}", keys.join(",")).as_bytes()).is_ok());
    assert!(started.elapsed().as_secs() < 5);
    let (kind, _, message) = fails(format!("{{{},\"k7\":1}}", keys.join(",")));
    assert_eq!((kind, message.as_str()), (JsonErrorKind::DuplicateKey, "duplicate key `k7` at /k7"));
}

#[test]
fn lines_become_an_array() {
    assert_eq!(lines(b"").unwrap().get(), "[]");
    assert_eq!(lines(b"\xef\xbb\xbf{\"a\": 1}\r\n\n 2 \n[3]").unwrap().get(), "[{\"a\": 1},2,[3]]");
    let error = lines(b"1\n{\"a\": 1} x\n").unwrap_err();
    assert_eq!((error.kind, error.offset), (JsonErrorKind::Trailing, 11));
    assert_eq!(error.message, "trailing data at byte 11");
    let deep = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
    assert_eq!(lines(deep.as_bytes()).unwrap_err().kind, JsonErrorKind::TooDeep);
    assert!(value(lines(&deep.as_bytes()[2..deep.len() - 2]).unwrap().get().as_bytes()).is_ok());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |n| serde_json::Number::from_f64(n).map(Value::Number)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..12)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Texts near JSON, so that both parsers are met at the edges of the grammar.
fn near_json() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"b\"",
        "\"\\u0041\"",
        "\"\\ud83d\\ude00\"",
        "\\",
        "\\u12",
        "0",
        "-",
        "1",
        ".",
        "e",
        "E+",
        "true",
        "null",
        "fals",
        " ",
        "\n",
        "\u{1}",
        "é",
        "-0",
        "1.5",
        "NaN",
    ]);
    prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

fn same_as_serde(text: &str) -> Result<(), TestCaseError> {
    let theirs = serde_json::from_str::<Value>(text);
    match check(text.as_bytes()) {
        Ok(checked) => {
            let theirs = theirs.map_err(|error| TestCaseError::fail(format!("{text:?}: {error}")))?;
            prop_assert_eq!(&theirs, &value(text.as_bytes()).unwrap());
            prop_assert_eq!(text[checked.body].trim(), text.trim_matches([' ', '\n', '\r', '\t']));
        }
        Err(error) => {
            let ours = matches!(error.kind, JsonErrorKind::DuplicateKey | JsonErrorKind::ReservedKey);
            prop_assert!(ours || theirs.is_err(), "{:?}: {}", text, error);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_serde_json_writes_passes(value in any_json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        prop_assert!(check(text.as_bytes()).is_ok(), "{}", text);
        same_as_serde(&text)?;
        same_as_serde(&text[..text.floor_char_boundary(text.len() / 2)])?;
    }

    #[test]
    fn near_json_is_judged_as_serde_json_judges_it(text in near_json()) {
        same_as_serde(&text)?;
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = (check(&bytes), lines(&bytes), raw(&bytes));
    }
}
