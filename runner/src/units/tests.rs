//! Each form and each error once.

use super::*;
use proptest::prelude::*;

fn millis(text: &str) -> String {
    text.parse::<Millis>().map_or_else(|e| e.to_string(), |m| m.0.to_string())
}

fn size(text: &str) -> String {
    text.parse::<Size>().map_or_else(|e| e.to_string(), |m| m.0.to_string())
}

#[test]
fn durations_are_exact() {
    for (text, want) in [("200ms", "200"), ("30s", "30000"), ("2m", "120000"), ("1.5h", "5400000"), (" 0.25 s", "250")]
    {
        assert_eq!(millis(text), want, "{text}");
    }
}

#[test]
fn sizes_know_binary_and_decimal_units() {
    for (text, want) in [
        ("2GiB", "2147483648"),
        ("64KiB", "65536"),
        ("10B", "10"),
        ("8MB", "8000000"),
        ("4096", "4096"),
        ("0.5KiB", "512"),
    ] {
        assert_eq!(size(text), want, "{text}");
    }
}

#[test]
fn each_error_says_the_way_out() {
    assert_eq!(millis("30"), "`30` has no unit; write `30s` or `30ms`");
    assert_eq!(millis("0s"), "`0s` is zero; leave it out for the default, or name a positive duration");
    assert_eq!(millis("-1s"), "`-1s` is negative; name a positive duration");
    assert_eq!(millis("1.5ms"), "`1.5ms` is not a whole number of milliseconds; write it in a smaller unit");
    assert_eq!(millis("99999999999999999999h"), "`99999999999999999999h` is too large; the most is 87600h (ten years)");
    assert_eq!(millis("30 seconds"), "`30 seconds` is not a duration; write `200ms`, `30s`, `5m` or `1h`");
    assert_eq!(
        size("9223372036854775808"),
        "`9223372036854775808` is too large; the most is 9223372036854775807 bytes"
    );
    for text in ["", ".5s", "1.s", "1..2s", "1e3s", "s", "\u{661}s"] {
        assert!(millis(text).contains("is not a duration"), "{text}");
    }
}

#[test]
fn a_bare_number_is_a_size_and_no_duration() {
    assert_eq!(serde_json::from_str::<Size>("4096").unwrap(), Size(4096));
    let error = serde_json::from_str::<Millis>("30").unwrap_err().to_string();
    assert!(error.starts_with("`30` has no unit"), "{error}");
}

proptest! {
    #[test]
    fn what_is_shown_is_read_again(value in 1..MAX_MILLIS, bytes in 1..MAX_BYTES) {
        prop_assert_eq!(Millis(value).to_string().parse::<Millis>().unwrap(), Millis(value));
        prop_assert_eq!(Size(bytes).to_string().parse::<Size>().unwrap(), Size(bytes));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}") {
        let _ = (text.parse::<Millis>(), text.parse::<Size>());
    }
}
