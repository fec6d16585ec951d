//! Places, words and hints.

use super::*;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    #[serde(deserialize_with = "schema_one")]
    #[expect(dead_code, reason = "only read in")]
    schema: u64,
    #[serde(default)]
    #[expect(dead_code, reason = "only read in")]
    map: BTreeMap<String, Vec<u8>>,
}

#[test]
fn json_errors_name_line_column_and_pointer() {
    let error =
        from_json::<Sample>(b"\n{\"schema\": 1,\n \"map\": {\"a/b~\": [1, -2]}}", Path::new("x.json")).unwrap_err();
    assert_eq!(error.pointer.as_deref(), Some("/map/a~1b~0/1"));
    assert_eq!(error.line, Some(3));
    assert_eq!(error.message, "invalid value: integer `-2`, expected u8");
    assert!(error.to_string().starts_with("x.json:3:"), "{error}");
}

#[test]
fn toml_errors_name_line_column_and_pointer() {
    let error = from_toml::<Sample>("schema = 1\n[map]\n\"a/b\" = [1, \"x\"]\n", Path::new("x.toml")).unwrap_err();
    assert_eq!(error.to_string(), "x.toml:3:13: /map/a~1b/1: invalid type: string \"x\", expected u8");
    let error = from_toml::<Sample>("schema = 1\nmap = [\n", Path::new("x.toml")).unwrap_err();
    assert_eq!(error.line, Some(2), "{error}");
}

#[test]
fn a_newer_schema_says_upgrade() {
    let error = from_toml::<Sample>("schema = 2", Path::new("x.toml")).unwrap_err();
    assert_eq!(error.to_string(), "x.toml:1:10: /schema: schema 2 is newer than this toolcell, which reads 1");
    assert_eq!(error.hint.as_deref(), Some("upgrade toolcell"));
}

#[test]
fn an_unknown_key_has_the_way_out() {
    let error = from_toml::<Sample>("schema = 1\nmpa = 2", Path::new("x.toml")).unwrap_err();
    assert_eq!(error.to_string(), "x.toml:2:1: /mpa: unknown field `mpa`, expected `schema` or `map`");
    assert_eq!(error.hint.as_deref(), Some("remove it, or correct its spelling"));
}

#[test]
fn a_folder_is_no_file() {
    let error = read(Path::new("/")).unwrap_err();
    assert_eq!(error.to_string(), "/: is not a regular file");
}

#[test]
fn want_of_descriptors_is_no_fault_of_the_file() {
    let error = |errno: i32| FileError::io("/f", "cannot be read", &std::io::Error::from_raw_os_error(errno));
    let (short, broken) = (error(libc::EMFILE), error(libc::EACCES));
    assert!(short.shortage && short.hint.unwrap().contains("ulimit -n"));
    assert!(!broken.shortage && broken.hint.unwrap().contains("readable"));
}
