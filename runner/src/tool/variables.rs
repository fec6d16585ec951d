//! Which environment variables a tool file and a config may name.

use crate::file_error::rule;
use serde::{Deserialize, Deserializer, de};
use std::collections::{BTreeMap, BTreeSet};

/// Variables that the runner itself gives the tool.
const RUNNERS: [&str; 3] = ["TRACEPARENT", "TRACESTATE", "OTEL_TRACEPARENT"];
/// Variables of the sandbox: their values are true only inside.
const SANDBOXES: [&str; 4] = ["PATH", "HOME", "TMPDIR", "USER"];
/// Variables that change what program runs, or what code it loads: of the loader, of shells, of interpreters.
const STEERING: [&str; 30] = [
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "IFS",
    "PS4",
    "CDPATH",
    "GLOBIGNORE",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "HOSTALIASES",
    "RESOLV_HOST_CONF",
    "MALLOC_TRACE",
    "GLIBC_TUNABLES",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "PERLLIB",
    "RUBYLIB",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "CLASSPATH",
    "LUA_INIT",
    "PHPRC",
];
/// The same, by their beginnings.
const STEERING_PREFIXES: [&str; 4] = ["LD_", "PYTHON", "BASH_FUNC_", "DYLD_"];

/// Whether `name` can be a variable's name.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether `name` steers the loader, a shell or an interpreter. Only a tool file's `env.set` may name it.
pub fn is_steering(name: &str) -> bool {
    STEERING.contains(&name) || STEERING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether `name` is one the runner gives the tool itself.
pub fn is_runners(name: &str) -> bool {
    name.starts_with("TOOLCELL_") || RUNNERS.contains(&name)
}

/// Why a variable whose value comes from the host (a secret, or passed through) cannot have this name; fact and hint.
pub fn host_name_problem(name: &str) -> Option<(String, &'static str)> {
    if !is_name(name) {
        Some((format!("`{name}` is not a variable's name"), "letters, digits and `_`, not beginning with a digit"))
    } else if is_runners(name) {
        Some((format!("the variable `{name}` is toolcell's own"), "choose another name"))
    } else if SANDBOXES.contains(&name) {
        Some((format!("the variable `{name}` is the sandbox's own"), "choose another name"))
    } else if is_steering(name) {
        Some((
            format!("the variable `{name}` changes what code runs"),
            "it may only be set to a fixed value, in env.set of tool.toml",
        ))
    } else {
        None
    }
}

fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let mut seen = BTreeSet::new();
    for name in &names {
        if let Some((fact, hint)) = host_name_problem(name) {
            return Err(rule(fact, hint));
        }
        if !seen.insert(name) {
            return Err(rule(format!("the variable `{name}` is named twice"), "name it once"));
        }
    }
    Ok(names)
}

/// Reads `secrets`.
pub(super) fn secrets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    names(deserializer)
}

/// Reads `env.pass`.
pub(super) fn passed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    names(deserializer)
}

/// Reads `env.set`.
pub(super) fn set<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    let set = BTreeMap::<String, String>::deserialize(deserializer)?;
    for (name, value) in &set {
        set_problem(name, value)?;
    }
    Ok(set)
}

fn set_problem<E: de::Error>(name: &str, value: &str) -> Result<(), E> {
    if name.is_empty() {
        return Err(rule("a variable has no name", "name it"));
    }
    if name.contains(['=', '\0']) {
        return Err(rule(
            format!("the variable's name {name:?} holds `=` or NUL"),
            "the kernel cannot carry it; rename it",
        ));
    }
    if value.contains('\0') {
        return Err(rule(format!("the value of `{name}` holds NUL"), "the kernel cannot carry it; encode it"));
    }
    if is_runners(name) {
        return Err(rule(format!("the variable `{name}` is toolcell's own"), "choose another name"));
    }
    Ok(())
}
