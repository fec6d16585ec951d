//! Limits as profiles and tool files write them: each may be left out.

use crate::file_error::rule;
use crate::units::{Millis, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Limits, each of which may be absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsSpec {
    /// From acceptance to SIGTERM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<Millis>,
    /// From SIGTERM to SIGKILL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace: Option<Millis>,
    /// Memory of the whole call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Size>,
    /// CPU share, in cores.
    #[serde(deserialize_with = "cores")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<f64>,
    /// Processes and threads at once.
    #[serde(deserialize_with = "positive")]
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pids: Option<u64>,
    /// Descriptors a process may have open.
    #[serde(deserialize_with = "positive")]
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Largest file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size: Option<Size>,
    /// The scratch space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmp: Option<Size>,
    /// Its inodes.
    #[serde(deserialize_with = "positive")]
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmp_inodes: Option<u64>,
    /// Standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Size>,
    /// Standard error kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Size>,
    /// Files collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<Size>,
}

fn cores<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let cores = f64::deserialize(deserializer)?;
    // The kernel keeps no smaller share.
    if cores >= 0.01 && cores.is_finite() {
        return Ok(Some(cores));
    }
    Err(rule(format!("{cores} is not a share of cores"), "name a positive number, such as 0.5 or 2.0"))
}

fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    match i64::deserialize(deserializer)? {
        number @ 1.. => Ok(Some(number.unsigned_abs())),
        number => Err(rule(format!("{number} is not a limit"), "name 1 or more, or leave it out for the default")),
    }
}

/// Runs a macro over every field, so that none is forgotten.
macro_rules! every_field {
    ($run:ident) => {
        $run!(wall, grace, memory, cpu, pids, open_files, file_size, tmp, tmp_inodes, stdout, stderr, out)
    };
}

fn smaller<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(a), Some(b)) => Some(if b < a { b } else { a }),
        (a, b) => a.or(b),
    }
}

impl LimitsSpec {
    /// Field by field the smaller of the two; what only one names is that one's.
    #[must_use]
    pub fn overlay(&self, tighter: &LimitsSpec) -> LimitsSpec {
        macro_rules! run {
            ($($field:ident),*) => { LimitsSpec { $($field: smaller(self.$field, tighter.$field)),* } };
        }
        every_field!(run)
    }

    /// Field by field the child's, or where it names none, one's own.
    #[must_use]
    pub fn replaced_by(&self, child: &LimitsSpec) -> LimitsSpec {
        macro_rules! run {
            ($($field:ident),*) => { LimitsSpec { $($field: child.$field.or(self.$field)),* } };
        }
        every_field!(run)
    }

    /// The names of the fields that are larger than the parent's.
    pub fn loosened_against(&self, parent: &LimitsSpec) -> Vec<&'static str> {
        let mut names = Vec::new();
        macro_rules! run {
            ($($field:ident),*) => {
                $(if let (Some(own), Some(theirs)) = (self.$field, parent.$field) && own > theirs {
                    names.push(stringify!($field));
                })*
            };
        }
        every_field!(run);
        names
    }

    /// The names of the fields that are not set.
    pub fn missing(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        macro_rules! run {
            ($($field:ident),*) => { $(if self.$field.is_none() { names.push(stringify!($field)); })* };
        }
        every_field!(run);
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> LimitsSpec {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_smaller_of_two_wins_and_the_only_one_stays() {
        let both =
            spec("wall = \"30s\"\ncpu = 1\nmemory = \"1GiB\"").overlay(&spec("wall = \"5s\"\ncpu = 2.0\npids = 3"));
        assert_eq!(both, spec("wall = \"5s\"\ncpu = 1.0\nmemory = \"1GiB\"\npids = 3"));
    }

    #[test]
    fn a_child_replaces_what_it_names() {
        let parent = spec("wall = \"30s\"\npids = 10");
        assert_eq!(parent.replaced_by(&spec("wall = \"1m\"")), spec("wall = \"1m\"\npids = 10"));
    }

    #[test]
    fn larger_fields_are_named() {
        let parent = spec("wall = \"30s\"\npids = 10\ncpu = 1.0");
        assert_eq!(spec("wall = \"1m\"\npids = 10\ncpu = 1.5").loosened_against(&parent), ["wall", "cpu"]);
        assert!(spec("wall = \"1s\"\nmemory = 5").loosened_against(&parent).is_empty());
    }

    #[test]
    fn what_is_written_reads_back() {
        let limits = spec("wall = \"1500ms\"\nout = \"64MiB\"\ncpu = 0.5");
        assert_eq!(spec(&toml::to_string(&limits).unwrap()), limits);
        assert!(toml::from_str::<LimitsSpec>("walls = 1").is_err());
        assert_eq!(limits.missing().len(), 9);
    }
}
