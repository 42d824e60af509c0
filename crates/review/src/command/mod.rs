//! Any program as a reviewer: argv in, a report out. Whatever goes wrong is a failed report that says why (INC-15).

mod environment;
mod guard;
mod process;
mod stdin;

use std::path::Path;
use std::time::{Duration, Instant};

use referee_core::model::{Figures, Submission};
use referee_core::plan::Brief;

use crate::formats::{Ending, Format, Origin, parse};
use environment::Environment;
use process::{Exit, Stop};

/// A program that reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments; no shell reads them.
    pub argv: Vec<String>,
    /// What it prints.
    pub format: Format,
    /// Exit codes with which its output counts.
    pub ok_codes: Vec<i32>,
    /// How long it may take.
    pub timeout: Duration,
    /// How much it may print, in bytes.
    pub max_output: usize,
    /// Names of variables that it gets beside the usual ones.
    pub env: Vec<String>,
}

/// Runs a command in a checkout of the brief's head and reads its report; `files` are the change's files.
///
/// A command that writes referee's own format is given the brief as JSON on its standard input.
pub fn run(command: &Command, dir: &Path, brief: &Brief, files: &[String]) -> Submission {
    let start = Instant::now();
    let origin = Origin { role: &brief.role, head: &brief.head, root: Some(dir), files, ended: Ending::Unknown };
    let environment = Environment::of(&command.env);
    let report = review(command, dir, brief, &origin, &environment).unwrap_or_else(|reason| origin.failed(reason));
    let mut report = environment.redact(report);
    report.figures = Figures { seconds: start.elapsed().as_secs(), runs: 1, ..Figures::default() };
    report
}

fn review(
    command: &Command,
    dir: &Path,
    brief: &Brief,
    origin: &Origin<'_>,
    environment: &Environment,
) -> Result<Submission, String> {
    let program = command.argv.first().ok_or("no program was run: `argv` is empty")?;
    let input = (command.format == Format::Referee).then(|| stdin::written(brief, origin.files)).transpose()?;
    let exit = process::run(command, dir, environment, input).map_err(|error| {
        let what = if dir.is_dir() { error.to_string() } else { "the checkout is gone".to_owned() };
        format!("`{program}` could not be started: {what}")
    })?;
    let failed = |what: String| Err(format!("`{program}` {what}{}", exit.last_words(environment)));
    let code = match exit.stop {
        Stop::Timeout => return failed(format!("did not end within {:?}", command.timeout)),
        Stop::Flood => return failed(format!("printed more than {} bytes", command.max_output)),
        Stop::Signal(number) => return failed(format!("was ended by signal {number}")),
        Stop::Code(code) => code,
    };
    if !command.ok_codes.contains(&code) {
        return failed(format!("ended with exit code {code}"));
    }
    let Exit { stdout, ended, .. } = &exit;
    if stdout.trim_ascii().is_empty() {
        return failed("printed nothing".to_owned());
    }
    let read = parse(command.format, stdout, &Origin { ended: *ended, ..*origin });
    read.or_else(|error| failed(format!("ended with exit code {code}, but {error}")))
}
