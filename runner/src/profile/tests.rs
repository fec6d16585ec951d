use super::*;
use crate::file_error::from_toml;
use crate::test_dir::TestDir;

fn builtin(name: &str) -> Profile {
    load(name, None).unwrap()
}

fn folder(files: &[(&str, &str)]) -> TestDir {
    let dir = TestDir::new("profile");
    for (name, body) in files {
        std::fs::write(dir.path().join(format!("{name}.toml")), format!("schema = 1\nwhy = \"a test\"\n{body}"))
            .unwrap();
    }
    dir
}

#[test]
fn built_ins_are_complete_and_without_problems() {
    for (name, _) in BUILT_IN {
        let profile = builtin(name);
        assert_eq!(
            problems(&profile, &|call| ["execveat", "memfd_create"].contains(&call)),
            Vec::<String>::new(),
            "{name}"
        );
        assert_eq!(profile.require.len(), Layer::ALL.len());
        assert!(profile.builtin && profile.loosened.is_empty());
        assert!(profile.limits.missing().is_empty());
        let raw: ProfileFile =
            from_toml(BUILT_IN.iter().find(|(n, _)| *n == name).unwrap().1, Path::new(name)).unwrap();
        assert!(raw.extends.is_some() || raw.require.len() == Layer::ALL.len(), "{name} names every layer");
    }
}

#[test]
fn built_ins_are_those_of_the_design() {
    let strict = builtin("strict");
    let limits = "wall = \"30s\"\ngrace = \"2s\"\nmemory = \"2GiB\"\ncpu = 1.0\npids = 10\nopen_files = 256\n\
        file_size = \"256MiB\"\ntmp = \"256MiB\"\ntmp_inodes = 16384\nstdout = \"8MiB\"\nstderr = \"1MiB\"\nout = \"64MiB\"";
    assert_eq!(strict.limits, toml::from_str(limits).unwrap());
    assert_eq!(strict.deny_syscalls, ["execveat", "memfd_create"]);
    assert!(strict.exec.is_empty() && strict.write.is_empty() && strict.network == NetworkMode::None);
    let standard = builtin("standard");
    assert_eq!(standard.limits, LimitsSpec { pids: Some(64), ..strict.limits.clone() });
    assert!(standard.deny_syscalls.is_empty() && standard.read == strict.read && standard.require == strict.require);
    for (layer, need) in &strict.require {
        let soft = [Layer::Cgroup, Layer::Proc].contains(layer);
        assert_eq!(*need, if soft { Need::BestEffort } else { Need::Required }, "{layer}");
    }
    let workspace = builtin("workspace");
    assert_eq!(workspace.write[0].path, Path::new("/work"));
    assert_eq!((&workspace.exec, &workspace.limits), (&standard.exec, &standard.limits));
    let network = builtin("network");
    assert_eq!((network.network, network.require[&Layer::NetNs]), (NetworkMode::Host, Need::Off));
    for key in ["/etc/ssl/private/k", "/etc/pki/tls/private/k"] {
        assert!(!network.read.iter().any(|rule| Path::new(key).starts_with(&rule.path)), "{key}");
    }
    let open = builtin("open");
    assert_eq!((open.network, &open.limits), (NetworkMode::Host, &standard.limits));
    for (layer, need) in &open.require {
        let want = match layer {
            Layer::Rlimits | Layer::Session => Need::Required,
            Layer::Cgroup => Need::BestEffort,
            _ => Need::Off,
        };
        assert_eq!(*need, want, "{layer}");
    }
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let dir = folder(&[("mine", "extends = \"strict\""), ("strict", "")]);
    std::fs::write(dir.path().join("notes.txt"), "").unwrap();
    let error = load("fast", Some(dir.path())).unwrap_err();
    assert_eq!(error.message, "unknown profile `fast`; known are strict, standard, workspace, network, open, mine");
    assert_eq!(
        load("fast", None).unwrap_err().to_string(),
        "profiles: unknown profile `fast`; known are strict, standard, workspace, network, open"
    );
    assert_eq!(load("strict", Some(dir.path())).unwrap(), builtin("strict"));
}

