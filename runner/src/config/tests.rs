use super::find::check_owner;
use super::*;
use crate::test_dir::TestDir;
use crate::text::Text;
use std::os::unix::fs::PermissionsExt as _;

/// A folder with `home` (the user's config at home/.config/toolcell) and `work`, the working directory.
struct World {
    dir: TestDir,
    vars: BTreeMap<String, OsString>,
    config: Option<PathBuf>,
    registry: Option<OsString>,
}

impl World {
    fn new() -> Self {
        let dir = TestDir::new("config");
        std::fs::create_dir_all(dir.path().join("home/.config/toolcell")).unwrap();
        std::fs::create_dir_all(dir.path().join("work/sub")).unwrap();
        let vars = BTreeMap::from([("HOME".to_owned(), dir.path().join("home").into_os_string())]);
        Self { dir, vars, config: None, registry: None }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: &str, mode: u32) -> &Self {
        let path = self.at(path);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    fn user(&self, text: &str) -> &Self {
        self.write("home/.config/toolcell/toolcell.toml", text, 0o644)
    }

    fn upward(&self, text: &str) -> &Self {
        self.write("toolcell.toml", text, 0o664)
    }

    fn load(&self) -> Result<Config, FileError> {
        Config::load(&Sources {
            config: self.config.clone(),
            registry: self.registry.clone(),
            env: &|name| self.vars.get(name).cloned(),
            cwd: self.at("work"),
            uid: nix::unistd::getuid().as_raw(),
        })
    }

    fn error(&self) -> FileError {
        self.load().unwrap_err()
    }
}

#[test]
fn without_any_file_there_are_defaults() {
    let world = World::new();
    let config = world.load().unwrap();
    assert_eq!(config.file_roots, [world.at("work")]);
    assert_eq!(config.identity, IdRange { base: 1_900_000_000, count: 65_536 });
    assert!(config.registries.is_empty() && config.grants.is_empty() && config.profiles_dir.is_none());
}

#[test]
fn the_example_of_the_design_is_read() {
    let world = World::new();
    std::fs::create_dir(world.at("home/.config/toolcell/profiles")).unwrap();
    world.user(
        "registry = [\"./capabilities\"]\nfile_roots = [\".\", \"/data\"]\n[[grant]]\ncapability = \"fund_*\"\n\
         profiles = [\"network\"]\nenv = [\"TZ\"]\n[[grant]]\nexec = true\nprofiles = [\"open\"]\n\
         [secrets.API_KEY]\nfile = \"api_key\"\nfor = [\"fund_*\"]\n[secrets.B]\nenv = \"SUPPLIER\"\nfor = [\"b\"]\n\
         [identity]\nbase = 1000\ncount = 2\n",
    );
    let config = world.load().unwrap();
    let registry = world.at("home/.config/toolcell/capabilities");
    assert_eq!((&config.registries, &config.trusted_registries), (&vec![registry.clone()], &vec![registry.clone()]));
    assert_eq!(config.file_roots, [world.at("work"), PathBuf::from("/data")]);
    assert_eq!(config.identity, IdRange { base: 1000, count: 2 });
    assert_eq!(config.profiles_dir, Some(world.at("home/.config/toolcell/profiles")));
    let key = SecretSource::File(Text::from(world.at("home/.config/toolcell/api_key").as_path()));
    assert_eq!(config.secret_for(Some("fund_a"), Some(&registry), "API_KEY"), Some(key));
    assert_eq!(config.secret_for(Some("b"), Some(&registry), "B"), Some(SecretSource::Env("SUPPLIER".into())));
    assert_eq!(config.secret_for(Some("other"), Some(&registry), "API_KEY"), None);
    assert_eq!(config.secret_for(Some("fund_a"), Some(Path::new("/elsewhere")), "API_KEY"), None);
    assert_eq!(config.secret_for(None, Some(&registry), "API_KEY"), None);
    assert!(config.env_granted(Some("fund_a"), Some(&registry), "TZ"));
    assert!(!config.env_granted(Some("fund_a"), Some(&registry), "HOME"));
    assert!(!config.env_granted(None, None, "TZ"));
}

#[test]
fn profiles_are_granted_by_name_and_registry() {
    let world = World::new();
    world.user("registry = [\"r\"]\n[[grant]]\ncapability = \"fund_*\"\nprofiles = [\"network\"]\n[[grant]]\nexec = true\nprofiles = [\"open\"]");
    let config = world.load().unwrap();
    let registry = config.registries[0].clone();
    let cases = [
        (Some("x"), None, "strict", true),
        (Some("x"), None, "standard", true),
        (Some("x"), Some(registry.as_path()), "workspace", false),
        (Some("fund_a"), Some(registry.as_path()), "network", true),
        (Some("fund_a"), Some(Path::new("/elsewhere")), "network", false),
        (Some("fund_a"), None, "network", false),
        (Some("fun"), Some(registry.as_path()), "network", false),
        (Some("fund_a"), Some(registry.as_path()), "open", false),
        (None, None, "workspace", true),
        (None, None, "open", true),
        (None, None, "network", false),
    ];
    for (capability, registry, profile, want) in cases {
        assert_eq!(
            config.profile_granted(capability, registry, profile),
            want,
            "{capability:?} {registry:?} {profile}"
        );
    }
}

#[test]
fn what_is_missing_is_explained_in_toml() {
    let config = World::new().load().unwrap();
    let text = config.explain_grant(Some("fund_a"), "network");
    assert_eq!(text, "[[grant]]\ncapability = \"fund_a\"\nprofiles = [\"network\"]\n");
    assert_eq!(config.explain_grant(None, "open"), "[[grant]]\nexec = true\nprofiles = [\"open\"]\n");
    let world = World::new();
    world.user(&format!("registry = [\"/r\"]\n{text}"));
    assert!(world.load().unwrap().profile_granted(Some("fund_a"), Some(Path::new("/r")), "network"));
}

#[test]
fn flag_then_environment_then_user_then_upward() {
    let mut world = World::new();
    world.upward("registry = [\"up\"]");
    let config = world.load().unwrap();
    assert_eq!((config.registries, config.trusted_registries), (vec![world.at("up")], vec![]));
    world.user("registry = [\"own\"]");
    assert_eq!(world.load().unwrap().registries, [world.at("home/.config/toolcell/own")]);
    world.vars.insert("TOOLCELL_REGISTRY".into(), "a::/b".into());
    assert_eq!(world.load().unwrap().registries, [world.at("work/a"), PathBuf::from("/b")]);
    world.registry = Some("./flag/".into());
    let config = world.load().unwrap();
    assert_eq!(
        (config.registries, config.trusted_registries),
        (vec![world.at("work/flag")], vec![world.at("work/flag")])
    );
}

#[test]
fn a_named_config_has_to_exist() {
    let mut world = World::new();
    world.config = Some("no.toml".into());
    let error = world.error();
    assert_eq!((error.file.as_path(), error.message.as_str()), (world.at("work/no.toml").as_path(), "does not exist"));
    assert_eq!(error.hint.as_deref(), Some("--config names it; correct the path, or leave --config out"));
    world.config = None;
    world.vars.insert("TOOLCELL_CONFIG".into(), "c.toml".into());
    assert_eq!(
        world.error().hint.as_deref(),
        Some("TOOLCELL_CONFIG names it; correct the path, or leave TOOLCELL_CONFIG out")
    );
    world.write("work/c.toml", "registry = [\"r\"]", 0o600);
    assert_eq!(world.load().unwrap().registries, [world.at("work/r")]);
    world.write("other.toml", "registry = [\"o\"]", 0o600);
    world.config = Some(world.at("other.toml"));
    assert_eq!(world.load().unwrap().registries, [world.at("o")]);
}

#[test]
fn xdg_config_home_comes_before_home() {
    let mut world = World::new();
    world.user("registry = [\"own\"]");
    std::fs::create_dir_all(world.at("xdg/toolcell")).unwrap();
    world.write("xdg/toolcell/toolcell.toml", "registry = [\"x\"]", 0o644);
    world.vars.insert("XDG_CONFIG_HOME".into(), "relative".into());
    assert_eq!(world.load().unwrap().registries, [world.at("home/.config/toolcell/own")]);
    let xdg = world.at("xdg").into_os_string();
    world.vars.insert("XDG_CONFIG_HOME".into(), xdg);
    assert_eq!(world.load().unwrap().registries, [world.at("xdg/toolcell/x")]);
}

#[test]
fn a_config_others_can_write_is_refused() {
    let world = World::new();
    world.write("home/.config/toolcell/toolcell.toml", "", 0o664);
    let error = world.error();
    assert_eq!(error.message, "may be written by others than its owner (mode 664); they could grant anything");
    assert_eq!(error.hint, Some(format!("chmod go-w '{}'", error.file.display())));
    let path = Path::new("/c.toml");
    let error = check_owner(path, 1001, 0o100_600, 1000).unwrap_err();
    assert_eq!(error.message, "belongs to user id 1001, not to you (1000) or root; it could grant anything");
    assert_eq!(error.hint.as_deref(), Some("look at what it says, then: chown 1000 '/c.toml'"));
    assert!(check_owner(path, 0, 0o100_644, 1000).is_ok() && check_owner(path, 1000, 0o100_600, 1000).is_ok());
    assert!(check_owner(path, 0, 0o100_646, 1000).is_err() && check_owner(path, 1000, 0o100_600, 0).is_err());
}

#[test]
fn an_upward_config_may_not_loosen() {
    let world = World::new();
    let hint = format!("move it to the user config, {}", world.at("home/.config/toolcell/toolcell.toml").display());
    let texts = [
        ("grant", "[[grant]]\nexec = true\nprofiles = [\"open\"]"),
        ("secrets", "[secrets.A]\nenv = \"A\"\nfor = [\"*\"]"),
        ("identity", "[identity]\nbase = 1\ncount = 1"),
    ];
    for (key, text) in texts {
        let error = world.upward(text).error();
        assert_eq!(error.message, format!("`{key}` may not stand in a config found from the working directory"));
        assert_eq!((error.pointer, error.hint), (Some(format!("/{key}")), Some(hint.clone())));
    }
}

#[test]
fn an_upward_config_may_only_narrow_the_roots() {
    let world = World::new();
    world.upward("file_roots = [\"sub\"]");
    assert_eq!(world.load().unwrap().file_roots, [world.at("work/sub")]);
    world.upward("file_roots = []");
    assert_eq!(world.load().unwrap().file_roots, Vec::<PathBuf>::new());
    std::os::unix::fs::symlink("/", world.at("work/link")).unwrap();
    for root in ["..", "/", "link", "sub/../.."] {
        let error = world.upward(&format!("file_roots = [\".\", \"{root}\"]")).error();
        let work = world.at("work");
        assert_eq!(
            error.message,
            format!("`{root}` does not lie below a root of the user config ({})", work.display())
        );
        assert_eq!(error.pointer.as_deref(), Some("/file_roots/1"));
    }
    let error = world.upward("file_roots = [\"gone\"]").error();
    assert!(error.message.starts_with("`gone` cannot be found: "), "{error}");
    world.user("file_roots = [\"/\"]").upward("file_roots = [\"..\"]");
    assert_eq!(world.load().unwrap().file_roots, [world.at("")]);
}

#[test]
fn the_users_own_file_found_upward_is_read_once() {
    let mut world = World::new();
    world.write("toolcell.toml", "registry = [\"r\"]\n[[grant]]\nexec = true\nprofiles = [\"open\"]", 0o600);
    std::os::unix::fs::symlink(world.at("toolcell.toml"), world.at("link.toml")).unwrap();
    world.config = Some(world.at("link.toml"));
    let config = world.load().unwrap();
    assert!(config.profile_granted(None, None, "open"));
    assert_eq!(config.trusted_registries, [world.at("r")]);
}

#[test]
fn rules_of_the_user_config() {
    let world = World::new();
    let cases = [
        ("[[grant]]\nexec = true\ncapability = \"a\"", "/grant/0", "has both `capability` and `exec = true`"),
        ("[[grant]]\nprofiles = [\"open\"]", "/grant/0", "does not say for whom"),
        ("[secrets.A]\nfor = [\"a\"]", "/secrets/A", "does not say where it comes from"),
        ("[secrets.A]\nenv = \"A\"\nfile = \"/a\"\nfor = [\"a\"]", "/secrets/A", "has both `file` and `env`"),
        ("[secrets.A]\nenv = \"A\"\nfor = []", "/secrets/A", "is for no capability"),
        ("[secrets.A]\nenv = \"A=B\"\nfor = [\"a\"]", "/secrets/A", "`A=B` is no name of a variable"),
        ("[secrets.\"1/A\"]\nenv = \"A\"\nfor = [\"a\"]", "/secrets/1~1A", "`1/A` is no name of a variable"),
        (
            "[secrets.TOOLCELL_X]\nenv = \"A\"\nfor = [\"a\"]",
            "/secrets/TOOLCELL_X",
            "`TOOLCELL_X` is a name of toolcell's own",
        ),
        ("[identity]\nbase = 0\ncount = 1", "/identity", "1 ids from 0 are no range of user ids"),
        ("[identity]\nbase = 5\ncount = 0", "/identity", "0 ids from 5 are no range of user ids"),
        ("[identity]\nbase = 4294967295\ncount = 1", "/identity", "1 ids from 4294967295 are no range of user ids"),
    ];
    for (text, pointer, message) in cases {
        let error = world.user(text).error();
        assert_eq!((error.pointer.as_deref(), error.message.as_str()), (Some(pointer), message));
        assert!(error.hint.is_some(), "{message}");
    }
    let error = world.user("registries = []").error();
    assert!(error.message.starts_with("unknown field `registries`"), "{error}");
}

#[test]
fn glob_knows_star_and_question_mark_only() {
    let yes = [
        ("*", ""),
        ("fund_*", "fund_a"),
        ("a*b*c", "aXbbYc"),
        ("?", "ä"),
        ("a?c", "abc"),
        ("", ""),
        ("[a]", "[a]"),
        ("**a", "a"),
    ];
    let no = [
        ("", "a"),
        ("?", ""),
        ("a", "ab"),
        ("fund_*", "fund"),
        ("[ab]", "a"),
        ("a*b", "abc"),
        ("A", "a"),
        ("\\*", "*"),
    ];
    for (pattern, text) in yes {
        assert!(glob(pattern, text), "{pattern} {text}");
    }
    for (pattern, text) in no {
        assert!(!glob(pattern, text), "{pattern} {text}");
    }
    assert!(!glob(&"*a".repeat(500), &format!("{}b", "a".repeat(2000))));
}
