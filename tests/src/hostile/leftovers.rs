//! What a call may leave on the host: nothing.

use super::pen::Pen;
use super::tracked::survivors;
use crate::{Scene, left};
use std::collections::BTreeSet;
use std::path::Path;

/// What was there before.
#[derive(Debug)]
pub struct Before {
    mounts: BTreeSet<String>,
    shared: BTreeSet<String>,
    registry: Vec<String>,
}

impl Before {
    /// Notes it.
    pub fn look(scene: &Scene) -> Self {
        Self { mounts: mounts(), shared: shared(), registry: tree(&scene.registry()) }
    }

    /// What is there now and was not, or is not as it was. Looked at for a while: a process that the kernel has killed
    /// may still be on its way out. `runner_died`: then its group is left to the next start, and the kernel's orphans
    /// to this test.
    pub fn left(&self, scene: &Scene, pen: Option<&Pen>, runner_died: bool) -> Vec<String> {
        let mut found = Vec::new();
        left::soon(|| self.now(scene, pen, runner_died).is_empty());
        found.extend(self.now(scene, pen, runner_died));
        found
    }

    /// The same, looked at once: for what must be gone when the envelope is there.
    pub fn now(&self, scene: &Scene, pen: Option<&Pen>, runner_died: bool) -> Vec<String> {
        let mut found: Vec<String> = survivors(!runner_died).into_iter().map(|one| format!("process {one}")).collect();
        if let Some(pen) = pen.filter(|_| !runner_died) {
            found.extend(pen.groups().iter().map(|path| format!("group {}", path.display())));
        }
        found.extend(mounts().difference(&self.mounts).map(|line| format!("mount {line}")));
        found.extend(shared().difference(&self.shared).map(|name| format!("/dev/shm/{name}")));
        for folder in ["tmp", "work", "home"] {
            let names = left::names(&scene.path().join(folder));
            found.extend(names.into_iter().map(|name| format!("file {folder}/{name}")));
        }
        let registry = tree(&scene.registry());
        if registry != self.registry {
            found.push(format!("the registry was {:?} and is {registry:?}", self.registry));
        }
        found
    }
}

fn mounts() -> BTreeSet<String> {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Shared memory that toolcell or a tool of this suite might have made.
fn shared() -> BTreeSet<String> {
    let ours = |name: &String| name.contains("toolcell") || name.contains("hostile");
    left::names(Path::new("/dev/shm")).into_iter().filter(ours).collect()
}

/// Every path below a folder.
fn tree(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for name in left::names(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            all.extend(tree(&path).into_iter().map(|below| format!("{name}/{below}")));
        }
        all.push(name);
    }
    all
}