#[test]
fn a_name_may_not_lead_elsewhere() {
    for name in ["../x", "a/b", "..", "", ".x", "a..b", "/etc/x", "a\0b"] {
        let error = load(name, Some(Path::new("/tmp"))).unwrap_err();
        assert_eq!(error.message, format!("`{name}` is no profile name"));
        assert_eq!(error.hint.unwrap(), "a name may hold letters, digits, `-`, `_` and single dots");
    }
    let dir = folder(&[("a", "extends = \"../b\"")]);
    let error = load("a", Some(dir.path())).unwrap_err();
    assert_eq!((&error.file, error.pointer.as_deref()), (&dir.path().join("a.toml"), Some("/extends")));
    assert!(error.hint.is_some_and(|hint| hint.contains("single dots")));
}

#[test]
fn a_circle_is_named_and_depth_is_not_limited() {
    let dir = folder(&[("a", "extends = \"b\""), ("b", "extends = \"c\""), ("c", "extends = \"b\"")]);
    let error = load("a", Some(dir.path())).unwrap_err();
    assert_eq!(error.message, "profiles extend each other in a circle: a -> b -> c -> b");
    assert_eq!(error.file, dir.path().join("c.toml"));
    let names: Vec<(String, String)> = (0..300)
        .map(|n| {
            (format!("p{n}"), if n == 0 { "extends = \"strict\"".into() } else { format!("extends = \"p{}\"", n - 1) })
        })
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|(name, body)| (name.as_str(), body.as_str())).collect();
    let deep = folder(&files);
    assert_eq!(load("p299", Some(deep.path())).unwrap().limits, builtin("strict").limits);
}

#[test]
fn one_has_to_extend_something_that_exists() {
    let dir = folder(&[("a", ""), ("b", "extends = \"nil\"")]);
    let error = load("a", Some(dir.path())).unwrap_err();
    assert_eq!(error.message, "extends nothing; a profile of your own has to start from another");
    let error = load("b", Some(dir.path())).unwrap_err();
    assert!(error.message.starts_with("unknown profile `nil`; known are"), "{error}");
    assert_eq!(error.pointer.as_deref(), Some("/extends"));
}

#[test]
fn what_only_tightens_loosens_nothing() {
    let body = "extends = \"strict\"\n[syscalls]\ndeny = [\"ptrace\"]\n[limits]\nwall = \"5s\"\n[require]\nproc = \"required\"\n\
        [[filesystem.read]]\npath = \"/usr\"\nwhy = \"again\"";
    let dir = folder(&[("tight", body)]);
    let profile = load("tight", Some(dir.path())).unwrap();
    assert_eq!(profile.loosened, Vec::<String>::new());
    assert_eq!(profile.deny_syscalls, ["execveat", "memfd_create", "ptrace"]);
    assert_eq!((profile.require[&Layer::Proc], profile.read.len()), (Need::Required, 1));
    assert_eq!((profile.limits.wall.unwrap().0, profile.limits.pids), (5000, Some(10)));
    assert!(!profile.builtin);
}

#[test]
fn every_loosening_is_said() {
    let body = "extends = \"strict\"\n[network]\nmode = \"allow\"\nallow = [\"a.example:443\"]\n[devices]\nallow = [\"/dev/dri\"]\n\
        [limits]\nwall = \"1m\"\npids = 5\n[require]\nlandlock = \"best_effort\"\n\
        [[filesystem.read]]\npath = \"/opt/r\"\nwhy = \"r\"\n[[filesystem.write]]\npath = \"/opt/w\"\nwhy = \"w\"\n\
        [[filesystem.exec]]\npath = \"/opt/x\"\nwhy = \"x\"";
    let dir = folder(&[("base", body), ("leaf", "extends = \"base\"\n[limits]\nwall = \"30s\"")]);
    let want = [
        "filesystem.read has /opt/r too",
        "filesystem.write has /opt/w too",
        "filesystem.exec has /opt/x too",
        "network.mode is allow instead of none",
        "network.allow has a.example:443 too",
        "devices.allow has /dev/dri too",
        "limits.wall is larger than in strict",
        "require.landlock is best_effort instead of required",
    ];
    assert_eq!(load("base", Some(dir.path())).unwrap().loosened, want);
    let leaf = load("leaf", Some(dir.path())).unwrap();
    assert_eq!(leaf.loosened.len(), want.len() - 1, "an inherited loosening counts, one taken back does not");
    assert_eq!(leaf.allow_hosts, ["a.example:443"]);
}

