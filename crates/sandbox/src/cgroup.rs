//! A control group (cgroup) around a run. `RLIMIT_NPROC` does not apply to root; for root this enforces the process
//! limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, getpid, getuid, kill_process};

use super::ResourceLimits;

/// A control group, by its folder.
#[derive(Clone, Debug)]
pub(super) struct Cgroup(PathBuf);

/// Numbers the groups of this process, so that their names differ.
static GROUP_COUNTER: AtomicU64 = AtomicU64::new(0);

/// How often the members are killed before the folder is given up.
const MAX_KILL_ROUNDS: usize = 100;

/// The guard, and the two helpers between it and the program, also count against the limit.
const HELPER_PROCESSES: u64 = 4;

impl Cgroup {
    /// Creates a group for one run. Returns `None` if this process is not root, or may not create one.
    pub(super) fn create(limits: &ResourceLimits) -> Option<Self> {
        if !getuid().is_root() {
            return None;
        }
        let number = GROUP_COUNTER.fetch_add(1, Ordering::Relaxed);
        let folder = find_parent_group()?.join(format!("referee-{}-{number}", getpid().as_raw_nonzero()));
        // An earlier process with the same pid may have left an empty group.
        let _ = fs::remove_dir(&folder);
        fs::create_dir(&folder).ok()?;
        let cgroup = Self(folder);
        if fs::write(cgroup.0.join("pids.max"), (limits.processes + HELPER_PROCESSES).to_string()).is_err() {
            cgroup.kill_and_remove();
            return None;
        }
        // cgroup v2 has all controllers in one tree; in v1 the memory controller is elsewhere.
        let memory = cgroup.0.join("memory.max");
        if memory.exists() {
            let _ = fs::write(memory, limits.memory_bytes.to_string());
        }
        Some(cgroup)
    }

    pub(super) fn from_folder(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// Moves this process into the group, and with it everything it starts from now on.
    pub(super) fn enter(&self) -> std::io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), "0")
    }

    /// Moves this process back to the parent group and removes the group.
    pub(super) fn leave(&self) {
        if let Some(parent) = self.0.parent() {
            let _ = fs::write(parent.join("cgroup.procs"), "0");
        }
        self.kill_and_remove();
    }

    /// Kills all members and removes the group.
    pub(super) fn kill_and_remove(&self) {
        for _ in 0..MAX_KILL_ROUNDS {
            if fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            let members = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
            for pid in members.lines().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// Returns the group under which a group with a process limit can be created: the `pids` tree of cgroup v1, or the one
/// tree of v2 if it delegates `pids`.
fn find_parent_group() -> Option<PathBuf> {
    let v1 = Path::new("/sys/fs/cgroup/pids");
    if v1.join("cgroup.procs").exists() {
        return Some(v1.to_owned());
    }
    let v2 = Path::new("/sys/fs/cgroup");
    let delegated = fs::read_to_string(v2.join("cgroup.subtree_control")).ok()?;
    delegated.split_whitespace().any(|name| name == "pids").then(|| v2.to_owned())
}
