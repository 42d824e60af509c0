//! A process that cannot outstay its time, flood its reader or leave children that hold the line.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{self, Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::Command;
use super::environment::Environment;
use super::guard::Guard;
use crate::formats::Ending;

/// How a process ended, and what it left.
pub(super) struct Exit {
    pub(super) stop: Stop,
    pub(super) stdout: Vec<u8>,
    pub(super) ended: Ending,
    stderr: Vec<u8>,
}

/// What ended it.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    Code(i32),
    Signal(i32),
    Timeout,
    Flood,
}

/// How often somebody looks whether the process is still there: its pipes may outlive it, and it may outlive them.
const LOOK: Duration = Duration::from_millis(20);
/// How long what it left behind may keep its output open.
const GRACE: Duration = Duration::from_secs(1);
/// How much of its errors is kept.
const TAIL: usize = 4096;
const CHUNK: usize = 64 * 1024;
/// How many chunks may wait: a flood is stopped, not stored.
const WAITING: usize = 16;

pub(super) fn run(
    command: &Command,
    dir: &Path,
    environment: &Environment,
    input: Option<Vec<u8>>,
) -> io::Result<Exit> {
    let guard = Guard::start();
    let mut child = spawn(command, dir, environment, input, &guard)?;
    let (sender, pipes) = sync_channel(WAITING);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    stdout.into_iter().for_each(|pipe| follow(pipe, sender.clone(), Chunk::Out));
    stderr.into_iter().for_each(|pipe| follow(pipe, sender.clone(), Chunk::Err));
    // The last sender stays here: a channel that hangs up would answer at once instead of waiting.
    let exit = Watch { child, guard, pipes, open: 2, stdout: Vec::new(), stderr: Vec::new() }.wait(command);
    drop(sender);
    exit
}

fn spawn(
    command: &Command,
    dir: &Path,
    environment: &Environment,
    input: Option<Vec<u8>>,
    guard: &Guard,
) -> io::Result<Child> {
    let (program, arguments) = command.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut ready = process::Command::new(program);
    ready.args(arguments).current_dir(dir).env_clear().stdout(Stdio::piped()).stderr(Stdio::piped());
    ready.envs(environment.variables.iter().map(|(name, value)| (name, value)));
    ready.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    guard.watch_over(&mut ready);
    let mut child = ready.spawn()?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // Whoever does not read its brief is free to: a broken pipe is no failure.
        thread::spawn(move || drop(pipe.write_all(&input)));
    }
    Ok(child)
}

enum Chunk {
    Out(Vec<u8>),
    Err(Vec<u8>),
    End,
}

/// Reads a pipe to its end on a thread of its own. Should somebody hold it open for ever, only that thread waits.
fn follow(mut pipe: impl Read + Send + 'static, sender: SyncSender<Chunk>, chunk: fn(Vec<u8>) -> Chunk) {
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
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
        let _ = sender.send(Chunk::End);
    });
}

struct Watch {
    child: Child,
    guard: Guard,
    pipes: Receiver<Chunk>,
    open: u8,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Watch {
    fn wait(mut self, command: &Command) -> io::Result<Exit> {
        let mut deadline = Instant::now().checked_add(command.timeout);
        let mut status: Option<ExitStatus> = None;
        while status.is_none() || self.open > 0 {
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                break;
            }
            self.listen();
            if self.stdout.len() > command.max_output {
                return self.ended_by(Stop::Flood);
            }
            if status.is_none() {
                status = self.child.try_wait()?;
                let grace = status.and_then(|_| Instant::now().checked_add(GRACE));
                deadline = match (deadline, grace) {
                    (Some(deadline), Some(grace)) => Some(deadline.min(grace)),
                    (deadline, grace) => deadline.or(grace),
                };
            }
        }
        match status.map(stop) {
            None => self.ended_by(Stop::Timeout),
            Some(stop) if self.open > 0 => {
                self.guard.end_all();
                Ok(self.exit(stop, Ending::Unknown))
            }
            Some(stop) => {
                self.guard.dismiss();
                Ok(self.exit(stop, Ending::Well))
            }
        }
    }

    fn listen(&mut self) {
        match self.pipes.recv_timeout(LOOK) {
            Ok(Chunk::Out(bytes)) => self.stdout.extend(bytes),
            Ok(Chunk::Err(bytes)) => {
                self.stderr.extend(bytes);
                let spare = self.stderr.len().saturating_sub(TAIL);
                self.stderr.drain(..spare);
            }
            Ok(Chunk::End) => self.open = self.open.saturating_sub(1),
            Err(_) => {}
        }
    }

    fn ended_by(mut self, stop: Stop) -> io::Result<Exit> {
        self.guard.end_all();
        // Where nobody watches its group, at least itself; else it is gone already.
        let _ = self.child.kill();
        self.child.wait()?;
        // Its last words may still be on their way; of the rest nothing is kept.
        let since = Instant::now();
        while self.open > 0 && since.elapsed() < GRACE {
            self.listen();
            self.stdout.clear();
        }
        Ok(self.exit(stop, Ending::Unknown))
    }

    fn exit(self, stop: Stop, ended: Ending) -> Exit {
        Exit { stop, stdout: self.stdout, ended, stderr: self.stderr }
    }
}

fn stop(status: ExitStatus) -> Stop {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Stop::Signal(signal);
    }
    Stop::Code(status.code().unwrap_or(-1))
}

impl Exit {
    /// The last line of its errors, as the end of a sentence. What is secret goes before anything is cut: half of a
    /// secret is not recognised.
    pub(super) fn last_words(&self, environment: &Environment) -> String {
        let text = environment.redacted(&String::from_utf8_lossy(&self.stderr));
        let text = match self.stderr.len() < TAIL {
            true => text.as_str(),
            // Its first line was cut, perhaps within a secret.
            false => text.split_once('\n').map_or("", |(_, rest)| rest),
        };
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
        last.map(|line| format!(": {}", line.chars().take(300).collect::<String>())).unwrap_or_default()
    }
}
