//! `toolcell profile`: the list, where each rule comes from, the lint, and whether what `why` says is so.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toolcell_tests::cage::{Cage, Who};
use toolcell_tests::needs::is_root;
use toolcell_tests::{Answer, Scene};

/// A chain of three: kid, parent, standard.
fn family() -> Scene {
    let scene = Scene::new();
    own(
        &scene,
        "parent",
        "extends = \"standard\"\n[[filesystem.read]]\npath = \"/etc/hostname\"\nwhy = \"a\"\n[limits]\npids = 20\nwall = \"10s\"\n[syscalls]\ndeny = [\"flock\"]\n",
    );
    own(
        &scene,
        "kid",
        "extends = \"parent\"\n[limits]\npids = 5\n[syscalls]\ndeny = [\"sync\"]\n[require]\ncgroup = \"required\"\n",
    );
    scene
}

fn own(scene: &Scene, name: &str, text: &str) {
    scene.write(&format!("config/toolcell/profiles/{name}.toml"), format!("schema = 1\nwhy = \"a test\"\n{text}"));
}

fn profile(scene: &Scene, args: &[&str]) -> Answer {
    scene.toolcell(&[&["profile"], args].concat(), b"")
}

/// An answer's standard output as text.
fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.stdout).into_owned()
}

#[test]
fn the_list_has_the_built_ins_and_the_users_own_with_what_they_extend() {
    let scene = family();
    own(&scene, "broken", "extends = \"standard\"\nnosuch = 1\n");
    let list = profile(&scene, &["list", "--json"]);
    assert_eq!(list.code, Some(0));
    let names: Vec<Value> =
        list.at("/profiles").as_array().into_iter().flatten().map(|one| one["name"].clone()).collect();
    assert_eq!(json!(names), json!(["strict", "standard", "workspace", "network", "open", "kid", "parent"]));
    assert_eq!(list.at("/profiles/5/extends"), json!(["parent", "standard"]));
    assert_eq!(list.at("/errors/0/name"), "broken");
    assert!(list.stderr.contains("1 profile is broken"), "{}", list.stderr);
    // What the list says of grants is what exec does.
    for (index, name) in ["strict", "standard", "workspace", "network", "open", "kid", "parent"].iter().enumerate() {
        let flags: &[&str] = if *name == "workspace" { &["--workspace", "."] } else { &[] };
        let call = scene.exec(&[&["--profile", name], flags].concat(), &["/usr/bin/true"]);
        let granted = list.at(&format!("/profiles/{index}/granted_to_exec")) == true;
        assert_eq!(call.reason() != "not_permitted", granted, "{name}: {:#}", call.json());
    }
    let table = text(&profile(&scene, &["list"]));
    assert!(table.lines().any(|line| line.starts_with("kid ") && line.contains("parent > standard")), "{table}");
}

#[test]
fn each_rule_says_which_file_of_the_chain_named_it() {
    let scene = family();
    let show = profile(&scene, &["show", "kid", "--json"]);
    assert_eq!((show.code, show.stderr.as_str()), (Some(0), ""));
    let chain: Vec<Value> =
        show.at("/chain").as_array().into_iter().flatten().map(|one| one["profile"].clone()).collect();
    assert_eq!(json!(chain), json!(["kid", "parent", "standard"]));
    let file = scene.path().join("config/toolcell/profiles/kid.toml").display().to_string();
    assert_eq!(show.at("/chain/0/file"), file);
    for (pointer, value, from) in [
        ("/limits/pids", json!(5), "kid"),
        ("/limits/wall", json!("10s"), "parent"),
        ("/limits/memory", json!("2GiB"), "standard"),
        ("/require/cgroup", json!("required"), "kid"),
        ("/require/seccomp", json!("required"), "standard"),
        ("/filesystem/read/0", json!("/usr"), "standard"),
        ("/filesystem/read/1", json!("/etc/hostname"), "parent"),
        ("/syscalls/deny/0", json!("flock"), "parent"),
        ("/syscalls/deny/1", json!("sync"), "kid"),
    ] {
        let one = show.at(pointer);
        let said = ["value", "need", "path", "name"].iter().map(|key| &one[*key]).find(|value| !value.is_null());
        assert_eq!((said, &one["from"]["profile"]), (Some(&value), &json!(from)), "{pointer}");
    }
    assert_eq!(show.at("/network/from/profile"), "standard");
    assert_eq!(show.at("/loosens"), json!(["filesystem.read has /etc/hostname too"]));
    let table = text(&profile(&scene, &["show", "kid"]));
    assert!(table.contains("extends parent, ") && table.contains("extends the built-in profile standard"), "{table}");
    let line = table.lines().find(|line| line.starts_with("limits.wall")).unwrap_or_default();
    assert!(line.contains("10s") && line.ends_with("parent"), "{table}");
}

