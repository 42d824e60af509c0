//! Any program as a reviewer: argv in, a report out. Whatever goes wrong is a failed report that says why (INC-15).

mod environment;
mod process;
mod stdin;

use std::path::Path;
use std::time::{Duration, Instant};

use referee_core::model::{RunCost, Submission};
use referee_core::plan::Brief;
use referee_sandbox::supervisor::ExitCause;

use crate::formats::{Format, ReportContext, ToolExit, parse_report};
use environment::CommandEnvironment;

/// A program that reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewCommand {
    /// The program and its arguments; no shell reads them.
    pub argv: Vec<String>,
    /// What it prints.
    pub format: Format,
    /// Exit codes with which its output counts.
    pub ok_codes: Vec<i32>,
    /// How long it may take.
    pub timeout: Duration,
    /// How much it may print, in bytes.
    pub max_output_bytes: usize,
    /// Names of variables that it gets beside the usual ones.
    pub env_names: Vec<String>,
}

/// Runs a command in a checkout of the brief's head and reads its report; `files` are the change's files.
///
/// A command that writes referee's own format is given the brief as JSON on its standard input.
pub fn run_command(command: &ReviewCommand, dir: &Path, brief: &Brief, files: &[String]) -> Submission {
    let start = Instant::now();
    let origin = ReportContext {
        role: &brief.role,
        head: &brief.head,
        checkout_root: Some(dir),
        changed_files: files,
        tool_exit: ToolExit::Unknown,
    };
    let environment = CommandEnvironment::from_allowed(&command.env_names);
    let report =
        try_review(command, dir, brief, &origin, &environment).unwrap_or_else(|reason| origin.failed_report(reason));
    let mut report = environment.redact_report(report);
    report.figures = RunCost { seconds: start.elapsed().as_secs(), runs: 1, ..RunCost::default() };
    report
}

fn try_review(
    command: &ReviewCommand,
    dir: &Path,
    brief: &Brief,
    origin: &ReportContext<'_>,
    environment: &CommandEnvironment,
) -> Result<Submission, String> {
    let program = command.argv.first().ok_or("no program was run: `argv` is empty")?;
    let input =
        (command.format == Format::Referee).then(|| stdin::encode_brief(brief, origin.changed_files)).transpose()?;
    let exit = process::run_process(command, dir, environment, input).map_err(|error| {
        let what = if dir.is_dir() { error.to_string() } else { "the checkout is gone".to_owned() };
        format!("`{program}` could not be started: {what}")
    })?;
    let failed =
        |what: String| Err(format!("`{program}` {what}{}", process::last_stderr_line(&exit.stderr, environment)));
    let code = match exit.cause {
        ExitCause::Timeout => return failed(format!("did not end within {:?}", command.timeout)),
        ExitCause::OutputLimit => return failed(format!("printed more than {} bytes", command.max_output_bytes)),
        ExitCause::Signal(number) => return failed(format!("was ended by signal {number}")),
        ExitCause::Code(code) => code,
    };
    if !command.ok_codes.contains(&code) {
        return failed(format!("ended with exit code {code}"));
    }
    if exit.stdout.trim_ascii().is_empty() {
        return failed("printed nothing".to_owned());
    }
    let tool_exit = if exit.output_complete { ToolExit::Completed } else { ToolExit::Unknown };
    let report = parse_report(command.format, &exit.stdout, &ReportContext { tool_exit, ..*origin });
    report.or_else(|error| failed(format!("ended with exit code {code}, but {error}")))
}
