//! B: streams that are used oddly.

use crate::hostile::row::{EITHER, Exit, Expect, LONG, OK, ROW, Row, Send};

const fn streams(name: &'static str, how: &'static [&'static str], expect: Expect) -> Row {
    Row { case: "B19", name, tool: "streams.py", args: how, expect, ..ROW }
}

const EMPTY: Expect = Expect::failure("empty_output");

/// The rows.
pub const ROWS: &[Row] = &[
    Row {
        case: "B02",
        name: "more than a pipe holds",
        tool: "bytes.py",
        input: Send::Repeat(b"\"", b'a', 300_000, b"\""),
        expect: Expect { holds: &[("/usage/stdout_bytes", "300002")], ..OK },
        ..ROW
    },
    Row {
        case: "B22",
        name: "one line below the limit",
        tool: "bytes.py",
        input: Send::Repeat(b"\"", b'q', 3_000_000, b"\""),
        ..ROW
    },
    Row {
        case: "B22",
        name: "as much as the limit",
        tool: "bytes.py",
        input: Send::Repeat(b"\"", b'q', (4 << 20) - 2, b"\""),
        ..ROW
    },
    Row {
        case: "B22",
        name: "a byte more than the limit",
        tool: "bytes.py",
        input: Send::Repeat(b"\"", b'q', (4 << 20) - 1, b"\""),
        // Whether toolcell or the tool itself was first to end it is a matter of microseconds.
        expect: Expect { killed_by: EITHER, ..OVER },
        ..ROW
    },
    Row {
        case: "B05",
        name: "a hundred mebibytes in one line",
        tool: "bytes.py",
        input: Send::Repeat(b"\"", b'q', 100 << 20, b"\""),
        expect: Expect { killed_by: "output_limit", ..OVER },
        ..ROW
    },
    Row {
        case: "B05",
        name: "a flood on both",
        tool: "endless.py",
        args: &["both"],
        expect: Expect { killed_by: "output_limit", warnings: &["stderr_truncated"], ..OVER },
        ..ROW
    },
    Row {
        case: "B05",
        name: "a flood of blanks",
        tool: "bytes.py",
        input: Send::Repeat(b"", b' ', 100 << 20, b"{}"),
        expect: Expect { killed_by: "output_limit", ..OVER },
        ..ROW
    },
    Row {
        case: "B04",
        name: "an exit code before a large input",
        tool: "streams.py",
        args: &["close"],
        input: Send::Made(b"{\"k\":\"", b"x", 1_000_000, b"\"}"),
        expect: Expect { warnings: &["stdin_closed_early"], ..EMPTY },
        ..ROW
    },
    streams("an answer on standard input", &["swap"], OK),
    streams("everything closed", &["close"], EMPTY),
    streams(
        "an output that does not block",
        &["nonblock"],
        Expect { holds: &[("/usage/stdout_bytes", "1000002")], ..OK },
    ),
    // What comes within the leak window still belongs to the answer.
    streams("a child that prints late", &["late"], Expect { holds: &[("/output", "\"late\"")], ..OK }),
    streams("a child that answers in its place", &["cloexec"], OK),
    streams("streams by their paths", &["reopen"], Expect { holds: &[("/output", "{\"n\":2}")], ..OK }),
    streams("an output that cannot be cut", &["truncate"], OK),
    Row { case: "B17", name: "nothing said", tool: "exit.sh", args: &["0"], expect: EMPTY, ..ROW },
    Row { case: "B17", name: "nothing but blanks", tool: "exit.sh", args: &["0", " \n\t\r\n"], expect: EMPTY, ..ROW },
    Row {
        case: "D28",
        name: "folders full of what is hard to remove",
        tool: "scratch.py",
        limits: LONG,
        expect: Expect { without: &["unreaped"], ..OK },
        ..ROW
    },
];

/// Too much output, by whichever of the two evidences.
const OVER: Expect = Expect { killed_by: "output_limit", exit: Exit::Any, ..Expect::failure("output_limit") };