#[test]
fn a_profile_nobody_knows_is_the_callers_mistake_and_a_circle_the_hosts() {
    let scene = family();
    own(&scene, "one", "extends = \"two\"\n");
    own(&scene, "two", "extends = \"one\"\n");
    let unknown = profile(&scene, &["show", "nosuch"]);
    assert_eq!((unknown.code, unknown.stdout.len()), (Some(64), 0), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("known are strict, standard"), "{}", unknown.stderr);
    let circle = profile(&scene, &["show", "one"]);
    assert_eq!((circle.code, circle.stdout.len()), (Some(69), 0), "{}", circle.stderr);
    assert!(circle.stderr.contains("in a circle: one -> two -> one"), "{}", circle.stderr);
    assert_eq!(profile(&scene, &["show"]).code, Some(64));
    assert_eq!(profile(&scene, &[]).code, Some(64));
}

/// The findings about one profile, each as rule and message.
fn findings(scene: &Scene, name: &str) -> Vec<(String, String, bool)> {
    let lint = profile(scene, &["lint", name, "--json"]);
    let all = lint.at("/profiles/0/findings");
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |one: &Value| (word(&one["rule"]), word(&one["message"]), one["stops"] == true);
    let found: Vec<_> = all.as_array().into_iter().flatten().map(one).collect();
    assert_eq!(lint.code, Some(if found.is_empty() { 0 } else { 69 }), "{found:?}");
    assert_eq!(lint.at("/clean"), found.is_empty());
    found
}

#[test]
fn the_lint_finds_nothing_in_what_is_sound() {
    let scene = family();
    for name in ["strict", "standard", "workspace", "open", "kid", "parent"] {
        assert_eq!(findings(&scene, name), [], "{name}");
    }
    let all = profile(&scene, &["lint"]);
    assert!(text(&all).contains("standard: nothing found\n"), "{all:?}");
}

