//! Each rule of tool.toml once, with its words.

use super::*;
use crate::units::Size;
use toolcell_tool::Status;

fn read(body: &str) -> Result<ToolFile, FileError> {
    let command = if body.contains("command =") { "" } else { "command = [\"x\"]\n" };
    parse(&format!("schema = 1\n{command}{body}"), Path::new("tool.toml")).map(|loaded| loaded.value)
}

fn fails(body: &str) -> String {
    let error = read(body).unwrap_err();
    format!("{}: {} ({})", error.pointer.unwrap_or_default(), error.message, error.hint.unwrap_or_default())
}

#[test]
fn the_file_of_the_design_is_read_whole() {
    let tool = read(
        r#"
command = ["fund-profile-a", "--json", "{/q}", ["-m", "{/max}"], "--", "{/files/*}", "{}", "{/a}{/b}", "{\"a\": 1}"]
profile = "standard"
stdin = "none"
stdout = "jsonl"
secrets = ["API_KEY"]
[limits]
wall = "30s"
memory = "2GiB"
cpu = 1
pids = 10
[files]
in = ["/path", "/docs/*"]
[exit_codes]
1 = "data_limitation"
28 = { status = "channel_failure", reason = "upstream_timeout", retryable = true }
[retry]
max = 2
[env]
set = { LANG = "C.UTF-8", LD_PRELOAD = "/tool/x.so" }
pass = ["TZ"]
"#,
    )
    .unwrap();
    let one = |pointer: &str| Element::One { pointer: pointer.into() };
    let literal = |text: &str| Element::Literal(text.into());
    assert_eq!(
        tool.command,
        [
            literal("fund-profile-a"),
            literal("--json"),
            one("/q"),
            Element::Group(vec![literal("-m"), one("/max")]),
            literal("--"),
            Element::Each { pointer: "/files".into() },
            literal("{}"),
            literal("{/a}{/b}"),
            literal("{\"a\": 1}"),
        ]
    );
    assert_eq!((tool.stdin, tool.stdout), (StdinSpec::None, StdoutKind::Jsonl));
    assert_eq!((tool.limits.memory, tool.limits.cpu, tool.limits.tmp), (Some(Size(2 << 30)), Some(1.0), None));
    assert_eq!(tool.files_in, ["/path", "/docs/*"]);
    assert_eq!(tool.exit_codes[&1], ExitMeaning { status: Status::DataLimitation, reason: None, retryable: false });
    assert!(tool.exit_codes[&28].retryable);
    assert_eq!(tool.retry, Some(Retry { max: 2, backoff_ms: 200, max_backoff_ms: 5000 }));
    assert_eq!(tool.env_set["LD_PRELOAD"], "/tool/x.so");
}

#[test]
fn what_is_missing_has_its_default() {
    let tool = read("").unwrap();
    assert_eq!((tool.profile.as_str(), tool.stdin, tool.stdout), ("strict", StdinSpec::Json, StdoutKind::Json));
    assert_eq!((tool.limits, tool.retry), (LimitsSpec::default(), None));
}

#[test]
fn each_rule_of_command_is_kept() {
    assert_eq!(fails("command = []"), "/command: names no program (write command = [\"program\", \"argument\"])");
    assert_eq!(
        fails("command = [\"{/p}\"]"),
        "/command: the program is a template or a nested array (name the program itself first)"
    );
    assert_eq!(
        fails("command = [\"x\", \"{/a~2}\"]"),
        "/command/1: `/a~2` is not a JSON Pointer: `~` has to be written `~0`, and `/` within a name `~1` \
         (write templates as \"{/name}\" or \"{/names/*}\")"
    );
    assert_eq!(
        fails("command = [\"x\", []]"),
        "/command/1: a nested array is empty (remove it, or write [\"--flag\", \"{/name}\"])"
    );
    assert_eq!(fails("command = [\"x\", \"a\\u0000\"]"), "/command/1: an argument cannot hold NUL (remove it)");
    assert!(fails("command = [\"x\", 1]").starts_with("/command/1: invalid type: integer `1`"));
}

#[test]
fn each_rule_of_limits_is_kept() {
    assert_eq!(
        fails("[limits]\ncpu = 0"),
        "/limits/cpu: 0 is not a share of cores (name a positive number, such as 0.5 or 2.0)"
    );
    assert!(fails("[limits]\ncpu = nan").starts_with("/limits/cpu: NaN is not a share of cores"));
    for (name, number) in [("pids", 0), ("open_files", -1), ("tmp_inodes", 0)] {
        assert_eq!(
            fails(&format!("[limits]\n{name} = {number}")),
            format!("/limits/{name}: {number} is not a limit (name 1 or more, or leave it out for the default)")
        );
    }
    assert_eq!(fails("[limits]\nwall = 30"), "/limits/wall: `30` has no unit; write `30s` or `30ms` ()");
    assert!(fails("[limits]\nwal = \"3s\"").starts_with("/limits/wal: unknown field `wal`"));
}

