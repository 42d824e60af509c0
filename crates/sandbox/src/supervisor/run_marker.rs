//! Finds the descendants of a process wherever they went, by a variable in their environment.
//!
//! A process group does not hold a descendant that starts a session of its own, as daemons do. It inherits the
//! environment all the same.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

const VARIABLE: &str = "REFEREE_SUPERVISED";

/// How often to look for more descendants: one that was just found may have started another.
#[cfg(target_os = "linux")]
const MAX_ROUNDS: usize = 100;

/// Marks the environment of one supervised process.
pub(super) struct RunMarker(String);

impl RunMarker {
    pub(super) fn set(command: &mut Command) -> Self {
        static RUNS: AtomicU64 = AtomicU64::new(0);
        let value = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        command.env(VARIABLE, &value);
        Self(value)
    }

    /// Sends SIGKILL to every process with this mark, until none is left.
    #[cfg(target_os = "linux")]
    pub(super) fn kill_all(&self) {
        use rustix::process::{Signal, kill_process};
        for _ in 0..MAX_ROUNDS {
            let found = self.find_processes();
            if found.is_empty() {
                return;
            }
            for pid in found {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    /// Only Linux shows the environment of other processes.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn kill_all(&self) {}

    /// A zombie has no environment any more, so it is not found.
    #[cfg(target_os = "linux")]
    fn find_processes(&self) -> Vec<rustix::process::Pid> {
        let wanted = format!("{VARIABLE}={}", self.0);
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        let marked = entries.flatten().filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            let is_marked = environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
            rustix::process::Pid::from_raw(pid).filter(|_| is_marked)
        });
        marked.collect()
    }
}