#[test]
fn the_lint_finds_each_fault_with_its_file_and_says_whether_calls_are_refused() {
    let scene = Scene::new();
    let there = scene.path().join("there").display().to_string();
    std::fs::create_dir_all(scene.path().join("there/inner")).expect("a folder");
    let rows: Vec<(&str, String, String, &str)> = vec![
        ("gone", path("read", "/nonexistent/a"), "filesystem.read /nonexistent/a".into(), "does not exist"),
        ("star", path("read", "/etc/*.conf"), "filesystem.read /etc/*.conf".into(), "stand for themselves"),
        ("lost", path("write", "/nonexistent/b"), "filesystem.write /nonexistent/b".into(), "does not exist"),
        ("idle", path("exec", "/nonexistent/c"), "filesystem.exec /nonexistent/c".into(), "does not exist"),
        (
            "both",
            format!("{}{}", path("write", &there), path("exec", &there)),
            "".into(),
            "writable and executable at once",
        ),
        ("own", path("read", "/tmp/x"), "filesystem.read /tmp/x".into(), "the tool's own"),
        (
            "inner",
            format!("{}{}", path("write", &there), path("read", &format!("{there}/inner"))),
            format!("filesystem.read {there}/inner"),
            "Landlock cannot take away",
        ),
        ("again", path("read", "/usr"), "filesystem.read /usr".into(), "named by standard already"),
        ("twice", format!("{}{}", path("read", &there), path("read", &there)), "".into(), "named twice"),
        ("call", "[syscalls]\ndeny = [\"nosuch\"]\n".into(), "".into(), "unknown system call `nosuch`"),
        ("known", "[syscalls]\ndeny = [\"mount\"]\n".into(), "syscalls.deny mount".into(), "denied in every profile"),
        (
            "device",
            "[devices]\nallow = [\"/dev/nosuch\"]\n".into(),
            "devices.allow /dev/nosuch".into(),
            "does not exist",
        ),
        (
            "off",
            "[require]\nseccomp = \"off\"\n[syscalls]\ndeny = [\"flock\"]\n".into(),
            "syscalls.deny flock".into(),
            "seccomp is off",
        ),
        (
            "hosts",
            "[network]\nmode = \"allow\"\nallow = [\"a.example.com:443\"]\n".into(),
            "network.mode allow".into(),
            "no egress proxy",
        ),
    ];
    let names: Vec<&str> = rows.iter().map(|row| row.0).collect();
    scene.config(&format!("[[grant]]\nexec = true\nprofiles = {names:?}\n"));
    for (name, body, ..) in &rows {
        own(&scene, name, &format!("extends = \"standard\"\n{body}"));
    }
    for (name, _, rule, fact) in &rows {
        let found = findings(&scene, name);
        let hit = found.iter().find(|(at, message, _)| at == rule && message.contains(fact));
        assert!(hit.is_some(), "{name}: {found:?}");
        // A finding that stops calls does, and one that does not does not.
        let stops = found.iter().any(|(_, _, stops)| *stops);
        let call = scene.exec(&["--profile", name], &["/usr/bin/true"]);
        assert_eq!(call.status() != "ok", stops, "{name}: {found:?}: {:#}", call.json());
    }
    let said = text(&profile(&scene, &["lint", "gone"]));
    let file = scene.path().join("config/toolcell/profiles/gone.toml").display().to_string();
    assert!(said.starts_with("gone: 1 finding\n") && said.contains(&file) && said.contains("to mend it: "), "{said}");
}

fn path(section: &str, path: &str) -> String {
    format!("[[filesystem.{section}]]\npath = \"{path}\"\nwhy = \"a test\"\n")
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding_too() {
    let scene = Scene::new();
    own(&scene, "one", "extends = \"two\"\n");
    own(&scene, "two", "extends = \"one\"\n");
    let found = findings(&scene, "one");
    assert!(found.len() == 1 && found[0].1.contains("in a circle") && found[0].2, "{found:?}");
    let unknown = profile(&scene, &["lint", "nosuch"]);
    assert_eq!((unknown.code, unknown.stdout.len()), (Some(64), 0));
}

/// What `why` says, by access: true, false, or null where it depends.
fn why(scene: &Scene, name: &str, what: &str) -> Value {
    let answer = profile(scene, &["why", name, what, "--json"]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{name} {what}");
    answer.json()
}

fn verdict<'a>(why: &'a Value, access: &str) -> &'a Value {
    let all = why["verdicts"].as_array().into_iter().flatten();
    all.into_iter().find(|one| one["access"] == access).unwrap_or_else(|| panic!("no {access} in {why:#}"))
}

/// A folder outside of what is the tool's own inside. Removed when dropped.
struct Outside(PathBuf);