#[test]
fn each_rule_of_exit_codes_is_kept() {
    let cases = [
        ("0 = \"ok\"", "/exit_codes/0: exit code 0 cannot be given a meaning (0 is always ok; remove it)"),
        (
            "64 = \"ok\"",
            "/exit_codes/64: exit code 64 cannot mean ok (only 1 to 63 and 79 to 123 can; the others are failures by convention)",
        ),
        ("256 = \"ok\"", "/exit_codes/256: `256` is not an exit code (write 1 to 255)"),
        ("01 = \"ok\"", "/exit_codes/01: `01` is not an exit code (write 1 to 255)"),
        (
            "1 = \"fine\"",
            "/exit_codes/1: `fine` is not a status (write ok, call_error, data_limitation or channel_failure)",
        ),
        (
            "1 = { status = \"data_limitation\", retryable = true }",
            "/exit_codes/1: a data_limitation is not retryable (only channel_failure can be; remove retryable or change the status)",
        ),
        (
            "1 = { status = \"call_error\", reason = \"Bad\" }",
            "/exit_codes/1: `Bad` is not a reason (1 to 64 lower-case letters, digits and `_`, beginning with a letter)",
        ),
        ("1 = { status = \"ok\", reason = \"no_match\" }", "/exit_codes/1: ok has no reason (remove it)"),
    ];
    for (line, want) in cases {
        assert_eq!(fails(&format!("[exit_codes]\n{line}")), want);
    }
    assert!(read("[exit_codes]\n63 = \"ok\"\n79 = \"ok\"\n123 = \"ok\"\n255 = \"call_error\"").is_ok());
    assert!(fails("[exit_codes]\n124 = \"ok\"").contains("124 cannot mean ok"));
}

#[test]
fn each_rule_of_variables_is_kept() {
    assert_eq!(
        fails("secrets = [\"TOOLCELL_X\"]"),
        "/secrets: the variable `TOOLCELL_X` is toolcell's own (choose another name)"
    );
    assert_eq!(
        fails("secrets = [\"PATH\"]"),
        "/secrets: the variable `PATH` is the sandbox's own (choose another name)"
    );
    for name in ["LD_PRELOAD", "BASH_ENV", "PYTHONPATH", "NODE_OPTIONS"] {
        let want = format!(
            "the variable `{name}` changes what code runs (it may only be set to a fixed value, in env.set of tool.toml)"
        );
        assert_eq!(fails(&format!("secrets = [\"{name}\"]")), format!("/secrets: {want}"));
        assert_eq!(fails(&format!("[env]\npass = [\"{name}\"]")), format!("/env/pass: {want}"));
    }
    assert!(fails("secrets = [\"A-B\"]").contains("`A-B` is not a variable's name"));
    assert_eq!(fails("[env.set]\n\"\" = \"1\""), "/env/set: a variable has no name (name it)");
    assert_eq!(
        fails("[env.set]\n\"B=C\" = \"1\""),
        "/env/set: the variable's name \"B=C\" holds `=` or NUL (the kernel cannot carry it; rename it)"
    );
    assert_eq!(
        fails("[env.set]\nA = \"x\\u0000y\""),
        "/env/set: the value of `A` holds NUL (the kernel cannot carry it; encode it)"
    );
    assert!(fails("[env.set]\nTRACEPARENT = \"1\"").contains("`TRACEPARENT` is toolcell's own"));
    assert_eq!(
        fails("secrets = [\"A\"]\n[env]\npass = [\"A\"]"),
        "/env/pass: the variable `A` is named twice (name it once, in secrets, env.set or env.pass)"
    );
}

#[test]
fn each_rule_of_files_retry_and_sections_is_kept() {
    assert!(fails("[files]\nin = [\"path\"]").starts_with("/files/in: `path` is not a JSON Pointer"));
    assert!(fails("[files]\nin = [\"\"]").starts_with("/files/in: an empty pointer means the whole input"));
    assert_eq!(fails("[files]\nin = [\"/a\", \"/a\"]"), "/files/in: `/a` is named twice (name it once)");
    assert_eq!(
        fails("[retry]\nmax = 1\nbackoff = \"9s\""),
        "/retry: max_backoff 5s is shorter than backoff 9s (raise max_backoff or lower backoff)"
    );
    for name in LATER {
        let open = if matches!(name, "clean" | "filter") { format!("[[{name}]]") } else { format!("[{name}]") };
        assert_eq!(
            fails(&open),
            format!(
                "/{name}: unknown section `{name}` (this version of toolcell has no `{name}`; remove it, or upgrade toolcell)"
            )
        );
    }
    assert_eq!(fails("shell = true").split(',').next(), Some("/shell: unknown field `shell`"));
}
