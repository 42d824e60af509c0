//! What a worker prints: kept up to a size, read to the end all the same, so that it never waits for a reader.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The log of a run.
#[derive(Debug)]
pub(super) struct OutputLog {
    file: Mutex<File>,
    max_bytes: u64,
    bytes_read: AtomicU64,
}

impl OutputLog {
    /// Begins the log anew.
    pub(super) fn open(path: &Path, most: u64) -> io::Result<Self> {
        let file = Mutex::new(File::create(path)?);
        Ok(Self { file, max_bytes: most, bytes_read: AtomicU64::new(0) })
    }

    /// Reads until the other side has closed.
    pub(super) fn drain(&self, mut from: impl Read) {
        let mut buffer = vec![0; 1 << 16];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => self.append(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// A line of the sandbox's own.
    pub(super) fn write_note(&self, words: &str) {
        // A full disk loses the line, not the run.
        let _ = writeln!(self.lock_file(), "sandbox: {words}");
    }

    /// How many bytes came, and whether some are not in the log.
    pub(super) fn byte_count(&self) -> (u64, bool) {
        let count = self.bytes_read.load(Ordering::Relaxed);
        (count, count > self.max_bytes)
    }

    fn append(&self, bytes: &[u8]) {
        let before = self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let room = usize::try_from(self.max_bytes.saturating_sub(before)).unwrap_or(usize::MAX);
        let (kept, lost) = bytes.split_at(room.min(bytes.len()));
        let _ = self.lock_file().write_all(kept);
        if !lost.is_empty() && before <= self.max_bytes {
            let _ = writeln!(
                self.lock_file(),
                "\nsandbox: more was printed than the {} bytes that are kept",
                self.max_bytes
            );
        }
    }

    fn lock_file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::OutputLog;

    #[test]
    fn what_is_too_much_is_read_and_named_once() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let path = folder.path().join("log");
        let printed = OutputLog::open(&path, 10).expect("a log");
        printed.drain(&b"12345"[..]);
        assert_eq!(printed.byte_count(), (5, false));
        printed.drain(&b"67890"[..]);
        assert_eq!(printed.byte_count(), (10, false));
        printed.drain(&b"abc"[..]);
        printed.drain(&b"def"[..]);
        assert_eq!(printed.byte_count(), (16, true));
        let text = std::fs::read_to_string(path).expect("the log");
        assert_eq!(text, "1234567890\nsandbox: more was printed than the 10 bytes that are kept\n");
    }
}
