//! The log of a sandboxed program: keeps its output up to a size and counts the rest.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(super) struct OutputLog {
    file: Mutex<File>,
    max_bytes: u64,
    bytes_received: AtomicU64,
}

impl OutputLog {
    /// Creates an empty log file, and truncates one that exists.
    pub(super) fn create(path: &Path, max_bytes: u64) -> io::Result<Self> {
        let file = Mutex::new(File::create(path)?);
        Ok(Self { file, max_bytes, bytes_received: AtomicU64::new(0) })
    }

    /// Appends output of the program, as far as the size limit allows. A full disk loses output but does not stop the
    /// run.
    pub(super) fn append(&self, bytes: &[u8]) {
        let before = self.bytes_received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let free = usize::try_from(self.max_bytes.saturating_sub(before)).unwrap_or(usize::MAX);
        let (kept, dropped) = bytes.split_at(free.min(bytes.len()));
        let _ = self.lock_file().write_all(kept);
        if !dropped.is_empty() && before <= self.max_bytes {
            let _ = writeln!(
                self.lock_file(),
                "\nsandbox: the log is full: output after the first {} bytes is dropped",
                self.max_bytes
            );
        }
    }

    /// Appends a line of the sandbox itself.
    pub(super) fn write_note(&self, note: &str) {
        let _ = writeln!(self.lock_file(), "sandbox: {note}");
    }

    /// Returns how many bytes the program printed, and whether some of them are missing from the log.
    pub(super) fn byte_count(&self) -> (u64, bool) {
        let count = self.bytes_received.load(Ordering::Relaxed);
        (count, count > self.max_bytes)
    }

    fn lock_file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::OutputLog;

    #[test]
    fn output_over_the_limit_is_counted_and_noted_once() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let path = folder.path().join("log");
        let log = OutputLog::create(&path, 10).expect("a log");
        log.append(b"12345");
        assert_eq!(log.byte_count(), (5, false));
        log.append(b"67890");
        assert_eq!(log.byte_count(), (10, false));
        log.append(b"abc");
        log.append(b"def");
        assert_eq!(log.byte_count(), (16, true));
        let text = std::fs::read_to_string(path).expect("the log");
        assert_eq!(text, "1234567890\nsandbox: the log is full: output after the first 10 bytes is dropped\n");
    }
}
