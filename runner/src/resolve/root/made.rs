//! What of the root is made up: devices and small files.

use super::{Builder, TOOL_ID};
use crate::call::{Access, Link, MadeFile};
use crate::profile::NetworkMode;
use crate::text::Text;
use std::path::Path;

/// Devices every program may expect. /dev/tty is there and refuses, since the call has no terminal.
pub(super) const DEVICES: [&str; 6] =
    ["/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];
impl Builder<'_> {
    /// /dev.
    pub(super) fn devices(&mut self) {
        let named = self.profile.devices.iter().map(String::as_str);
        for device in DEVICES.into_iter().chain(named).filter(|path| Path::new(path).exists()) {
            self.mounts.devices.push(Text::from(device));
            self.rules.allow(device, &[Access::Device]);
        }
        self.rules.allow("/dev", &[Access::Read]);
        for (name, target) in [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
            self.mounts.links.push(Link { path: Text::from(format!("/dev/{name}")), target: Text::from(target) });
        }
    }

    /// Files of /etc that tell nothing about the host.
    pub(super) fn made_files(&mut self) {
        let dns = if self.profile.network == NetworkMode::None { "files" } else { "files dns" };
        let files = [
            (
                "/etc/passwd",
                format!(
                    "tool:x:{TOOL_ID}:{TOOL_ID}:tool:/home/tool:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"
                ),
            ),
            ("/etc/group", format!("tool:x:{TOOL_ID}:\nnogroup:x:65534:\n")),
            ("/etc/hosts", "127.0.0.1 localhost toolcell\n::1 localhost\n".to_owned()),
            ("/etc/nsswitch.conf", format!("passwd: files\ngroup: files\nhosts: {dns}\n")),
            ("/etc/hostname", "toolcell\n".to_owned()),
        ];
        // A granted profile may show the host's own instead.
        let shown =
            |path: &str| self.mounts.binds.iter().any(|bind| Path::new(path).starts_with(bind.target.as_path()));
        let files: Vec<_> = files.into_iter().filter(|(path, _)| !shown(path)).collect();
        let made = files.into_iter().map(|(path, content)| MadeFile { path: Text::from(path), content });
        self.mounts.files.extend(made);
    }
}