#[test]
fn hosts_and_mode_have_to_agree() {
    let files = [
        ("a", "extends = \"strict\"\n[network]\nallow = [\"a:1\"]"),
        ("b", "extends = \"strict\"\n[network]\nmode = \"allow\""),
        ("c", "extends = \"network\"\n[network]\nmode = \"allow\"\nallow = [\"a:1\"]"),
    ];
    let dir = folder(&files);
    let message = |name: &str| load(name, Some(dir.path())).unwrap_err().message;
    assert_eq!(message("a"), "hosts are named, but the network mode is `none`");
    assert_eq!(message("b"), "the network mode is `allow`, but no host is named");
    assert_eq!(load("c", Some(dir.path())).unwrap().loosened, Vec::<String>::new());
}

#[test]
fn unknown_keys_and_bad_limits_are_errors() {
    let files = [
        ("a", "extends = \"strict\"\nread = []"),
        ("b", "extends = \"strict\"\n[limits]\npids = 0"),
        ("c", "extends = \"strict\"\n[require]\nfoo = \"off\""),
        ("d", "extends = \"strict\"\n[[filesystem.read]]\npath = \"/x\""),
    ];
    let dir = folder(&files);
    let error = |name: &str| load(name, Some(dir.path())).unwrap_err();
    assert!(error("a").message.starts_with("unknown field `read`"), "{}", error("a"));
    assert_eq!(error("b").pointer.as_deref(), Some("/limits/pids"));
    assert!(error("c").message.starts_with("unknown variant `foo`"), "{}", error("c"));
    assert_eq!(error("d").message, "missing field `why`");
}

#[test]
fn problems_are_all_listed() {
    let mut profile = builtin("workspace");
    let rule = |path: &str| PathRule { path: path.into(), why: "t".into(), optional: false };
    profile.read.extend([rule("etc"), rule("/a/../b"), rule("/usr/")]);
    profile.read[0].why.clear();
    profile.exec.push(rule("/work/bin"));
    profile.write.push(rule("/usr/lib/x"));
    profile.deny_syscalls = vec!["nosuch".into()];
    profile.devices = vec!["/etc/passwd".into(), "/dev/x".into(), "/dev/x".into()];
    profile.allow_hosts =
        ["a.example:443", "*.b.example:1", "[::1]:80", "a", "a:0", "a:70000", "*:1", "a b:1", ":1", "a:+5"]
            .map(String::from)
            .into();
    let host = |text: &str| format!("`{text}` is not HOST:PORT, such as api.example.com:443 or *.example.org:443");
    let want = [
        "read `/usr` has no why".to_owned(),
        "read `etc` is not an absolute path".into(),
        "read `/a/../b` contains `..`".into(),
        "read `/usr/` is named twice".into(),
        "`/work/bin` is writable and executable at once (write `/work`, exec `/work/bin`)".into(),
        "`/usr/lib/x` is writable and executable at once (write `/usr/lib/x`, exec `/usr`)".into(),
        "device `/etc/passwd` is not below /dev".into(),
        "device `/dev/x` is named twice".into(),
        "unknown system call `nosuch`".into(),
        host("a"),
        host("a:0"),
        host("a:70000"),
        host("*:1"),
        host("a b:1"),
        host(":1"),
        host("a:+5"),
    ];
    assert_eq!(problems(&profile, &|_| false), want);
}
