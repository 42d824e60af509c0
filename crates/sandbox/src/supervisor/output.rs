//! Where the output of a supervised process goes. Reader threads take it from the pipes, so that the process never
//! waits for the supervisor.

use std::io::{self, Read};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::{mem, thread};

const CHUNK_BYTES: usize = 64 * 1024;

/// Receives a chunk of output.
pub type OutputCallback = Box<dyn FnMut(&[u8]) + Send>;

/// What happens to the output of a supervised process.
pub enum OutputTarget {
    /// The process writes to this stream directly.
    Stdio(Stdio),
    /// Everything is kept. A process that prints more than `max_bytes` is killed.
    Capture { max_bytes: usize },
    /// The last `max_bytes` are kept.
    Tail { max_bytes: usize },
    /// A reader thread calls this function with each chunk; nothing is kept.
    Callback(OutputCallback),
}

impl OutputTarget {
    /// Returns the stream to give to the process, and leaves the part that the reader thread needs.
    pub(super) fn take_stdio(&mut self) -> Stdio {
        match self {
            Self::Stdio(stdio) => mem::replace(stdio, Stdio::null()),
            Self::Capture { .. } | Self::Tail { .. } | Self::Callback(_) => Stdio::piped(),
        }
    }

    /// Takes in a chunk. Returns whether the output is still within its limit.
    fn accept(&mut self, chunk: &[u8], kept: &Mutex<Vec<u8>>) -> bool {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        match self {
            Self::Stdio(_) => true,
            Self::Capture { max_bytes } => {
                kept.extend(chunk);
                kept.len() <= *max_bytes
            }
            Self::Tail { max_bytes } => {
                kept.extend(chunk);
                let surplus = kept.len().saturating_sub(*max_bytes);
                kept.drain(..surplus);
                true
            }
            Self::Callback(callback) => {
                callback(chunk);
                true
            }
        }
    }
}

/// Why a reader thread stopped reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PipeEvent {
    Closed,
    OverLimit,
}

/// The reader threads of one process.
pub(super) struct OutputReaders {
    stdout: Arc<Mutex<Vec<u8>>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    count: usize,
    abandoned: Arc<AtomicBool>,
}

impl OutputReaders {
    pub(super) fn start(
        child: &mut Child,
        stdout: OutputTarget,
        stderr: OutputTarget,
        events: &Sender<PipeEvent>,
    ) -> Self {
        let mut readers = Self { stdout: Arc::default(), stderr: Arc::default(), count: 0, abandoned: Arc::default() };
        if let Some(pipe) = child.stdout.take() {
            readers.spawn_reader(pipe, stdout, Arc::clone(&readers.stdout), events.clone());
        }
        if let Some(pipe) = child.stderr.take() {
            readers.spawn_reader(pipe, stderr, Arc::clone(&readers.stderr), events.clone());
        }
        readers
    }

    /// Returns how many pipes are read. Each sends exactly one [`PipeEvent`].
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns what was kept of stdout and stderr, and lets go of pipes that a descendant still holds open.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u8>) {
        self.abandoned.store(true, Ordering::Relaxed);
        let take = |kept: &Mutex<Vec<u8>>| mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
        (take(&self.stdout), take(&self.stderr))
    }

    fn spawn_reader(
        &mut self,
        mut pipe: impl Read + Send + 'static,
        mut target: OutputTarget,
        kept: Arc<Mutex<Vec<u8>>>,
        events: Sender<PipeEvent>,
    ) {
        self.count += 1;
        let abandoned = Arc::clone(&self.abandoned);
        thread::spawn(move || {
            let mut buffer = vec![0; CHUNK_BYTES];
            let event = loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break PipeEvent::Closed,
                    Ok(_) if abandoned.load(Ordering::Relaxed) => return,
                    Ok(count) if !target.accept(&buffer[..count], &kept) => break PipeEvent::OverLimit,
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break PipeEvent::Closed,
                }
            };
            // The supervisor may have returned already.
            let _ = events.send(event);
        });
    }
}
