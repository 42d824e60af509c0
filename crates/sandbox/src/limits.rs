//! Resource limits of a sandboxed program.

use serde::{Deserialize, Serialize};

/// What a sandboxed program may use. `memory_bytes` holds for each process; inside a control group (`cgroup.rs`) it also
/// holds for all of them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResourceLimits {
    /// Processes and threads at the same time.
    pub processes: u64,
    /// Writable memory of a process.
    pub memory_bytes: u64,
    /// Size of one file.
    pub file_bytes: u64,
    /// Open files of a process.
    pub open_files: u64,
    /// Size of the log; output beyond it is dropped.
    pub log_bytes: u64,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self { processes: 4096, memory_bytes: 8 << 30, file_bytes: 4 << 30, open_files: 8192, log_bytes: 10 << 20 }
    }
}

#[cfg(target_os = "linux")]
impl ResourceLimits {
    /// Applies the limits to this process and everything it starts.
    pub(crate) fn apply(&self) -> std::io::Result<()> {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        // No limit on the address space: runtimes with a garbage collector reserve far more of it than they use.
        let limits = [
            (Resource::Nproc, self.processes),
            (Resource::Data, self.memory_bytes),
            (Resource::Fsize, self.file_bytes),
            (Resource::Nofile, self.open_files),
            (Resource::Core, 0),
        ];
        for (resource, limit) in limits {
            let limit = getrlimit(resource).maximum.map_or(limit, |hard| hard.min(limit));
            setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
        }
        Ok(())
    }
}
