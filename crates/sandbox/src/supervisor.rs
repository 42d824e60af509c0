//! The supervisor of child processes: feeds stdin, collects output up to a limit, and at the deadline kills a process
//! together with everything it started. Reviewers, checks and the guard of the sandbox all run under it.

mod containment;
mod output;
mod run_marker;

use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use containment::Containment;
pub use output::{OutputCallback, OutputTarget};
use output::{OutputReaders, PipeEvent};
use run_marker::RunMarker;

/// How often the supervisor checks whether the process has exited. Its pipes may outlive it, and it may outlive them,
/// so that the end of the pipes alone does not tell.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// A process to run under supervision.
pub struct Supervisor {
    command: Command,
    timeout: Duration,
    input: Option<Vec<u8>>,
    stdout: OutputTarget,
    stderr: OutputTarget,
    /// For a process that kills its own descendants when its stdin closes: how long it may take.
    guard_grace: Option<Duration>,
    end_descendants: bool,
}

/// How a supervised process ended, and what it printed.
#[derive(Debug)]
pub struct ProcessExit {
    pub cause: ExitCause,
    /// What [`OutputTarget`] kept of stdout; empty if it went elsewhere.
    pub stdout: Vec<u8>,
    /// What [`OutputTarget`] kept of stderr.
    pub stderr: Vec<u8>,
    /// Whether both pipes were read to their end. `false` if a descendant still held one open: more output may follow.
    pub output_complete: bool,
}

/// Why a supervised process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCause {
    /// It exited with this code.
    Code(i32),
    /// A signal killed it that the supervisor did not send.
    Signal(i32),
    /// The supervisor killed it at the deadline.
    Timeout,
    /// The supervisor killed it because it printed more than [`OutputTarget::Capture`] allows.
    OutputLimit,
}

impl Supervisor {
    /// Takes the program, its arguments, environment and working directory from `command`. Unless set otherwise, stdin
    /// is the null device, and stdout and stderr are inherited.
    pub fn new(command: Command, timeout: Duration) -> Self {
        let inherit = || OutputTarget::Stdio(Stdio::inherit());
        Self {
            command,
            timeout,
            input: None,
            stdout: inherit(),
            stderr: inherit(),
            guard_grace: None,
            end_descendants: false,
        }
    }

    /// Writes `input` to stdin and closes it. A process that does not read its input is not an error.
    pub fn input(mut self, input: Vec<u8>) -> Self {
        self.input = Some(input);
        self
    }

    pub fn stdout(mut self, target: OutputTarget) -> Self {
        self.stdout = target;
        self
    }

    pub fn stderr(mut self, target: OutputTarget) -> Self {
        self.stderr = target;
        self
    }

    /// Kills every descendant when the process ends, also those that closed their output or started a session.
    pub fn end_descendants(mut self) -> Self {
        self.end_descendants = true;
        self
    }

    /// Declares that the process is a guard: stdin stays open after the input, and closing it makes the process kill
    /// its descendants and exit, within `grace`. Only then is the process itself killed.
    #[cfg(target_os = "linux")]
    pub(crate) fn guarded(mut self, grace: Duration) -> Self {
        self.guard_grace = Some(grace);
        self
    }

