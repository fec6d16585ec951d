//! Profiles of the user's own.

use super::file_error;
use crate::file_error::FileError;
use crate::profile::{self, NetworkMode, Profile, ProfileFile};
use crate::test_dir::TestDir;
use std::path::Path;

/// Any bytes as the profile `fuzzed`.
pub fn profile(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match crate::file_error::from_toml::<ProfileFile>(text, Path::new("fuzzed.toml")) {
        Ok(raw) => merged(text, raw.extends.as_deref()),
        Err(error) => file_error(&error, data),
    }
}

/// What is merged into its parent allows no more than that, or says so.
fn merged(text: &str, extends: Option<&str>) {
    let one = match load(text) {
        Ok(one) => one,
        Err(error) => return assert!(!error.message.is_empty() && error.hint.is_some(), "{error:?}"),
    };
    let ground = profile::load(extends.expect("a profile of one's own extends another"), None);
    let ground = ground.expect("the only other profiles are built in");
    let problems = profile::problems(&one, &|_| true);
    assert!(problems.iter().all(|problem| !problem.is_empty()));
    if one.loosened.is_empty() {
        tighter(&one, &ground);
    }
    if problems.is_empty() {
        sound(&one);
    }
    let table: toml::Table = toml::from_str(text).expect("what was read is TOML");
    let again = load(&toml::to_string(&table).expect("TOML is written"));
    assert_eq!(again.expect("what was written is read"), one);
}

thread_local! {
    static FOLDER: TestDir = TestDir::new("fuzz");
}

fn load(text: &str) -> Result<Profile, FileError> {
    FOLDER.with(|folder| {
        std::fs::write(folder.path().join("fuzzed.toml"), text).expect("a profile is written");
        profile::load("fuzzed", Some(folder.path()))
    })
}

fn tighter(one: &Profile, ground: &Profile) {
    let paths = [(&one.read, &ground.read), (&one.write, &ground.write), (&one.exec, &ground.exec)];
    for (own, theirs) in paths {
        assert!(own.iter().all(|rule| theirs.iter().any(|old| old.path == rule.path)), "{own:?}");
    }
    assert!(one.network <= ground.network && one.devices.iter().all(|device| ground.devices.contains(device)));
    assert!(ground.network != NetworkMode::None || one.allow_hosts.is_empty(), "{:?}", one.allow_hosts);
    assert!(ground.deny_syscalls.iter().all(|call| one.deny_syscalls.contains(call)), "{:?}", one.deny_syscalls);
    assert!(ground.require.iter().all(|(layer, need)| one.require.get(layer) >= Some(need)), "{:?}", one.require);
    let (own, theirs) = (&one.limits, &ground.limits);
    assert!(own.wall <= theirs.wall && own.grace <= theirs.grace && own.memory <= theirs.memory, "{own:?}");
    assert!(own.cpu <= theirs.cpu && own.pids <= theirs.pids && own.open_files <= theirs.open_files, "{own:?}");
    assert!(own.file_size <= theirs.file_size && own.tmp <= theirs.tmp && own.tmp_inodes <= theirs.tmp_inodes);
    assert!(own.stdout <= theirs.stdout && own.stderr <= theirs.stderr && own.out <= theirs.out, "{own:?}");
}

/// What a profile without problems promises.
fn sound(one: &Profile) {
    let rules = || one.read.iter().chain(&one.write).chain(&one.exec);
    assert!(rules().all(|rule| rule.path.is_absolute() && !rule.why.trim().is_empty()), "{one:?}");
    for write in &one.write {
        let meets = |path: &Path| path.starts_with(&write.path) || write.path.starts_with(path);
        assert!(!one.exec.iter().any(|rule| meets(&rule.path)), "{write:?} is writable and executable");
    }
    assert!(one.limits.missing().is_empty() && !one.why.trim().is_empty(), "{one:?}");
    assert_eq!(one.network == NetworkMode::Allow, !one.allow_hosts.is_empty());
}
