//! Who is granted what.

use super::{Config, Grant};
use crate::call::SecretSource;
use std::path::Path;

impl Config {
    /// Whether a capability (null: `exec`) may use a profile. `strict` and `standard` need no grant, nor does
    /// `workspace` for `exec`; a capability's grant counts only in a trusted registry.
    pub fn profile_granted(&self, capability: Option<&str>, registry: Option<&Path>, profile: &str) -> bool {
        let free: &[&str] = match capability {
            Some(_) => &["strict", "standard"],
            None => &["strict", "standard", "workspace"],
        };
        free.contains(&profile)
            || self.grants_for(capability, registry).any(|grant| grant.profiles.iter().any(|name| name == profile))
    }

    /// Whether a capability (null: `exec`) may have a variable of the runner's environment.
    pub fn env_granted(&self, capability: Option<&str>, registry: Option<&Path>, name: &str) -> bool {
        self.grants_for(capability, registry).any(|grant| grant.env.iter().any(|granted| granted == name))
    }

    /// Where a capability's secret comes from, if it may have it. `exec` has no secrets.
    pub fn secret_for(&self, capability: Option<&str>, registry: Option<&Path>, name: &str) -> Option<SecretSource> {
        let (capability, rule) = (capability?, self.secrets.get(name)?);
        let named = rule.for_.iter().any(|pattern| glob(pattern, capability));
        (named && self.trusts(registry)).then(|| rule.source.clone())
    }

    /// The lines a user has to add so that a capability (null: `exec`) may use a profile.
    pub fn explain_grant(&self, capability: Option<&str>, profile: &str) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let whom = match capability {
            Some(id) => format!("capability = {}", quoted(id)),
            None => "exec = true".into(),
        };
        format!("[[grant]]\n{whom}\nprofiles = [{}]\n", quoted(profile))
    }

    fn grants_for<'a>(
        &'a self,
        capability: Option<&'a str>,
        registry: Option<&Path>,
    ) -> impl Iterator<Item = &'a Grant> + use<'a> {
        let counts = capability.is_none() || self.trusts(registry);
        self.grants.iter().filter(move |grant| {
            counts
                && match (capability, &grant.capability) {
                    (Some(id), Some(pattern)) => glob(pattern, id),
                    (None, None) => grant.exec,
                    _ => false,
                }
        })
    }

    fn trusts(&self, registry: Option<&Path>) -> bool {
        let Some(registry) = registry else { return false };
        let real = || registry.canonicalize().ok();
        self.trusted_registries.iter().any(|trusted| {
            trusted == registry || real().is_some_and(|real| trusted.canonicalize().is_ok_and(|other| other == real))
        })
    }
}

/// Whether a text fits a pattern of plain characters, `*` (any number of characters) and `?` (exactly one).
///
/// Only the last `*` is ever tried again, so no pattern takes more than its length times the text's.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                star = Some((p, t));
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((after, taken)) => {
                    star = Some((after, taken + 1));
                    p = after;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}
