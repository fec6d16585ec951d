//! C, H: memory, processes, files, and what they leave.

use crate::hostile::row::{AT_DEADLINE, Exit, Expect, LONG, OK, ROW, Row};

const OOM: Expect = Expect { warnings: &[], ..Expect::out_of_memory() };
const LEAKS: Expect = Expect { warnings: &["leaked_processes"], ..OK };

const fn memory(case: &'static str, name: &'static str, how: &'static [&'static str], without: Expect) -> Row {
    Row { case, name, tool: "memory.py", args: how, expect: OOM, without_group: Some(without), ..ROW }
}

/// Without a group each process has a limit of its own, and Python says so and exits 1.
const DENIED: Expect = Expect::undeclared(1);

/// The rows.
pub const ROWS: &[Row] = &[
    memory("C02", "more memory than there is", &["self"], DENIED),
    memory("C02", "more and more memory", &["slow"], DENIED),
    memory("C01", "a child without memory", &["child"], OK),
    memory("C01", "a hidden grandchild without memory", &["hidden"], OK),
    Row {
        // The deadline falls as well; the kernel's counter says what was the cause.
        limits: "wall = \"4s\"\ngrace = \"300ms\"\nmemory = \"64MiB\"\n",
        expect: Expect { killed_by: "deadline", ..OOM },
        without_group: Some(Expect::timeout()),
        within: (3_950, 9_000),
        ..memory("C01", "a child without memory at the deadline", &["waits"], OK)
    },
    Row {
        case: "C01",
        name: "a tree of processes without memory",
        tool: "memory_tree.py",
        expect: OOM,
        without_group: Some(OK),
        ..ROW
    },
    Row {
        case: "C01",
        name: "shared memory beyond the limit",
        tool: "memory_shared.c",
        args: &["map"],
        limits: "wall = \"20s\"\ngrace = \"300ms\"\nmemory = \"64MiB\"\n",
        expect: OOM,
        without_group: Some(OK),
        ..ROW
    },
    Row { expect: OK, ..memory("C02", "nearly all the memory there is", &["near"], OK) },
    Row {
        expect: Expect::undeclared(3),
        ..memory("C02", "a tool that copes with too little", &["caught"], Expect::undeclared(3))
    },
    Row {
        expect: Expect::crash("SIGKILL"),
        ..memory("C02", "a kill beside nearly no memory", &["crash"], Expect::crash("SIGKILL"))
    },
    Row {
        case: "C07",
        name: "a bomb of a shell",
        tool: "bomb.sh",
        limits: BOMB,
        expect: Expect { warnings: &["pids_limit_hit"], ..Expect::timeout() },
        without_group: Some(Expect::timeout()),
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "C07",
        name: "a bomb of deaf sessions",
        tool: "bomb.c",
        args: &["fork"],
        limits: BOMB,
        expect: Expect { exit: Exit::Signal("SIGKILL"), warnings: &["pids_limit_hit"], ..Expect::timeout() },
        without_group: Some(Expect::timeout()),
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "C07",
        name: "a bomb of vforks",
        tool: "bomb.c",
        args: &["vfork"],
        limits: BOMB,
        expect: Expect { warnings: &["pids_limit_hit"], ..Expect::timeout() },
        without_group: Some(Expect::timeout()),
        within: AT_DEADLINE,
        ..ROW
    },
    Row {
        case: "C07",
        name: "a bomb of threads",
        tool: "bomb.c",
        args: &["thread"],
        expect: Expect { warnings: &["pids_limit_hit"], holds: &[("/output/few", "true")], ..OK },
        without_group: Some(Expect { holds: &[("/output/few", "true")], ..OK }),
        ..ROW
    },
    Row { case: "C08", name: "children of the first instant", tool: "early.c", expect: LEAKS, ..ROW },
    Row {
        case: "C08",
        name: "children of the first instant in strict",
        tool: "early.c",
        profile: "strict",
        expect: LEAKS,
        ..ROW
    },
    Row {
        case: "C10",
        name: "a file that is too large",
        tool: "file.c",
        args: &["die"],
        limits: FILE,
        expect: Expect { exit: Exit::Signal("SIGXFSZ"), ..Expect::failure("file_size_limit") },
        ..ROW
    },
    Row {
        case: "C10",
        name: "a file that is too large for a child",
        tool: "file.c",
        args: &["child"],
        limits: FILE,
        expect: Expect { holds: &[("/output/signal", "25")], ..OK },
        ..ROW
    },
    Row {
        case: "C10",
        name: "a file that is too large and no signal",
        tool: "file.c",
        args: &["ignore"],
        limits: FILE,
        expect: Expect::undeclared(3),
        ..ROW
    },
    Row {
        case: "C10",
        name: "a full scratch space",
        tool: "file.c",
        args: &["die"],
        limits: "wall = \"20s\"\ngrace = \"300ms\"\nmemory = \"64MiB\"\ntmp = \"2MiB\"\n",
        expect: Expect { warnings: &["tmp_full"], ..Expect::undeclared(3) },
        ..ROW
    },
    Row { case: "H03", name: "sixty that are left", tool: "many_left.sh", limits: LONG, expect: LEAKS, ..ROW },
];

const BOMB: &str = "wall = \"1s\"\ngrace = \"300ms\"\nmemory = \"128MiB\"\npids = 32\n";
const FILE: &str = "wall = \"20s\"\ngrace = \"300ms\"\nmemory = \"64MiB\"\nfile_size = \"1MiB\"\n";
