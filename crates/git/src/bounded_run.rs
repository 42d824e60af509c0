//! Runs git on untrusted commits within bounds: a few kilobytes of objects can describe terabytes of output (D43).

use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::{Git, GitError};

/// Maximum size of git's output.
const MAX_OUTPUT_BYTES: u64 = 256 << 20;
/// Maximum size of git's messages; the rest is dropped.
const MAX_MESSAGE_BYTES: u64 = 64 << 10;
/// Maximum time of a command. The largest real changes take seconds, but git may fetch blobs meanwhile.
const MAX_TIME: Duration = Duration::from_mins(10);

impl Git {
    /// Runs a command with `input` on its standard input and returns its output, whatever its exit code. Ends it with an
    /// error when it writes too much or takes too long.
    pub(crate) fn run_bounded(
        &self,
        name: &'static str,
        mut command: Command,
        input: String,
    ) -> Result<Output, GitError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| self.spawn_error(error))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // Git writes output while it still reads input: writing everything before reading would deadlock on full pipes.
        std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            scope.spawn(move || {
                let Some(mut stdin) = stdin else { return };
                // The caller notices a broken pipe: the output is too short.
                let _ = stdin.write_all(input.as_bytes());
            });
            let messages = scope.spawn(move || read_messages(stderr));
            scope.spawn(move || {
                let mut output = Vec::new();
                let read = stdout.map_or(Ok(0), |stdout| stdout.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut output));
                // The receiver is gone if the time is over.
                let _ = sender.send(read.map(|_| output));
            });
            let stdout = match receiver.recv_timeout(MAX_TIME) {
                Ok(Ok(output)) if output.len() as u64 <= MAX_OUTPUT_BYTES => output,
                Ok(Ok(_)) => {
                    end_child(&mut child);
                    return Err(GitError::TooLarge(format!("the output of `git {name}`, more than 256 MiB,")));
                }
                Ok(Err(source)) => {
                    end_child(&mut child);
                    return Err(GitError::BrokenPipe { command: name, source });
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    end_child(&mut child);
                    return Err(GitError::TooLarge(format!("what `git {name}` takes more than ten minutes for,")));
                }
            };
            let status = child.wait().map_err(|source| GitError::BrokenPipe { command: name, source })?;
            Ok(self.mask_stderr(Output { status, stdout, stderr: messages.join().unwrap_or_default() }))
        })
    }
}

fn read_messages(stderr: Option<impl Read>) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(stderr) = stderr else { return kept };
    let mut limited = stderr.take(MAX_MESSAGE_BYTES);
    let _ = limited.read_to_end(&mut kept);
    // Git must not block on a full pipe.
    let _ = std::io::copy(&mut limited.into_inner(), &mut std::io::sink());
    kept
}

/// Ends the child, which closes its pipes and with that the threads that read them.
fn end_child(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
