//! A10, A22: a tool that dies, by whose hand and of what.

use crate::hostile::row::{Exit, Expect, OK, ROW, Row};

/// One signal that the tool sends to itself.
const fn raised(name: &'static str, number: &'static [&'static str], expect: Expect) -> Row {
    Row { case: "A22", name, tool: "raise.c", args: number, expect, ..ROW }
}

const fn fault(name: &'static str, how: &'static [&'static str], expect: Expect) -> Row {
    Row { case: "A22", name, tool: "fault.c", args: how, expect, ..ROW }
}

const fn exit(name: &'static str, code: &'static [&'static str], expect: Expect) -> Row {
    Row { case: "A22", name, tool: "exit.sh", args: code, expect, ..ROW }
}

const SURVIVED: Expect = Expect { holds: &[("/output/survived", "true")], ..OK };

/// The rows.
pub const ROWS: &[Row] = &[
    Row {
        case: "A10",
        name: "SIGTERM to itself",
        tool: "raise.c",
        args: &["self", "15"],
        expect: Expect::crash("SIGTERM"),
        within: (0, 5_000),
        ..ROW
    },
    Row {
        case: "A10",
        name: "SIGTERM to itself in strict",
        tool: "raise.c",
        args: &["self", "15"],
        profile: "strict",
        expect: Expect::crash("SIGTERM"),
        within: (0, 5_000),
        ..ROW
    },
    raised("SIGHUP", &["self", "1"], Expect::crash("SIGHUP")),
    raised("SIGQUIT", &["self", "3"], Expect::crash("SIGQUIT")),
    raised("SIGTRAP", &["self", "5"], Expect::crash("SIGTRAP")),
    raised("SIGABRT", &["self", "6"], Expect::crash("SIGABRT")),
    raised("SIGBUS", &["self", "7"], Expect::crash("SIGBUS")),
    raised("SIGFPE", &["self", "8"], Expect::crash("SIGFPE")),
    raised("SIGKILL", &["self", "9"], Expect::crash("SIGKILL")),
    raised("SIGUSR1", &["self", "10"], Expect::crash("SIGUSR1")),
    raised("SIGPIPE", &["self", "13"], Expect::crash("SIGPIPE")),
    raised("SIGALRM", &["self", "14"], Expect::crash("SIGALRM")),
    raised("SIGCHLD is nothing", &["self", "17"], SURVIVED),
    raised("SIGXCPU", &["self", "24"], Expect::crash("SIGXCPU")),
    raised("SIGXFSZ", &["self", "25"], Expect { exit: Exit::Signal("SIGXFSZ"), ..Expect::failure("file_size_limit") }),
    raised("SIGSYS", &["self", "31"], Expect { exit: Exit::Signal("SIGSYS"), ..Expect::failure("sandbox_violation") }),
    raised("the last real-time signal", &["self", "64"], Expect::crash("SIGRTMIN+30")),
    raised("a child kills the tool", &["child", "9"], Expect::crash("SIGKILL")),
    raised("a child terminates the tool", &["child", "15"], Expect::crash("SIGTERM")),
    raised("a thread aborts the tool", &["thread", "6"], Expect::crash("SIGABRT")),
    // The number of an OOM kill, and much memory: and yet the kernel has counted none.
    raised("SIGKILL with much memory", &["core", "9"], Expect::crash("SIGKILL")),
    fault("a null pointer", &["null"], Expect::crash("SIGSEGV")),
    fault("a stack without end", &["stack"], Expect::crash("SIGSEGV")),
    fault("a division by zero", &["divide"], Expect::crash("SIGFPE")),
    fault("an illegal instruction", &["illegal"], Expect::crash("SIGILL")),
    fault("a file that is too short", &["bus"], Expect::crash("SIGBUS")),
    fault("an abort", &["abort"], Expect::crash("SIGABRT")),
    fault("the first thread leaves before the others", &["threadexit"], OK),
    exit("the code of a timeout", &["124"], Expect::undeclared(124)),
    exit("the code of a program not found", &["127"], Expect::undeclared(127)),
    exit("the code of a kill", &["137"], Expect::undeclared(137)),
    exit("the code of a term", &["143"], Expect::undeclared(143)),
    exit("the last code", &["255"], Expect::undeclared(255)),
    exit("the code of a bug in toolcell", &["70"], Expect { exit: Exit::Code(70), ..Expect::failure("tool_internal") }),
    exit(
        "a perfect answer with a bad code",
        &["7", "{\"rows\":[1,2,3]}"],
        Expect { warnings: &["stdout_partial"], holds: &[("/output", "null")], ..Expect::undeclared(7) },
    ),
    exit(
        "an error object that claims a runner's reason",
        &["1", "{\"error\":{\"status\":\"channel_failure\",\"reason\":\"timeout\",\"message\":\"late\"}}"],
        Expect { killed_by: "", exit: Exit::Code(1), ..Expect::failure("timeout") },
    ),
    Row { case: "A22", name: "a panic among threads", tool: "hostile_threads", expect: Expect::undeclared(101), ..ROW },
    Row {
        case: "D30",
        name: "a denial in the tool's own words",
        tool: "denied.sh",
        expect: Expect {
            holds: &[("/stderr/truncated", "false"), ("/sandbox/profile", "\"standard\"")],
            ..Expect::undeclared(1)
        },
        ..ROW
    },
    Row { case: "D19", name: "a tool that kills all it can", tool: "kill_all.py", ..ROW },
];
