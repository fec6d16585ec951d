//! B09 to B15: what a tool prints and is no JSON, each with its own message and byte offset.

use crate::hostile::row::{Expect, OK, ROW, Row, Send};

const fn prints(case: &'static str, name: &'static str, bytes: &'static [u8], expect: Expect) -> Row {
    Row { case, name, tool: "bytes.py", input: Send::Print(bytes), expect, ..ROW }
}

/// Refused, with this in the message and this offset in the details.
const fn at(message: &'static str, offset: &'static [(&'static str, &'static str)]) -> Expect {
    Expect { holds: offset, ..Expect::invalid_output(message) }
}

macro_rules! offset {
    ($number:literal) => {
        &[("/error/details/offset", $number), ("/output", "null")]
    };
}

/// The rows.
pub const ROWS: &[Row] = &[
    prints("B07", "bytes that are no text", b"{\"a\":\"\xff\"}", at("UTF-8", offset!("6"))),
    prints("B07", "half a character", b"{\"a\":\"\xe4\xb8\"}", at("UTF-8", offset!("6"))),
    prints("B07", "a character cut at the end", b"\"\xf0\x9f\x98", at("UTF-8", offset!("1"))),
    prints("B07", "a long form of a slash", b"\"\xc0\xaf\"", at("UTF-8", offset!("1"))),
    prints("B07", "a surrogate in bytes", b"\"\xed\xa0\x80\"", at("UTF-8", offset!("1"))),
    prints("B07", "another encoding", b"\xff\xfe{\x00}\x00", at("UTF-8", offset!("0"))),
    prints("B07", "an escaped half of a pair", b"{\"a\":\"\\ud800\"}", at("surrogate", offset!("6"))),
    prints("B09", "a notice before it", b"A new version\n{\"ok\":true}\n", at("not JSON at byte 0", offset!("0"))),
    prints("B09", "a log line before it", b"[info] starting\n{\"ok\":true}\n", at("byte 1", offset!("1"))),
    prints("B09", "a colour before it", b"\x1b[32m{\"ok\":true}", at("byte 0", offset!("0"))),
    prints(
        "B10",
        "a second document",
        b"{\"ok\":true}\n{\"ok\":false}\n",
        at("trailing data at byte 12", offset!("12")),
    ),
    prints("B10", "words after it", b"{\"ok\":true} Done", at("trailing data at byte 12", offset!("12"))),
    prints("B10", "a zero byte after it", b"{\"ok\":true}\0", at("trailing data at byte 11", offset!("11"))),
    prints("B10", "blanks after it", b"{\"ok\":true}\r\n \t\r\n", OK),
    prints("B11", "NaN", b"{\"mean\":NaN}", at("`NaN` at byte 8", offset!("8"))),
    prints("B11", "Infinity", b"{\"max\":Infinity}", at("`Infinity` at byte 7", offset!("7"))),
    prints("B11", "minus Infinity", b"[-Infinity]", at("`-Infinity` at byte 1", offset!("1"))),
    prints("B11", "a number without end", b"1e400", Expect { holds: &[("/output", "1e+400")], ..OK }),
    prints("B11", "a leading zero", b"[007]", at("leading 0", offset!("2"))),
    prints("B11", "a hexadecimal number", b"[0x10]", at("byte 2", offset!("2"))),
    prints(
        "B12",
        "an integer beyond a float",
        b"[9007199254740993,18446744073709551616,-0]",
        Expect { holds: &[("/output", "[9007199254740993,18446744073709551616,-0]")], ..OK },
    ),
    prints("B13", "the same key twice", b"{\"path\":1,\"path\":2}", at("duplicate key `path`", offset!("10"))),
    prints("B13", "the same key in two spellings", b"{\"a\":1,\"\\u0061\":2}", at("duplicate key `a`", offset!("7"))),
    prints(
        "B13",
        "the same key deep inside",
        b"[{\"x\":{\"k\":1,\"k\":2}}]",
        at("duplicate key `k` at /0/x/k", offset!("13")),
    ),
    prints("B13", "the same empty key", b"{\"\":1,\"\":2}", at("duplicate key ``", offset!("6"))),
    Row {
        case: "B14",
        name: "ten thousand levels",
        tool: "bytes.py",
        input: Send::Repeat(b"", b'[', 10_000, b"]"),
        expect: at("nested deeper than 126 at byte 126", offset!("126")),
        ..ROW
    },
    Row {
        case: "B14",
        name: "a million levels of objects",
        tool: "echo.sh",
        profile: "standard",
        input: Send::Made(b"", b"{\"a\":", 1_000_000, b""),
        expect: Expect {
            holds: &[("/error/details/offset", "635")],
            ..Expect::refused("invalid_input_json", "nested deeper than 127 at byte 635")
        },
        ..ROW
    },
    Row {
        case: "B14",
        name: "as deep as is read",
        tool: "bytes.py",
        input: Send::Repeat(b"", b'[', 126, &[b']'; 126]),
        ..ROW
    },
    prints("B15", "a byte-order mark", b"\xef\xbb\xbf{\"ok\":true}\r\n", Expect { warnings: &["bom_dropped"], ..OK }),
    prints("B15", "two byte-order marks", b"\xef\xbb\xbf\xef\xbb\xbf{}", at("byte 3", offset!("3"))),
    prints("B15", "a byte-order mark alone", b"\xef\xbb\xbf", Expect::failure("empty_output")),
    prints("B15", "a byte-order mark after it", b"{}\xef\xbb\xbf", at("trailing data at byte 2", offset!("2"))),
    prints("B10", "a document that is cut off", b"{\"a\":[1,2", at("ends at byte 9 inside an array", offset!("9"))),
    prints("B10", "a string that is cut off", b"{\"a\":\"xy", at("ends at byte 8 inside a string", offset!("8"))),
    prints("B10", "a comma too many", b"[1,2,]", at("byte 5", offset!("5"))),
    prints("B10", "single quotes", b"{'a':1}", at("byte 1", offset!("1"))),
    prints("B10", "a comment", b"{\"a\":1} // one", at("trailing data at byte 8", offset!("8"))),
    prints("B10", "Python's own words", b"{\"a\":None}", at("byte 5", offset!("5"))),
    prints("B10", "a control character", b"\"a\nb\"", at("control character 0x0a", offset!("2"))),
    prints(
        "B10",
        "a key that the parser keeps for itself",
        b"{\"$serde_json::private::Number\":\"1\"}",
        at("reserved", offset!("1")),
    ),
];