impl Outside {
    /// Three folders to read, write and execute in, with files of several owners and modes.
    fn new(name: &str, uid: u32) -> Self {
        let path = PathBuf::from(format!("/var/tmp/toolcell-why-{}-{name}", std::process::id()));
        for (file, mode, foreign) in [
            ("r/open", 0o644, false),
            ("r/closed", 0o600, true),
            ("r/shut/open", 0o644, false),
            ("w/own", 0o644, false),
            ("w/foreign", 0o666, true),
            ("w/tool", 0o755, false),
            ("x/tool", 0o755, false),
            ("x/plain", 0o644, false),
        ] {
            let file = path.join(file);
            fs::create_dir_all(file.parent().expect("it stands in a folder")).expect("a folder");
            fs::write(&file, "#!/bin/sh\nexit 0\n").expect("a file");
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("a mode");
            if is_root() {
                std::os::unix::fs::chown(&file, Some(if foreign { 1234 } else { uid }), None).expect("an owner");
            }
        }
        std::os::unix::fs::symlink("open", path.join("r/link")).expect("a link");
        std::os::unix::fs::symlink("/etc/shadow", path.join("r/out")).expect("a link");
        for folder in ["r", "r/shut", "w", "x"].map(|folder| path.join(folder)) {
            if is_root() {
                std::os::unix::fs::chown(folder, Some(uid), Some(uid)).expect("an owner");
            }
        }
        if is_root() {
            std::os::unix::fs::chown(path.join("r/shut"), Some(1234), None).expect("an owner");
            fs::set_permissions(path.join("r/shut"), fs::Permissions::from_mode(0o700)).expect("a mode");
        }
        Self(path)
    }

    fn at(&self, below: &str) -> String {
        self.0.join(below).display().to_string()
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Tries to read, to write and to execute each path, with nothing but the shell's own means.
const TRY: &str = r#"for p in "$@"; do
r=no; w=no; x=no; f=$p
(: < "$p") 2>/dev/null && r=yes
if [ -d "$p" ]; then f=$p/.why; fi
(: >> "$f") 2>/dev/null && w=yes
("$p") </dev/null >/dev/null 2>&1; case $? in 126|127) ;; *) x=yes;; esac
echo "$p $r $w $x"
done"#;

/// What exec really can do, by path.
fn tried(scene: &Scene, name: &str, paths: &[String]) -> BTreeMap<String, [bool; 3]> {
    let mut command = vec!["sh", "-c", TRY, "sh"];
    command.extend(paths.iter().map(String::as_str));
    let output = scene.exec(&["--profile", name], &command).output();
    let text = output["text"].as_str().unwrap_or_default().to_owned();
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        (words[0].to_owned(), [1, 2, 3].map(|at| words[at] == "yes"))
    };
    text.lines().map(line).collect()
}

#[test]
fn what_why_says_of_a_path_is_what_exec_can_do_with_it() {
    for scene in Scene::everyone() {
        let (name, uid) = if scene.calls_as_root() { ("root", 0) } else { ("user", 65534) };
        let outside = Outside::new(name, uid);
        let rules = [path("read", &outside.at("r")), path("write", &outside.at("w")), path("exec", &outside.at("x"))];
        own(&scene, "mine", &format!("extends = \"standard\"\n{}", rules.concat()));
        own(&scene, "loose", "extends = \"mine\"\n[require]\nlandlock = \"off\"\n");
        scene.config("[[grant]]\nexec = true\nprofiles = [\"mine\", \"loose\", \"open\"]\n");
        scene.write("work/file", "at work");
        let below = ["r", "r/open", "r/closed", "r/shut/open", "r/link", "r/out", "r/none", "w", "w/own", "w/foreign"];
        let more = ["w/tool", "x", "x/tool", "x/plain"];
        let mut paths: Vec<String> = below.iter().chain(&more).map(|below| outside.at(below)).collect();
        // Where a failed denial would change the host, the control does not try.
        let host =
            ["/usr/bin/true", "/bin/true", "/usr/share", "/etc/passwd", "/etc/shadow", "/dev/null", "/nonexistent"];
        let inside = [
            "/",
            "/usr",
            "/etc",
            "/dev",
            "/dev/tty",
            "/tmp",
            "/home/tool",
            "/dev/shm",
            "/work",
            "/work/file",
            "/home",
            "/var",
        ];
        let open = paths.clone();
        paths.extend(host.iter().chain(&inside).map(|path| (*path).to_owned()));
        let (mut yes, mut no) = ([0; 3], [0; 3]);
        for (profile, paths) in
            [("strict", &paths), ("standard", &paths), ("mine", &paths), ("loose", &paths), ("open", &open)]
        {
            let said: Vec<Value> = paths.iter().map(|path| why(&scene, profile, path)).collect();
            let tried = tried(&scene, profile, paths);
            for (path, said) in paths.iter().zip(&said) {
                for (index, access) in ["read", "write", "execute"].into_iter().enumerate() {
                    let one = verdict(said, access);
                    // A folder is not executed; what may be done with what is in it, its files say.
                    let folder = access == "execute" && Path::new(path).is_dir();
                    let Some(allowed) = one["allowed"].as_bool().filter(|_| !folder) else { continue };
                    assert_eq!(allowed, tried[path][index], "{name}, {profile}: {access} {path}: {one:#}");
                    assert_eq!(allowed, !one["by"].is_null(), "{one:#}");
                    assert_eq!(allowed, one["stopped_by"].as_array().is_some_and(Vec::is_empty), "{one:#}");
                    if allowed { yes[index] += 1 } else { no[index] += 1 }
                }
            }
        }
        assert!(yes.iter().chain(&no).all(|count| *count >= 5), "{yes:?} {no:?}");
    }
}

