//! The two files of a capability: capability.json and tool.toml.

use super::file_error;
use crate::capability::{self, Capability};
use crate::registry::Reference;
use crate::tool::{self, ToolFile};
use crate::validate::Validator;
use std::collections::BTreeSet;
use std::path::Path;
use toolcell_tool::Status;

/// Any bytes as capability.json.
pub fn capability(data: &[u8]) {
    let path = Path::new("capability.json");
    let unknown = capability::unknown_fields(data);
    assert!(unknown.iter().all(|pointer| pointer.starts_with('/')), "{unknown:?}");
    let loaded = match capability::parse(data, path) {
        Ok(loaded) => loaded,
        Err(error) => return file_error(&error, data),
    };
    let one = loaded.value;
    promises(&one);
    let text = serde_json::to_vec(&one).expect("a contract is written");
    let again = capability::parse(&text, path).unwrap_or_else(|error| panic!("{error} of a contract that was read"));
    assert_eq!(again.value, one);
    assert!(capability::unknown_fields(&text).is_empty(), "a field of ours is not known");
    for schema in std::iter::once(&one.input_schema).chain(&one.output_schema) {
        match Validator::compile(schema) {
            Ok(validator) => {
                let violations = validator.violations(schema);
                assert_eq!(violations.is_empty(), validator.is_valid(schema));
                assert!(violations.iter().all(|violation| !violation.message.is_empty()));
            }
            Err(error) => assert!(!error.message.is_empty() && error.hint.is_none_or(|hint| !hint.is_empty())),
        }
    }
}

fn promises(one: &Capability) {
    assert!(one.schema == 1 && capability::is_id(&one.id), "{one:?}");
    let costs = [one.cost.per_call, one.cost.per_token];
    assert!(costs.iter().all(|cost| cost.is_finite() && *cost >= 0.0), "{costs:?}");
    assert!((0.0..=1.0).contains(&one.reliability.uptime), "{}", one.reliability.uptime);
    let name = format!("{}@{}", one.id, one.version);
    assert!(Reference::parse(&name).is_ok_and(|reference| reference.fits(&one.version)), "{name}");
}

/// Any bytes as tool.toml.
pub fn tool(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let path = Path::new("tool.toml");
    let loaded = match tool::parse(text, path) {
        Ok(loaded) => loaded,
        Err(error) => return file_error(&error, data),
    };
    kept(&loaded.value);
    let table: toml::Table = toml::from_str(text).expect("what was read is TOML");
    let again = tool::parse(&toml::to_string(&table).expect("TOML is written"), path);
    let again = again.unwrap_or_else(|error| panic!("{error} of a tool file that was read"));
    assert_eq!(again.value, loaded.value);
}

fn kept(one: &ToolFile) {
    assert!(matches!(one.command.first(), Some(tool::Element::Literal(program)) if !program.is_empty()), "{one:?}");
    let names = || one.secrets.iter().chain(one.env_set.keys()).chain(&one.env_pass);
    assert_eq!(names().collect::<BTreeSet<_>>().len(), names().count(), "a variable is named twice");
    assert!(names().all(|name| !name.is_empty() && !name.contains(['=', '\0'])), "{one:?}");
    assert!(names().all(|name| !name.starts_with("TOOLCELL_") && name != "TRACEPARENT"), "{one:?}");
    let from_host = || one.secrets.iter().chain(&one.env_pass);
    assert!(from_host().all(|name| !name.starts_with("LD_") && name != "PATH" && name != "BASH_ENV"), "{one:?}");
    for (code, meaning) in &one.exit_codes {
        let ok = meaning.status == Status::Ok;
        assert!(*code != 0 && (!ok || (1..=63).contains(code) || (79..=123).contains(code)), "{code} {meaning:?}");
        assert!(!meaning.retryable || meaning.status == Status::ChannelFailure, "{code} {meaning:?}");
        assert!(!(ok && meaning.reason.is_some()), "{code} {meaning:?}");
    }
    let limits = &one.limits;
    assert!(limits.cpu.is_none_or(|cores| cores.is_finite() && cores > 0.0), "{limits:?}");
    assert!(limits.wall.is_none_or(|wall| wall.0 > 0) && limits.memory.is_none_or(|memory| memory.0 > 0));
    assert!(limits.pids != Some(0) && limits.open_files != Some(0) && limits.tmp_inodes != Some(0), "{limits:?}");
    assert!(one.retry.as_ref().is_none_or(|retry| 0 < retry.backoff_ms && retry.backoff_ms <= retry.max_backoff_ms));
    assert!(one.files_in.iter().all(|pointer| pointer.starts_with('/')), "{:?}", one.files_in);
}
