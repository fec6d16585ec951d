//! B09 to B15, the other way round: what a caller sends and is no JSON. Nothing is started.

use crate::hostile::row::{Expect, OK, ROW, Row, Send};

const fn sends(case: &'static str, name: &'static str, input: Send, expect: Expect) -> Row {
    Row { case, name, tool: "echo.sh", input, expect, ..ROW }
}

/// Refused, with this in the message and this offset in the details.
const fn at(message: &'static str, offset: &'static [(&'static str, &'static str)]) -> Expect {
    Expect { holds: offset, ..Expect::refused("invalid_input_json", message) }
}

macro_rules! offset {
    ($number:literal) => {
        &[("/error/details/offset", $number), ("/attempts", "0")]
    };
}

/// The rows.
pub const ROWS: &[Row] = &[
    sends("B07", "input that is no text", Send::Bytes(b"{\"a\":\"\xff\"}"), at("UTF-8", offset!("6"))),
    sends("B07", "input in another encoding", Send::Bytes(b"\xfe\xff\x00{\x00}"), at("UTF-8", offset!("0"))),
    sends("B07", "input with half of a pair", Send::Bytes(b"{\"a\":\"\\udc00x\"}"), at("surrogate", offset!("6"))),
    sends("B09", "a log line before the input", Send::Bytes(b"ready\n{}"), at("not JSON at byte 0", offset!("0"))),
    sends("B10", "two inputs", Send::Bytes(b"{}{}"), at("trailing data at byte 2", offset!("2"))),
    sends("B10", "words after the input", Send::Bytes(b"{} \n."), at("trailing data at byte 4", offset!("4"))),
    sends("B10", "an input that is cut off", Send::Bytes(b"{\"a\":"), at("ends at byte 5", offset!("5"))),
    sends("B11", "NaN in the input", Send::Bytes(b"{\"a\":[1,NaN]}"), at("`NaN` at byte 8", offset!("8"))),
    sends("B11", "Infinity in the input", Send::Bytes(b"{\"a\":-Infinity}"), at("`-Infinity` at byte 5", offset!("5"))),
    sends(
        "B12",
        "huge numbers in the input",
        Send::Bytes(b"{\"a\":1e400,\"b\":18446744073709551616,\"c\":-0,\"d\":0.1000000000000000055511151231257827}"),
        Expect {
            holds: &[(
                "/output",
                "{\"a\":1e+400,\"b\":18446744073709551616,\"c\":-0,\"d\":0.1000000000000000055511151231257827}",
            )],
            ..OK
        },
    ),
    sends(
        "B12",
        "a number of ten thousand digits",
        Send::Made(b"{\"a\":1", b"0", 10_000, b"}"),
        Expect { holds: &[("/usage/stdout_bytes", "10007")], ..OK },
    ),
    sends(
        "B13",
        "the same key twice in the input",
        Send::Bytes(b"{\"path\":1,\"path\":2}"),
        at("duplicate key `path`", offset!("10")),
    ),
    sends(
        "B13",
        "the same key spelled otherwise",
        Send::Bytes(b"{\"a\":{\"\\u0062\":1,\"b\":2}}"),
        at("duplicate key `b` at /a/b", offset!("17")),
    ),
    sends(
        "B14",
        "an input of ten thousand levels",
        Send::Made(b"{\"a\":", b"[", 10_000, b"]"),
        at("nested deeper than 127 at byte 131", offset!("131")),
    ),
    sends("B15", "an input with a byte-order mark", Send::Bytes(b"\xef\xbb\xbf{\"ok\":true}\r\n"), OK),
    sends("B15", "an input of a byte-order mark", Send::Bytes(b"\xef\xbb\xbf"), at("empty", offset!("3"))),
    sends("B17", "an empty input", Send::Bytes(b""), at("empty", offset!("0"))),
    sends("B17", "an input of blanks", Send::Bytes(b" \n "), at("empty", offset!("3"))),
    sends("B17", "an input that is no object", Send::Bytes(b"[]"), Expect::refused("input_schema", "")),
    sends(
        "B21",
        "a zero byte in a string",
        Send::Bytes(b"{\"a\":\"x\\u0000y\"}"),
        Expect { holds: &[("/output", "{\"a\":\"x\\u0000y\"}")], ..OK },
    ),
    sends(
        "B22",
        "an input of a hundred mebibytes",
        Send::Made(b"{\"a\":\"", b"x", 100 << 20, b"\"}"),
        Expect::refused("usage", "larger than 64 MiB"),
    ),
    sends(
        "B01",
        "a large input and a large output at once",
        Send::Made(b"{\"a\":\"", b"x", 4_000_000, b"\"}"),
        Expect { holds: &[("/usage/stdout_bytes", "4000008")], ..OK },
    ),
];