#[test]
fn why_names_the_rule_and_its_file_and_each_layer_that_stops() {
    let scene = family();
    let one = why(&scene, "kid", "/etc/hostname");
    assert_eq!(verdict(&one, "read")["by"]["rule"], "filesystem.read /etc/hostname");
    assert_eq!(verdict(&one, "read")["by"]["from"]["profile"], "parent");
    let layers = |one: &Value| -> Vec<Value> {
        one["stopped_by"].as_array().into_iter().flatten().map(|stop| stop["layer"].clone()).collect()
    };
    assert_eq!(json!(layers(verdict(&why(&scene, "kid", "/home/x"), "read"))), json!(["root"]));
    let program = why(&scene, "strict", "/usr/bin/true");
    let stopped = layers(verdict(&program, "execute"));
    assert!(stopped.contains(&json!("root")) && stopped.contains(&json!("landlock")), "{program:#}");
    let table = text(&profile(&scene, &["why", "kid", "/etc/hostname"]));
    let file = scene.path().join("config/toolcell/profiles/parent.toml").display().to_string();
    let row = table.lines().find(|line| line.starts_with("read")).unwrap_or_default();
    assert!(row.contains("yes") && row.ends_with(&format!("filesystem.read /etc/hostname ({file})")), "{table}");
    for brought in ["/tool/run", "/in/0/a", "/usr/../tool-bin/x"] {
        assert!(verdict(&why(&scene, "kid", brought), "read")["allowed"].is_null(), "{brought}");
    }
    for bad in ["usr/bin", "nosuchcall", "example.com", "example.com:99999", "*.example.com:443", ""] {
        let answer = profile(&scene, &["why", "kid", bad]);
        assert_eq!((answer.code, answer.stdout.len()), (Some(64), 0), "{bad}: {}", answer.stderr);
    }
    assert_eq!(profile(&scene, &["why", "nosuch", "/"]).code, Some(64));
    own(&scene, "stopped", &format!("extends = \"standard\"\n{}", path("read", "/tmp/x")));
    assert_eq!(profile(&scene, &["why", "stopped", "/"]).code, Some(69));
}

/// Name, number, arguments that the kernel refuses for another reason than a right.
const CALLS: [(&str, i64, [i64; 6]); 10] = [
    ("mount", libc::SYS_mount, [1, 1, 1, 0, 0, 0]),
    ("add_key", libc::SYS_add_key, [1, 1, 0, 0, 0, 0]),
    ("setns", libc::SYS_setns, [-1, 0, 0, 0, 0, 0]),
    ("clone3", libc::SYS_clone3, [0, 0, 0, 0, 0, 0]),
    ("openat2", libc::SYS_openat2, [-1, 1, 1, 0, 0, 0]),
    ("memfd_create", libc::SYS_memfd_create, [1, 0, 0, 0, 0, 0]),
    ("flock", libc::SYS_flock, [-1, 2, 0, 0, 0, 0]),
    ("sync", libc::SYS_sync, [0, 0, 0, 0, 0, 0]),
    ("getpid", libc::SYS_getpid, [0, 0, 0, 0, 0, 0]),
    ("fchdir", libc::SYS_fchdir, [-1, 0, 0, 0, 0, 0]),
];

