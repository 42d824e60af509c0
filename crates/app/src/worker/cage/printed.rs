//! What a worker prints: kept up to a size, read to the end all the same, so that it never waits for a reader.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The log of a run.
#[derive(Debug)]
pub(super) struct Printed {
    file: Mutex<File>,
    most: u64,
    count: AtomicU64,
}

impl Printed {
    /// Begins the log anew.
    pub(super) fn open(path: &Path, most: u64) -> io::Result<Self> {
        let file = Mutex::new(File::create(path)?);
        Ok(Self { file, most, count: AtomicU64::new(0) })
    }

    /// Reads until the other side has closed.
    pub(super) fn take(&self, mut from: impl Read) {
        let mut buffer = vec![0; 1 << 16];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(read) => self.keep(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// A line of the cage's own.
    pub(super) fn note(&self, words: &str) {
        // A full disk loses the line, not the run.
        let _ = writeln!(self.file(), "cage: {words}");
    }

    /// How many bytes came, and whether some are not in the log.
    pub(super) fn count(&self) -> (u64, bool) {
        let count = self.count.load(Ordering::Relaxed);
        (count, count > self.most)
    }

    fn keep(&self, bytes: &[u8]) {
        let before = self.count.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let room = usize::try_from(self.most.saturating_sub(before)).unwrap_or(usize::MAX);
        let (kept, lost) = bytes.split_at(room.min(bytes.len()));
        let _ = self.file().write_all(kept);
        if !lost.is_empty() && before <= self.most {
            let _ = writeln!(self.file(), "\ncage: more was printed than the {} bytes that are kept", self.most);
        }
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Printed;

    #[test]
    fn what_is_too_much_is_read_and_named_once() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let path = folder.path().join("log");
        let printed = Printed::open(&path, 10).expect("a log");
        printed.take(&b"12345"[..]);
        assert_eq!(printed.count(), (5, false));
        printed.take(&b"67890"[..]);
        assert_eq!(printed.count(), (10, false));
        printed.take(&b"abc"[..]);
        printed.take(&b"def"[..]);
        assert_eq!(printed.count(), (16, true));
        let text = std::fs::read_to_string(path).expect("the log");
        assert_eq!(text, "1234567890\ncage: more was printed than the 10 bytes that are kept\n");
    }
}
