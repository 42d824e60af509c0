//! A control group around a run. The limit on processes does not count for the system's first user: for that one, this does.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, getpid, getuid, kill_process};

use super::ResourceLimits;

/// The group's folder.
#[derive(Clone, Debug)]
pub(super) struct Cgroup(PathBuf);

/// How many this process has built.
static GROUP_COUNTER: AtomicU64 = AtomicU64::new(0);

/// How often whoever is left is ended before the folder is given up.
const MAX_KILL_ROUNDS: usize = 100;

impl Cgroup {
    /// A fence for one run, where this process may build one and needs it.
    pub(super) fn create(limits: &ResourceLimits) -> Option<Self> {
        if !getuid().is_root() {
            return None;
        }
        let number = GROUP_COUNTER.fetch_add(1, Ordering::Relaxed);
        let folder = find_parent_group()?.join(format!("referee-{}-{number}", getpid().as_raw_nonzero()));
        // What lies there is an empty one of an earlier process with this number.
        let _ = fs::remove_dir(&folder);
        fs::create_dir(&folder).ok()?;
        let fence = Self(folder);
        // The guard is inside too, and so are the two that lead to the agent.
        if fs::write(fence.0.join("pids.max"), (limits.processes + 4).to_string()).is_err() {
            fence.kill_and_remove();
            return None;
        }
        // Present only where one group holds all limits.
        let memory = fence.0.join("memory.max");
        if memory.exists() {
            let _ = fs::write(memory, limits.memory_bytes.to_string());
        }
        Some(fence)
    }

    /// The one that was built there.
    pub(super) fn from_folder(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// Where it is.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// Goes inside, with all that this process will start.
    pub(super) fn enter(&self) -> std::io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), "0")
    }

    /// Goes outside again; this process ends next.
    pub(super) fn leave(&self) {
        if let Some(outside) = self.0.parent() {
            let _ = fs::write(outside.join("cgroup.procs"), "0");
        }
        self.kill_and_remove();
    }

    /// Ends whoever is inside, and takes it down.
    pub(super) fn kill_and_remove(&self) {
        for _ in 0..MAX_KILL_ROUNDS {
            if fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            let inside = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
            for pid in inside.lines().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// Where groups that count processes are kept: a tree of their own, or the one tree of all.
fn find_parent_group() -> Option<PathBuf> {
    let own = Path::new("/sys/fs/cgroup/pids");
    if own.join("cgroup.procs").exists() {
        return Some(own.to_owned());
    }
    let all = Path::new("/sys/fs/cgroup");
    let handed_on = fs::read_to_string(all.join("cgroup.subtree_control")).ok()?;
    handed_on.split_whitespace().any(|name| name == "pids").then(|| all.to_owned())
}
