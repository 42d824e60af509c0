//! How much of the machine a worker may use.

use std::fmt;
use std::str::FromStr;

/// The limits. The memory is each process's own; where there is a fence (`fence.rs`), it also holds for all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Processes and threads at once.
    pub processes: u64,
    /// Bytes of memory that can be written.
    pub memory_bytes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Bytes of prints that are kept.
    pub log_bytes: u64,
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self { processes: 4096, memory_bytes: 8 << 30, file_bytes: 4 << 30, open_files: 8192, log_bytes: 10 << 20 }
    }
}

/// How they are handed to the program inside: numbers with colons between them.
impl fmt::Display for ResourceLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:{}:{}", self.processes, self.memory_bytes, self.file_bytes, self.open_files, self.log_bytes)
    }
}

impl FromStr for ResourceLimits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<u64>, _> = text.split(':').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[processes, memory, file, files, log]) => {
                Ok(Self { processes, memory_bytes: memory, file_bytes: file, open_files: files, log_bytes: log })
            }
            _ => Err("five numbers are wanted".to_owned()),
        }
    }
}

#[cfg(target_os = "linux")]
impl ResourceLimits {
    /// Holds them for this process and all that come of it.
    pub(crate) fn apply(&self) -> std::io::Result<()> {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        // Not the address space: programs with a garbage collector reserve far more of it than they ever touch.
        let all = [
            (Resource::Nproc, self.processes),
            (Resource::Data, self.memory_bytes),
            (Resource::Fsize, self.file_bytes),
            (Resource::Nofile, self.open_files),
            (Resource::Core, 0),
        ];
        for (resource, limit) in all {
            let most = getrlimit(resource).maximum.map_or(limit, |hard| hard.min(limit));
            setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ResourceLimits;

    #[test]
    fn what_is_handed_over_comes_back() {
        let limits = ResourceLimits { processes: 7, ..ResourceLimits::default() };
        assert_eq!(limits.to_string().parse(), Ok(limits));
        for wrong in ["", "1", "1:2:3:4:x", "1:2:3:4:5:6"] {
            wrong.parse::<ResourceLimits>().expect_err(wrong);
        }
    }
}
