use super::*;

#[test]
fn the_exit_code_has_the_status_that_the_author_chose() {
    let cases = [
        (ToolError::call_error("m"), 64),
        (ToolError::call_error("m").reason("not_permitted"), 77),
        (ToolError::call_error("m").retryable(true), 64),
        (ToolError::data_limitation("m"), 66),
        (ToolError::data_limitation("m").reason("not_permitted"), 66),
        (ToolError::channel_failure("m"), 69),
        (ToolError::channel_failure("m").retryable(false), 69),
        (ToolError::channel_failure("m").retryable(true), 75),
        (ToolError::channel_failure("m").retry_after(Duration::from_secs(1)), 75),
        (ToolError::internal("m"), 70),
    ];
    for (error, code) in cases {
        assert_eq!(error.exit_code(), code, "{error}");
        assert_eq!(exit::lookup(code).unwrap().status, error.status(), "{error}");
    }
}

#[test]
fn the_document_says_what_was_said() {
    let error = ToolError::channel_failure("busy")
        .reason("rate_limited")
        .detail("limit", 5)
        .retry_after(Duration::from_millis(1500));
    assert_eq!(
        serde_json::to_string(&error.document()).unwrap(),
        r#"{"error":{"status":"channel_failure","reason":"rate_limited","message":"busy","details":{"limit":5},"retryable":true,"retry_after_ms":1500}}"#
    );
}

#[test]
fn what_does_not_count_is_left_out() {
    let error = ToolError::call_error("m").retry_after(Duration::from_secs(1)).partial([1]);
    assert_eq!(serde_json::to_string(&error.document()).unwrap(), r#"{"error":{"status":"call_error","message":"m"}}"#);
}

#[test]
fn a_partial_answer_stands_beside_the_error() {
    let document = ToolError::data_limitation("only 2024").partial(serde_json::json!({"rows": [1]})).document();
    assert_eq!(document.output.unwrap().get(), r#"{"rows":[1]}"#);
}

#[test]
fn a_partial_answer_that_json_cannot_express_is_not_dropped_silently() {
    let error = ToolError::data_limitation("only 2024").partial(f64::NAN);
    assert_eq!((error.status(), error.exit_code()), (Status::ChannelFailure, 70));
}

#[test]
fn a_detail_that_json_cannot_express_is_named() {
    let document = ToolError::call_error("m").detail("ratio", f64::INFINITY).document();
    let details = document.error.details.unwrap();
    assert!(details["ratio"].as_str().unwrap().contains("inf"), "{details}");
}

#[test]
fn reasons_keep_the_pattern() {
    let longest = "a".repeat(64);
    for good in ["a", "no_coverage", "http_404", longest.as_str()] {
        assert!(is_reason(good), "{good}");
    }
    let too_long = "a".repeat(65);
    for bad in ["", "4xx", "_a", "No", "no-coverage", "no coverage", "é", too_long.as_str()] {
        assert!(!is_reason(bad), "{bad}");
    }
}

#[test]
#[should_panic(expected = "use a word like `no_coverage`")]
fn a_bad_reason_is_refused() {
    drop(ToolError::call_error("m").reason("No Coverage"));
}
