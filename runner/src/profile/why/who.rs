//! What the host's own permissions give the tool.

use super::Sandbox;
use crate::call::Bind;
use crate::layer::Layer;
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Who calls toolcell.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The effective user id.
    pub uid: u32,
    /// The effective and the supplementary group ids.
    pub groups: Vec<u32>,
}

/// As whom the tool meets a file of the host.
pub struct Who {
    uid: Option<u32>,
    groups: Vec<u32>,
    /// Root with its capabilities.
    almighty: bool,
    /// A bind whose other owners have no id: nothing of theirs can be written.
    mapped: bool,
}

impl Who {
    /// `bind`: the mount that the file is reached through.
    pub fn of(sandbox: &Sandbox<'_>, bind: Option<&Bind>) -> Self {
        if sandbox.namespaces.outside.is_none() {
            let caller = sandbox.caller;
            let capable = !sandbox.namespaces.user && !sandbox.asks_for(Layer::Capabilities);
            let (uid, groups) = (Some(caller.uid), caller.groups.clone());
            return Self { uid, groups, almighty: caller.uid == 0 && capable, mapped: false };
        }
        // An id of the call's own, which owns nothing on the host, except where a bind maps the owner to it.
        let owner = bind.and_then(|bind| bind.owner);
        Self {
            uid: owner.map(|owner| owner.uid),
            groups: owner.map(|owner| owner.gid).into_iter().collect(),
            almighty: false,
            mapped: owner.is_some(),
        }
    }

    /// Whether the mode lets it: 4 reads, 2 writes, 1 executes or enters.
    pub fn may(&self, file: &Metadata, bit: u32) -> bool {
        let mode = file.permissions().mode();
        if self.almighty {
            return bit != 1 || file.is_dir() || mode & 0o111 != 0;
        }
        let (own, grouped) = (self.uid == Some(file.uid()), self.groups.contains(&file.gid()));
        if self.mapped && bit == 2 && !(own && grouped) {
            return false;
        }
        let shift = match (own, grouped) {
            (true, _) => 6,
            (_, true) => 3,
            _ => 0,
        };
        mode >> shift & bit == bit
    }
}
