//! Sections `landlock` and `seccomp` of a profile.

use super::is_on;
use crate::call::{Access, Family, Landlock, LandlockRule, Seccomp};
use crate::layer::Layer;
use crate::profile::{NetworkMode, Profile};
use crate::text::Text;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The tool's user and group id inside.
pub const TOOL_ID: u32 = 1000;

/// Rules by path, gathered while the root is laid out.
#[derive(Default)]
pub struct Rules(BTreeMap<PathBuf, Vec<Access>>);

impl Rules {
    /// Allows `access` at `path` and beneath.
    pub fn allow(&mut self, path: impl AsRef<Path>, access: &[Access]) {
        let held = self.0.entry(path.as_ref().to_path_buf()).or_default();
        held.extend_from_slice(access);
        held.sort_unstable();
        held.dedup();
    }

    /// The section, if the profile asks for it.
    pub fn section(self, profile: &Profile) -> Option<Landlock> {
        is_on(profile, Layer::Landlock).then(|| Landlock {
            rules: self
                .0
                .into_iter()
                .map(|(path, access)| LandlockRule { path: Text::from(path.as_path()), access })
                .collect(),
            scope_abstract_sockets: true,
            scope_signals: true,
        })
    }
}

/// The filter, if the profile asks for one. `foreign_folder`: whether a folder of the caller's is mounted, through
/// which a path socket of the host could be reached even from a network namespace of its own.
pub fn seccomp(profile: &Profile, foreign_folder: bool) -> Option<Seccomp> {
    if !is_on(profile, Layer::Seccomp) {
        return None;
    }
    let contained = profile.network != NetworkMode::None || is_on(profile, Layer::NetNs);
    // Without a network namespace nothing else keeps sockets inside.
    let mut families = if contained { vec![Family::Inet, Family::Inet6] } else { Vec::new() };
    if !foreign_folder && contained {
        families.push(Family::Unix);
    }
    if profile.network != NetworkMode::None {
        families.push(Family::NetlinkRoute);
    }
    families.sort_unstable();
    let memory: [&str; 2] = ["memfd_create", "execveat"];
    let deny_memory_exec = memory.iter().all(|name| profile.deny_syscalls.iter().any(|one| one == name));
    let mut deny: Vec<String> = profile
        .deny_syscalls
        .iter()
        // Both together mean: no code in memory files; execveat with a path stays.
        .filter(|name| !(deny_memory_exec && memory.contains(&name.as_str())))
        .cloned()
        .collect();
    deny.sort_unstable();
    deny.dedup();
    Some(Seccomp { deny, families, deny_memory_exec })
}