    /// Runs the process to its end, and calls `on_heartbeat` about once a second.
    ///
    /// Descendants are killed when the process is killed, when this process dies, and when they keep the output open
    /// after the process has exited. Descendants that a process left behind on purpose, with their output closed, live,
    /// unless [`end_descendants`](Self::end_descendants) is set.
    pub fn run(mut self, on_heartbeat: &mut dyn FnMut()) -> io::Result<ProcessExit> {
        let mut containment = Containment::start(self.guard_grace);
        containment.join(&mut self.command);
        let marker = self.end_descendants.then(|| RunMarker::set(&mut self.command));
        self.command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        self.command.stdout(self.stdout.take_stdio()).stderr(self.stderr.take_stdio());
        let mut child = self.command.spawn()?;
        if let (Some(pipe), Some(input)) = (child.stdin.take(), self.input) {
            containment.hold_stdin(feed_stdin(pipe, input));
        }
        let (sender, events) = mpsc::channel();
        let readers = OutputReaders::start(&mut child, self.stdout, self.stderr, &sender);
        let open_pipes = readers.count();
        let mut running =
            RunningProcess { child, containment, marker, events, open_pipes, over_limit: false, _sender: sender };
        let cause = running.wait_for_exit(self.timeout, on_heartbeat)?;
        let (stdout, stderr) = readers.finish();
        Ok(ProcessExit { cause, stdout, stderr, output_complete: running.open_pipes == 0 && !running.over_limit })
    }
}

/// Writes `input` on a thread of its own, because the process may never read it. The pipe stays open until the returned
/// sender is dropped.
fn feed_stdin(mut pipe: impl Write + Send + 'static, input: Vec<u8>) -> Sender<()> {
    let (hold, released) = mpsc::channel();
    thread::spawn(move || {
        let _ = pipe.write_all(&input).and_then(|()| pipe.flush());
        let _ = released.recv();
    });
    hold
}

struct RunningProcess {
    child: Child,
    containment: Containment,
    /// Set if no descendant may outlive the process.
    marker: Option<RunMarker>,
    events: Receiver<PipeEvent>,
    open_pipes: usize,
    over_limit: bool,
    /// Keeps the channel open: a closed one would return at once instead of waiting.
    _sender: Sender<PipeEvent>,
}

impl RunningProcess {
    fn wait_for_exit(&mut self, timeout: Duration, on_heartbeat: &mut dyn FnMut()) -> io::Result<ExitCause> {
        let started = Instant::now();
        let mut next_heartbeat = HEARTBEAT_INTERVAL;
        let mut deadline = started.checked_add(timeout);
        let mut status: Option<ExitStatus> = None;
        while status.is_none() || self.open_pipes > 0 {
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                break;
            }
            self.receive_event();
            if self.over_limit {
                return self.kill(ExitCause::OutputLimit);
            }
            if status.is_none() {
                status = self.child.try_wait()?;
                let drained = status.and_then(|_| Instant::now().checked_add(self.containment.drain_grace()));
                deadline = [deadline, drained].into_iter().flatten().min();
            }
            if started.elapsed() >= next_heartbeat {
                next_heartbeat = started.elapsed() + HEARTBEAT_INTERVAL;
                on_heartbeat();
            }
        }
        match status.map(classify_exit) {
            None => self.kill(ExitCause::Timeout),
            Some(cause) => {
                match (self.open_pipes, &self.marker) {
                    (0, None) => self.containment.release(),
                    _ => self.kill_descendants(),
                }
                Ok(cause)
            }
        }
    }

    fn kill(&mut self, cause: ExitCause) -> io::Result<ExitCause> {
        self.containment.kill_tree(&mut self.child)?;
        self.kill_descendants();
        // What the process printed last may still be in the pipes.
        let killed = Instant::now();
        while self.open_pipes > 0 && killed.elapsed() < self.containment.drain_grace() {
            self.receive_event();
        }
        Ok(cause)
    }

    fn kill_descendants(&mut self) {
        self.containment.kill_descendants(&self.child);
        if let Some(marker) = &self.marker {
            marker.kill_all();
        }
    }

    fn receive_event(&mut self) {
        match self.events.recv_timeout(POLL_INTERVAL) {
            Ok(event) => {
                self.open_pipes = self.open_pipes.saturating_sub(1);
                self.over_limit |= event == PipeEvent::OverLimit;
            }
            Err(_timeout) => {}
        }
    }
}

fn classify_exit(status: ExitStatus) -> ExitCause {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return ExitCause::Signal(signal);
    }
    ExitCause::Code(status.code().unwrap_or(-1))
}
