//! A: how a tool lives on, and how it has to end.

use crate::hostile::row::{AFTER_GRACE, AT_DEADLINE, Exit, Expect, LONG, OK, ROW, Row, SHORT, Send};

const LEAKS: Expect = Expect { warnings: &["leaked_processes"], ..OK };
const TIMEOUT: Expect = Expect::timeout();
/// Killed after the grace, and said so.
const KILLED: Expect = Expect {
    exit: Exit::Signal("SIGKILL"),
    holds: &[("/error/details/escalated", "true"), ("/error/details/started", "true")],
    ..TIMEOUT
};

/// The rows.
pub const ROWS: &[Row] = &[
    Row { case: "A01", name: "a grandchild keeps stdout", tool: "grandchild.sh", expect: LEAKS, ..ROW },
    Row {
        case: "A02",
        name: "the children of a shell",
        tool: "busy_children.sh",
        limits: SHORT,
        expect: Expect { warnings: &["stdout_partial"], ..TIMEOUT },
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A03",
        name: "a session of its own",
        tool: "setsid.sh",
        limits: SHORT,
        expect: TIMEOUT,
        within: AT_DEADLINE,
        ..ROW
    },
    Row { case: "A04", name: "a daemon", tool: "daemon.py", expect: LEAKS, ..ROW },
    Row { case: "A04", name: "a hopping daemon", tool: "hop.c", expect: LEAKS, ..ROW },
    Row { case: "A04", name: "three hopping daemons", tool: "hop.c", args: &["many"], expect: LEAKS, ..ROW },
    Row { case: "A04", name: "a hopping daemon in strict", tool: "hop.c", profile: "strict", expect: LEAKS, ..ROW },
    Row { case: "A04", name: "a hopping daemon that is deaf", tool: "hop.c", args: &["catch"], expect: LEAKS, ..ROW },
    Row {
        case: "A04",
        name: "a hopping child at the deadline",
        tool: "hop.c",
        args: &["wait"],
        limits: SHORT,
        expect: Expect { warnings: &["stdout_partial"], ..TIMEOUT },
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A05",
        name: "every signal ignored",
        tool: "ignore.py",
        limits: SHORT,
        expect: KILLED,
        within: AFTER_GRACE,
        ..ROW
    },
    Row {
        case: "A05",
        name: "every signal blocked",
        tool: "block.c",
        limits: SHORT,
        expect: KILLED,
        within: AFTER_GRACE,
        ..ROW
    },
    Row {
        case: "A05",
        name: "children instead of an end",
        tool: "term_forks.c",
        limits: SHORT,
        expect: KILLED,
        within: AFTER_GRACE,
        ..ROW
    },
    Row {
        case: "A05",
        name: "itself anew instead of an end",
        tool: "perl.pl",
        limits: SHORT,
        expect: KILLED,
        within: AFTER_GRACE,
        ..ROW
    },
    Row {
        case: "A05",
        name: "an answer instead of an end",
        tool: "term_answers.py",
        args: &["0"],
        limits: SHORT,
        expect: Expect {
            exit: Exit::Code(0),
            warnings: &["stdout_partial"],
            holds: &[("/error/details/escalated", "false"), ("/output", "null")],
            ..TIMEOUT
        },
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A05",
        name: "no data instead of an end",
        tool: "term_answers.py",
        args: &["66"],
        limits: SHORT,
        expect: Expect { exit: Exit::Code(66), ..TIMEOUT },
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A09",
        name: "a group that stops itself",
        tool: "stop.sh",
        limits: SHORT,
        expect: Expect { warnings: &["stdout_partial"], ..TIMEOUT },
        within: AT_DEADLINE,
        ..ROW
    },
    Row { case: "A09", name: "a stopped child", tool: "stopped.py", args: &["child"], expect: LEAKS, ..ROW },
    Row {
        case: "A09",
        name: "a tool that is stopped for ever",
        tool: "stopped.py",
        args: &["parent"],
        limits: SHORT,
        expect: TIMEOUT,
        within: AT_DEADLINE,
        ..ROW
    },
    // An orphaned process group has no terminal to wait for: the kernel does not stop it.
    Row { case: "A09", name: "a stop as by a terminal", tool: "stopped.py", args: &["tty"], ..ROW },
    Row { case: "A11", name: "a burst of orphans", tool: "orphans.py", within: (0, 12_000), ..ROW },
    Row {
        case: "A11",
        name: "a tool that executes itself",
        tool: "exec_loop.sh",
        limits: SHORT,
        expect: TIMEOUT,
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A15",
        name: "a part of an answer",
        tool: "partial.py",
        limits: SHORT,
        expect: Expect {
            warnings: &["stdout_partial"],
            holds: &[
                ("/output", "null"),
                ("/stderr", "{\"text\":\"opening source 7\\n\",\"truncated\":false}"),
                ("/usage/stdout_bytes", "11"),
            ],
            ..TIMEOUT
        },
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A19",
        name: "no time at all",
        tool: "echo.sh",
        flags: &["--timeout", "0s"],
        expect: Expect::refused("usage", ""),
        ..ROW
    },
    Row {
        case: "A19",
        name: "a millisecond",
        tool: "nap.c",
        args: &["3000"],
        flags: &["--timeout", "1ms"],
        expect: TIMEOUT,
        ..ROW
    },
    Row {
        case: "A19",
        name: "a century by flag",
        tool: "echo.sh",
        flags: &["--timeout", "876000h"],
        expect: Expect::refused("usage", "the most is"),
        ..ROW
    },
    Row {
        case: "A19",
        name: "ten years by profile",
        tool: "echo.sh",
        profile: "century",
        limits: "wall = \"87600h\"\ngrace = \"1s\"\n",
        expect: Expect { without: &["limit_clamped", "throttled"], ..OK },
        ..ROW
    },
    Row {
        case: "A19",
        name: "ten years where seconds are allowed",
        tool: "echo.sh",
        limits: "wall = \"87600h\"\n",
        expect: Expect { warnings: &["limit_clamped"], ..OK },
        ..ROW
    },
    Row {
        case: "A19",
        name: "a negative time",
        tool: "echo.sh",
        flags: &["--timeout=-5s"],
        expect: Expect::refused("usage", "negative"),
        ..ROW
    },
    Row {
        case: "A21",
        name: "a drip without line ends",
        tool: "endless.py",
        args: &["drip"],
        limits: SHORT,
        expect: Expect { warnings: &["stdout_partial"], ..TIMEOUT },
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A21",
        name: "a flood on stderr until the deadline",
        tool: "endless.py",
        args: &["stderr"],
        limits: SHORT,
        expect: Expect { warnings: &["stderr_truncated"], ..TIMEOUT },
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A21",
        name: "a flood on stderr with stdout closed",
        tool: "endless.py",
        args: &["closed"],
        limits: SHORT,
        expect: Expect { warnings: &["stderr_truncated"], ..TIMEOUT },
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A21",
        name: "a drip that leaves a large input unread",
        tool: "endless.py",
        args: &["unread"],
        limits: SHORT,
        input: Send::Made(b"[\"", b"x", 2_000_000, b"\"]"),
        expect: Expect::refused("input_schema", ""),
        ..ROW
    },
    Row {
        case: "A21",
        name: "a drip that leaves a large object unread",
        tool: "endless.py",
        args: &["unread"],
        limits: SHORT,
        input: Send::Made(b"{\"k\":\"", b"x", 2_000_000, b"\"}"),
        expect: Expect { warnings: &["stdin_closed_early"], ..TIMEOUT },
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "A21",
        name: "a flood ends before the deadline",
        tool: "endless.py",
        args: &["flood"],
        limits: LONG,
        expect: Expect { killed_by: "output_limit", exit: Exit::Any, ..Expect::failure("output_limit") },
        ..ROW
    },
];
