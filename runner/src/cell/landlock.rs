//! Section `landlock`: the tool's domain. After every mount (a landlocked process may not mount), before seccomp.

use crate::call::{Access, Landlock};
use crate::sys::SysError;
use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::errno::Errno;
use std::os::fd::OwnedFd;

/// The newest ABI whose rights this program knows and asks for.
const NEWEST: ABI = ABI::V6;

/// Rights that a rule on a file may hold; others are for folders, and EINVAL on a file.
const FILE_RIGHTS: [AccessFs; 5] =
    [AccessFs::Execute, AccessFs::ReadFile, AccessFs::WriteFile, AccessFs::Truncate, AccessFs::IoctlDev];

/// Enters the domain. On a kernel with fewer rights than the newest ABI the others are left out; whether that is
/// enough has been decided before the launch.
pub fn apply(section: &Landlock) -> Result<(), SysError> {
    let refused = |what: &str| SysError::new("landlock", what.to_owned(), Errno::EINVAL);
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let mut ruleset = ruleset.handle_access(AccessFs::from_all(NEWEST)).map_err(|_| refused("handled rights"))?;
    let mut scope = BitFlags::<Scope>::empty();
    if section.scope_abstract_sockets {
        scope |= Scope::AbstractUnixSocket;
    }
    if section.scope_signals {
        scope |= Scope::Signal;
    }
    if !scope.is_empty() {
        ruleset = ruleset.scope(scope).map_err(|_| refused("scopes"))?;
    }
    let mut created = ruleset.create().map_err(|_| refused("ruleset"))?;
    for rule in &section.rules {
        let path = rule.path.as_path();
        let flags = nix::fcntl::OFlag::O_PATH | nix::fcntl::OFlag::O_CLOEXEC;
        let fd: OwnedFd = match nix::fcntl::open(path, flags, nix::sys::stat::Mode::empty()) {
            Ok(fd) => fd,
            // A path that is not in this root needs no rule.
            Err(Errno::ENOENT) => continue,
            Err(errno) => return Err(SysError::new("open", rule.path.lossy(), errno)),
        };
        let mut rights = rule.access.iter().fold(BitFlags::empty(), |all, access| all | rights_of(*access));
        let stat = nix::sys::stat::fstat(&fd).map_err(SysError::on("fstat", rule.path.lossy()))?;
        if stat.st_mode & libc::S_IFMT != libc::S_IFDIR {
            rights &= FILE_RIGHTS.into_iter().fold(BitFlags::empty(), |all, right| all | right);
        }
        created = created.add_rule(PathBeneath::new(fd, rights)).map_err(|_| refused(&rule.path.lossy()))?;
    }
    let status = created.restrict_self().map_err(|_| refused("restrict_self"))?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(SysError::new("landlock", "restrict_self", Errno::ENOSYS)),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

fn rights_of(access: Access) -> BitFlags<AccessFs> {
    match access {
        Access::List => AccessFs::ReadDir.into(),
        Access::Read => AccessFs::ReadFile | AccessFs::ReadDir,
        Access::Execute => AccessFs::Execute.into(),
        Access::Write => {
            AccessFs::from_write(NEWEST) & !(AccessFs::IoctlDev | AccessFs::MakeChar | AccessFs::MakeBlock)
        }
        Access::Device => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate,
    }
}
