//! The log of a sandboxed program: keeps its output up to a size, without secrets, and counts the rest.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::redactor::Redactor;

#[derive(Debug)]
pub(super) struct OutputLog {
    writer: Mutex<LogWriter>,
    max_bytes: u64,
    bytes_received: AtomicU64,
}

#[derive(Debug)]
struct LogWriter {
    file: File,
    redactor: Redactor,
    secrets: Vec<Vec<u8>>,
}

impl OutputLog {
    /// Creates an empty log file, and truncates one that exists. The log shows `secrets` as `***`.
    pub(super) fn create(path: &Path, max_bytes: u64, secrets: &[Vec<u8>]) -> io::Result<Self> {
        let writer =
            LogWriter { file: File::create(path)?, redactor: Redactor::new(secrets), secrets: secrets.to_vec() };
        Ok(Self { writer: Mutex::new(writer), max_bytes, bytes_received: AtomicU64::new(0) })
    }

    /// Appends output of the program, as far as the size limit allows. A full disk loses output but does not stop the
    /// run.
    pub(super) fn append(&self, bytes: &[u8]) {
        let before = self.bytes_received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let free = usize::try_from(self.max_bytes.saturating_sub(before)).unwrap_or(usize::MAX);
        let (kept, dropped) = bytes.split_at(free.min(bytes.len()));
        let mut writer = self.lock_writer();
        let kept = writer.redactor.redact_chunk(kept);
        let _ = writer.file.write_all(&kept);
        if !dropped.is_empty() && before <= self.max_bytes {
            writer.flush();
            let _ = writeln!(
                writer.file,
                "\nsandbox: the log is full: output after the first {} bytes is dropped",
                self.max_bytes
            );
        }
    }

    /// Appends a line of the sandbox itself. It may repeat what the program said, such as a host name.
    pub(super) fn write_note(&self, note: &str) {
        let mut writer = self.lock_writer();
        let mut redactor = Redactor::new(&writer.secrets);
        let note = [redactor.redact_chunk(format!("sandbox: {note}").as_bytes()), redactor.finish()].concat();
        let _ = writer.file.write_all(&[note.as_slice(), b"\n"].concat());
    }

    /// Writes the end of the output, which may have been held back as the beginning of a secret.
    pub(super) fn flush(&self) {
        self.lock_writer().flush();
    }

    /// Returns how many bytes the program printed, and whether some of them are missing from the log.
    pub(super) fn byte_count(&self) -> (u64, bool) {
        let count = self.bytes_received.load(Ordering::Relaxed);
        (count, count > self.max_bytes)
    }

    fn lock_writer(&self) -> MutexGuard<'_, LogWriter> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogWriter {
    fn flush(&mut self) {
        let rest = self.redactor.finish();
        let _ = self.file.write_all(&rest);
    }
}

#[cfg(test)]
mod tests {
    use super::OutputLog;

    #[test]
    fn output_over_the_limit_is_counted_and_noted_once() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let path = folder.path().join("log");
        let log = OutputLog::create(&path, 10, &[]).expect("a log");
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

    #[test]
    fn secrets_are_not_written() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let path = folder.path().join("log");
        let log = OutputLog::create(&path, 36, &[b"hunter2-hunter2".to_vec()]).expect("a log");
        log.append(b"key hunter2-");
        log.write_note("the relay refuses `hunter2-hunter2.example.org`");
        log.append(b"hunter2 and hunt");
        // The limit cuts this one: 12 of its 15 bytes are below it.
        log.append(b"er2-hunter2");
        log.append(b"more");
        log.flush();
        let text = std::fs::read_to_string(path).expect("the log");
        let full = "sandbox: the log is full: output after the first 36 bytes is dropped\n";
        assert_eq!(text, format!("key sandbox: the relay refuses `***.example.org`\n*** and ***\n{full}"));
    }
}
