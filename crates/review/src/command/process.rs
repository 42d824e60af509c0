//! Runs the program of a reviewer under the supervisor.

use std::io;
use std::path::Path;
use std::process::Command;

use referee_sandbox::supervisor::{OutputTarget, ProcessExit, Supervisor};

use super::ReviewCommand;
use super::environment::CommandEnvironment;

/// How much of stderr is kept: enough for the last line, which goes into the failed report.
const STDERR_TAIL_BYTES: usize = 4096;

const MAX_ERROR_CHARS: usize = 300;

pub(super) fn run_process(
    command: &ReviewCommand,
    dir: &Path,
    environment: &CommandEnvironment,
    input: Option<Vec<u8>>,
) -> io::Result<ProcessExit> {
    let (program, arguments) = command.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut process = Command::new(program);
    process.args(arguments).current_dir(dir).env_clear();
    process.envs(environment.variables.iter().map(|(name, value)| (name, value)));
    // A linter may start a server for its next run. Here it would outlive the checkout that it reads.
    let mut supervisor = Supervisor::new(process, command.timeout)
        .end_descendants()
        .stdout(OutputTarget::Capture { max_bytes: command.max_output_bytes })
        .stderr(OutputTarget::Tail { max_bytes: STDERR_TAIL_BYTES });
    if let Some(input) = input {
        supervisor = supervisor.input(input);
    }
    supervisor.run(&mut || {})
}

/// Returns the last line of stderr as the end of a sentence, or an empty text. Secrets are redacted before the line is
/// shortened: half of a secret would not be recognised.
pub(super) fn last_stderr_line(stderr: &[u8], environment: &CommandEnvironment) -> String {
    let text = environment.redact_text(&String::from_utf8_lossy(stderr));
    let text = match stderr.len() < STDERR_TAIL_BYTES {
        true => text.as_str(),
        // The first line was cut, perhaps within a secret.
        false => text.split_once('\n').map_or("", |(_, rest)| rest),
    };
    let last_line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    last_line.map(|line| format!(": {}", line.chars().take(MAX_ERROR_CHARS).collect::<String>())).unwrap_or_default()
}