#[test]
fn what_why_says_of_a_system_call_is_what_the_probe_gets() {
    let Some(cage) = Cage::of(Who::User, "what_why_says_of_a_system_call_is_what_the_probe_gets") else { return };
    cage.profile("fewer", "extends = \"standard\"\n[syscalls]\ndeny = [\"flock\", \"sync\"]\n");
    let call = |call: &(&str, i64, [i64; 6])| {
        json!([call.0, call.1, call.2[0], call.2[1], call.2[2], call.2[3], call.2[4], call.2[5]])
    };
    let act = json!({"try": "system_calls", "calls": CALLS.iter().map(call).collect::<Vec<_>>()});
    for name in ["strict", "standard", "fewer", "no-seccomp"] {
        let answers = cage.probe(name, &act)["answers"].clone();
        for (call, ..) in CALLS {
            let said = why(&cage.scene, name, call);
            let one = verdict(&said, "call");
            let got = answers[call].as_str().unwrap_or_default();
            match one["allowed"].as_bool() {
                Some(true) => assert!(!["EPERM", "ENOSYS"].contains(&got), "{name} {call}: {got}: {one:#}"),
                Some(false) => {
                    let fact = one["stopped_by"][0]["why"].as_str().unwrap_or_default();
                    assert_eq!(fact.split(':').next(), Some(got), "{name} {call}: {one:#}");
                }
                None => panic!("{name} {call}: {one:#}"),
            }
        }
    }
    let rule = why(&cage.scene, "fewer", "flock");
    assert_eq!(rule["verdicts"][0]["stopped_by"][0]["by"]["from"]["profile"], "fewer");
    // What hangs on an argument is refused with one and not with another.
    let pairs = json!([
        ["fchmod", libc::SYS_fchmod, -1, 0o4755],
        ["fchmod+", libc::SYS_fchmod, -1, 0o755],
        ["socket", libc::SYS_socket, libc::AF_PACKET, -1],
        ["socket+", libc::SYS_socket, libc::AF_INET, -1],
        ["unshare", libc::SYS_unshare, libc::CLONE_NEWUSER | 1],
        ["unshare+", libc::SYS_unshare, 1],
    ]);
    let answers = cage.probe("standard", &json!({"try": "system_calls", "calls": pairs}))["answers"].clone();
    for call in ["fchmod", "socket", "unshare"] {
        let said = why(&cage.scene, "standard", call);
        let one = verdict(&said, "call");
        let (refused, other) = (&answers[call], &answers[format!("{call}+")]);
        let fact = one["stopped_by"][0]["why"].as_str().unwrap_or_default();
        assert!(one["allowed"].is_null() && refused != other, "{call}: {answers}: {one:#}");
        assert_eq!(fact.split(' ').next(), refused.as_str(), "{call}: {one:#}");
    }
}

#[test]
fn what_why_says_of_a_host_is_what_the_probe_can_reach() {
    let Some(cage) = Cage::of(Who::User, "what_why_says_of_a_host_is_what_the_probe_can_reach") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    for name in ["standard", "network", "open"] {
        let reached = cage.result(name, &json!({"try": "tcp", "address": address})) == "ok";
        let said = why(&cage.scene, name, &address);
        assert_eq!(verdict(&said, "connect")["allowed"] == true, reached, "{name}: {said:#}");
    }
    let elsewhere = why(&cage.scene, "standard", "api.example.com:443");
    assert_eq!(verdict(&elsewhere, "connect")["allowed"], false);
    assert_eq!(elsewhere["verdicts"][0]["stopped_by"][0]["by"]["rule"], "network.mode none");
}
