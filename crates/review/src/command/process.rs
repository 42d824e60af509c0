//! A process that cannot outstay its time, flood its reader or leave children that hold the line.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{self, Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::ReviewCommand;
use super::environment::CommandEnvironment;
use super::guard::ProcessGroupGuard;
use crate::formats::ToolExit;

/// How a process ended, and what it left.
pub(super) struct ProcessExit {
    pub(super) cause: ExitCause,
    pub(super) stdout: Vec<u8>,
    pub(super) tool_exit: ToolExit,
    stderr: Vec<u8>,
}

/// What ended it.
#[derive(Clone, Copy)]
pub(super) enum ExitCause {
    Code(i32),
    Signal(i32),
    Timeout,
    OutputLimit,
}

/// How often somebody looks whether the process is still there: its pipes may outlive it, and it may outlive them.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long what it left behind may keep its output open.
const PIPE_CLOSE_GRACE: Duration = Duration::from_secs(1);
/// How much of its errors is kept.
const STDERR_TAIL_BYTES: usize = 4096;
const CHUNK_BYTES: usize = 64 * 1024;
/// How many chunks may wait: a flood is stopped, not stored.
const MAX_QUEUED_CHUNKS: usize = 16;

pub(super) fn run_process(
    command: &ReviewCommand,
    dir: &Path,
    environment: &CommandEnvironment,
    input: Option<Vec<u8>>,
) -> io::Result<ProcessExit> {
    let guard = ProcessGroupGuard::start();
    let mut child = spawn(command, dir, environment, input, &guard)?;
    let (sender, pipes) = sync_channel(MAX_QUEUED_CHUNKS);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    stdout.into_iter().for_each(|pipe| forward_pipe(pipe, sender.clone(), PipeChunk::Stdout));
    stderr.into_iter().for_each(|pipe| forward_pipe(pipe, sender.clone(), PipeChunk::Stderr));
    // The last sender stays here: a channel that hangs up would answer at once instead of waiting.
    let exit = RunningProcess { child, guard, pipes, open_pipes: 2, stdout: Vec::new(), stderr: Vec::new() }
        .wait_for_exit(command);
    drop(sender);
    exit
}

fn spawn(
    command: &ReviewCommand,
    dir: &Path,
    environment: &CommandEnvironment,
    input: Option<Vec<u8>>,
    guard: &ProcessGroupGuard,
) -> io::Result<Child> {
    let (program, arguments) = command.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut ready = process::Command::new(program);
    ready.args(arguments).current_dir(dir).env_clear().stdout(Stdio::piped()).stderr(Stdio::piped());
    ready.envs(environment.variables.iter().map(|(name, value)| (name, value)));
    ready.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    guard.join_group(&mut ready);
    let mut child = ready.spawn()?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // Whoever does not read its brief is free to: a broken pipe is no failure.
        thread::spawn(move || drop(pipe.write_all(&input)));
    }
    Ok(child)
}

enum PipeChunk {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Eof,
}

/// Reads a pipe to its end on a thread of its own. Should somebody hold it open for ever, only that thread waits.
fn forward_pipe(mut pipe: impl Read + Send + 'static, sender: SyncSender<PipeChunk>, chunk: fn(Vec<u8>) -> PipeChunk) {
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    if sender.send(chunk(buffer[..count].to_vec())).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        // Nobody may be listening any more.
        let _ = sender.send(PipeChunk::Eof);
    });
}

struct RunningProcess {
    child: Child,
    guard: ProcessGroupGuard,
    pipes: Receiver<PipeChunk>,
    open_pipes: u8,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl RunningProcess {
    fn wait_for_exit(mut self, command: &ReviewCommand) -> io::Result<ProcessExit> {
        let mut deadline = Instant::now().checked_add(command.timeout);
        let mut status: Option<ExitStatus> = None;
        while status.is_none() || self.open_pipes > 0 {
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                break;
            }
            self.receive_chunk();
            if self.stdout.len() > command.max_output_bytes {
                return self.kill_and_collect(ExitCause::OutputLimit);
            }
            if status.is_none() {
                status = self.child.try_wait()?;
                let grace = status.and_then(|_| Instant::now().checked_add(PIPE_CLOSE_GRACE));
                deadline = match (deadline, grace) {
                    (Some(deadline), Some(grace)) => Some(deadline.min(grace)),
                    (deadline, grace) => deadline.or(grace),
                };
            }
        }
        match status.map(classify_exit) {
            None => self.kill_and_collect(ExitCause::Timeout),
            Some(stop) if self.open_pipes > 0 => {
                self.guard.kill_group();
                Ok(self.into_exit(stop, ToolExit::Unknown))
            }
            Some(stop) => {
                self.guard.release();
                Ok(self.into_exit(stop, ToolExit::Completed))
            }
        }
    }

    fn receive_chunk(&mut self) {
        match self.pipes.recv_timeout(POLL_INTERVAL) {
            Ok(PipeChunk::Stdout(bytes)) => self.stdout.extend(bytes),
            Ok(PipeChunk::Stderr(bytes)) => {
                self.stderr.extend(bytes);
                let spare = self.stderr.len().saturating_sub(STDERR_TAIL_BYTES);
                self.stderr.drain(..spare);
            }
            Ok(PipeChunk::Eof) => self.open_pipes = self.open_pipes.saturating_sub(1),
            Err(_) => {}
        }
    }

    fn kill_and_collect(mut self, stop: ExitCause) -> io::Result<ProcessExit> {
        self.guard.kill_group();
        // Where nobody watches its group, at least itself; else it is gone already.
        let _ = self.child.kill();
        self.child.wait()?;
        // Its last words may still be on their way; of the rest nothing is kept.
        let since = Instant::now();
        while self.open_pipes > 0 && since.elapsed() < PIPE_CLOSE_GRACE {
            self.receive_chunk();
            self.stdout.clear();
        }
        Ok(self.into_exit(stop, ToolExit::Unknown))
    }

    fn into_exit(self, stop: ExitCause, ended: ToolExit) -> ProcessExit {
        ProcessExit { cause: stop, stdout: self.stdout, tool_exit: ended, stderr: self.stderr }
    }
}

fn classify_exit(status: ExitStatus) -> ExitCause {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return ExitCause::Signal(signal);
    }
    ExitCause::Code(status.code().unwrap_or(-1))
}

impl ProcessExit {
    /// The last line of its errors, as the end of a sentence. What is secret goes before anything is cut: half of a
    /// secret is not recognised.
    pub(super) fn last_stderr_line(&self, environment: &CommandEnvironment) -> String {
        let text = environment.redact_text(&String::from_utf8_lossy(&self.stderr));
        let text = match self.stderr.len() < STDERR_TAIL_BYTES {
            true => text.as_str(),
            // Its first line was cut, perhaps within a secret.
            false => text.split_once('\n').map_or("", |(_, rest)| rest),
        };
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        last.map(|line| format!(": {}", line.chars().take(300).collect::<String>())).unwrap_or_default()
    }
}
