//! The sandbox that a profile makes here, for whoever asks what it allows.

use super::grants::{fitted, sound, without_proxy};
use super::program::Program;
use super::{Context, exec, is_on, namespaces, root};
use crate::call::{Landlock, Mounts, Namespaces, Seccomp};
use crate::layer::Layer;
use crate::profile::Profile;
use crate::refusal::Refusal;
use std::path::{Path, PathBuf};

/// The sections of a Call that hold whatever the program, as `exec` would make them.
#[derive(Clone, Debug)]
pub struct View {
    /// The profile, without the layers that this host does not give.
    pub profile: Profile,
    /// The file system.
    pub mounts: Mounts,
    /// The Landlock domain.
    pub landlock: Option<Landlock>,
    /// The system call filter.
    pub seccomp: Option<Seccomp>,
    /// The namespaces.
    pub namespaces: Namespaces,
}

/// Lays a profile out, granted or not. `work`: the folder at /work; without it /work is scratch space.
///
/// # Errors
/// What would stop every call under the profile, or the folder.
pub fn view(profile: Profile, work: Option<&Path>, ctx: &Context<'_>) -> Result<View, Refusal> {
    sound(&profile, ctx.config.profiles_dir.as_deref())?;
    without_proxy(&profile)?;
    let profile = fitted(profile, ctx.host);
    let mut builder = root::Builder::new(&profile, ctx, is_on(&profile, Layer::Root), None);
    if let Some(work) = work {
        match profile.write.iter().any(|rule| rule.path == Path::new("/work")) {
            true => builder.workspace(Some(work))?,
            false => builder.work_read_only(exec::caller_folder(work, ctx)?),
        }
    }
    let none = Program { inside: PathBuf::new(), executables: Vec::new() };
    let sections = builder.finish(&none)?;
    Ok(View {
        mounts: sections.mounts,
        // A kernel without Landlock holds nobody to it.
        landlock: sections.landlock.filter(|_| ctx.host.landlock_abi > 0),
        seccomp: sections.seccomp,
        namespaces: namespaces(&profile, ctx.host, ctx.config),
        profile,
    })
}
