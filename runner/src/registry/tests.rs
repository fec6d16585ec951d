//! Finding, choosing, and each error.

use super::*;
use crate::test_dir::TestDir;

fn put(dir: &TestDir, folder: &str, id: &str, version: &str) {
    let contract =
        format!(r#"{{"schema": 1, "id": "{id}", "version": "{version}", "input_schema": {{"type": "object"}}}}"#);
    dir.write(&format!("{folder}/capability.json"), &contract);
    dir.write(&format!("{folder}/tool.toml"), "schema = 1\ncommand = [\"x\"]");
}

fn versions(dir: &TestDir, roots: &[&str], reference: &str) -> Result<String, RegistryError> {
    let roots = roots.iter().map(|root| dir.path().join(root)).collect();
    Registry::new(roots).find(reference).map(|found| {
        let dir = found.dir.strip_prefix(dir.path()).unwrap().display().to_string();
        format!("{dir} {}", found.capability.value.version)
    })
}

fn several() -> TestDir {
    let dir = TestDir::new("registry");
    put(&dir, "r/deep/er/a", "a", "1.1.0");
    put(&dir, "r/a@1.2.0", "a", "1.2.0");
    put(&dir, "r/a@2.0.0-rc.1", "a", "2.0.0-rc.1");
    put(&dir, "r/other", "other", "1.0.0");
    put(&dir, "s/a@1.9.0", "a", "1.9.0");
    put(&dir, "s/a@3.0.0", "a", "3.0.0");
    dir
}

#[test]
fn a_reference_chooses_root_and_version() {
    let dir = several();
    let find = |reference: &str| versions(&dir, &["r", "s"], reference).unwrap();
    assert_eq!(find("a"), "r/a@1.2.0 1.2.0");
    assert_eq!(find("a@1.1.0"), "r/deep/er/a 1.1.0");
    assert_eq!(find("a@^1"), "r/a@1.2.0 1.2.0");
    assert_eq!(find("a@<1.2"), "r/deep/er/a 1.1.0");
    assert_eq!(find("a@2.0.0-rc.1"), "r/a@2.0.0-rc.1 2.0.0-rc.1");
    assert_eq!(find("a@1.9.0"), "s/a@1.9.0 1.9.0");
    assert_eq!(find("a@^3"), "s/a@3.0.0 3.0.0");
}

#[test]
fn each_error_has_its_words_and_its_way_out() {
    let dir = several();
    let fails = |reference: &str| {
        let error = versions(&dir, &["r", "s"], reference).unwrap_err();
        format!("{error} ({})", error.hint().unwrap_or_default())
    };
    assert_eq!(fails("othr"), "there is no capability `othr` (near it: other)");
    assert_eq!(fails("zzzzzz"), "there is no capability `zzzzzz` (`toolcell list` shows what there is)");
    assert_eq!(
        fails("a@^4"),
        "no version of the capability fits `a@^4` (there are: 3.0.0, 2.0.0-rc.1, 1.9.0, 1.2.0, 1.1.0)"
    );
    assert_eq!(
        fails("../a"),
        "`../a` is not a reference to a capability: `../a` is not an id (write `id`, `id@1.2.0` or `id@^1.2`)"
    );
    assert!(
        fails("a@new").starts_with("`a@new` is not a reference to a capability: `new` is not a version requirement: ")
    );
    let error = Registry::new(vec![]).find("a").unwrap_err();
    assert_eq!(error, RegistryError::NoRegistry);
    assert!(error.hint().unwrap().contains("--registry DIR"));
    let error = versions(&dir, &["nowhere"], "a").unwrap_err();
    assert!(error.to_string().contains("the registry cannot be read: "), "{error}");
}

#[test]
fn the_same_version_twice_in_one_root_is_an_error() {
    let dir = several();
    put(&dir, "r/more/a@1.2.0", "a", "1.2.0");
    let RegistryError::Duplicate { id, version, first, second } = versions(&dir, &["r"], "a").unwrap_err() else {
        panic!("not a duplicate")
    };
    assert_eq!((id.as_str(), version.as_str()), ("a", "1.2.0"));
    assert_eq!([first, second], [dir.path().join("r/a@1.2.0"), dir.path().join("r/more/a@1.2.0")]);
    assert_eq!(versions(&dir, &["r"], "a@1.1.0").unwrap(), "r/deep/er/a 1.1.0");
    let list = Registry::new(vec![dir.path().join("r")]).list();
    let broken: Vec<_> = list.iter().filter_map(|listed| listed.capability.as_ref().err()).collect();
    assert_eq!(broken.len(), 1);
    assert!(broken[0].message.starts_with("`a@1.2.0` is also in "), "{}", broken[0]);
}

#[test]
fn name_and_content_have_to_agree() {
    let dir = TestDir::new("registry");
    put(&dir, "r/a", "b", "1.0.0");
    put(&dir, "r/c@1.0.0", "c", "1.0.1");
    let error = versions(&dir, &["r"], "a").unwrap_err();
    assert!(error.to_string().ends_with("/id: is `b`, and the folder's name says `a`"), "{error}");
    let error = versions(&dir, &["r"], "c").unwrap_err();
    assert!(error.to_string().ends_with("/version: is `1.0.1`, and the folder's name says `1.0.0`"), "{error}");
}

#[test]
fn what_is_broken_hides_nothing_else() {
    let dir = several();
    dir.write("r/broken/capability.json", "{");
    dir.write("r/bad name/capability.json", "{}");
    put(&dir, "r/.hidden/h", "h", "1.0.0");
    put(&dir, "r/other/below", "below", "1.0.0");
    let list = Registry::new(vec![dir.path().join("r")]).list();
    let good = list.iter().filter(|listed| listed.capability.is_ok()).count();
    assert_eq!((list.len(), good), (6, 4));
    assert!(versions(&dir, &["r"], "other").is_ok());
    assert!(matches!(versions(&dir, &["r"], "broken"), Err(RegistryError::File(_))));
    assert!(versions(&dir, &["r"], "below").is_err() && versions(&dir, &["r"], "h").is_err());
    dir.write("r/a/capability.json", "{");
    assert!(matches!(versions(&dir, &["r"], "a"), Err(RegistryError::File(_))), "an older version would be chosen");
    assert!(versions(&dir, &["r"], "a@1.2.0").is_ok());
    std::fs::remove_file(dir.path().join("r/other/tool.toml")).unwrap();
    assert!(versions(&dir, &["r"], "other").unwrap_err().to_string().contains("tool.toml: cannot be read"));
}

#[test]
fn links_in_a_circle_end() {
    let dir = several();
    std::os::unix::fs::symlink("..", dir.path().join("r/deep/up")).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("r/dangling")).unwrap();
    std::os::unix::fs::symlink("self", dir.path().join("r/self")).unwrap();
    assert_eq!(Registry::new(vec![dir.path().join("r")]).list().len(), 4);
    let deep = format!("r{}/a9", "/x".repeat(20));
    put(&dir, &deep, "a9", "1.0.0");
    assert!(matches!(versions(&dir, &["r"], "a9"), Err(RegistryError::Unknown { .. })));
}
