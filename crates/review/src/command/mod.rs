//! Runs any program as a reviewer and parses its output. Every failure becomes a failed report with its reason (INC-15).

mod environment;
mod process;
mod stdin;

use std::path::Path;
use std::time::{Duration, Instant};

use referee_core::model::{RunCost, Submission};
use referee_core::plan::Brief;
use referee_sandbox::supervisor::ExitCause;

use crate::formats::{Format, ReportContext, ToolExit, parse_report};
use crate::levels::RuleLevels;
use environment::CommandEnvironment;

/// A program that reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewCommand {
    /// The program and its arguments. No shell interprets them.
    pub argv: Vec<String>,
    /// The format of its output.
    pub format: Format,
    /// Exit codes with which the output is used.
    pub ok_codes: Vec<i32>,
    pub timeout: Duration,
    /// The program is killed if it prints more.
    pub max_output_bytes: usize,
    /// Names of environment variables to pass on besides the usual ones.
    pub env_names: Vec<String>,
    /// The severities that the config sets for its results.
    pub levels: RuleLevels,
}

/// Runs a command in a checkout of the brief's head and parses its report. `files` are the changed files.
///
/// A command that writes the format `referee` receives the brief as JSON on stdin.
pub fn run_command(command: &ReviewCommand, dir: &Path, brief: &Brief, files: &[String]) -> Submission {
    let start = Instant::now();
    let context = ReportContext {
        role: &brief.role,
        head: &brief.head,
        checkout_root: Some(dir),
        changed_files: files,
        tool_exit: ToolExit::Unknown,
        levels: &command.levels,
    };
    let environment = CommandEnvironment::from_allowed(&command.env_names);
    let report =
        try_review(command, dir, brief, &context, &environment).unwrap_or_else(|reason| context.failed_report(reason));
    let mut report = environment.redact_report(report);
    report.figures = RunCost { seconds: start.elapsed().as_secs(), runs: 1, ..RunCost::default() };
    report
}

fn try_review(
    command: &ReviewCommand,
    dir: &Path,
    brief: &Brief,
    context: &ReportContext<'_>,
    environment: &CommandEnvironment,
) -> Result<Submission, String> {
    let program = command.argv.first().ok_or("no program was run: `argv` is empty")?;
    let input =
        (command.format == Format::Referee).then(|| stdin::encode_brief(brief, context.changed_files)).transpose()?;
    let exit = process::run_process(command, dir, environment, input).map_err(|error| {
        let reason = if dir.is_dir() { error.to_string() } else { "the checkout no longer exists".to_owned() };
        format!("`{program}` could not be started: {reason}")
    })?;
    let failed =
        |what: String| Err(format!("`{program}` {what}{}", process::last_stderr_line(&exit.stderr, environment)));
    let code = match exit.cause {
        ExitCause::Timeout => return failed(format!("did not finish within {:?}", command.timeout)),
        ExitCause::OutputLimit => return failed(format!("printed more than {} bytes", command.max_output_bytes)),
        ExitCause::Signal(number) => return failed(format!("was killed by signal {number}")),
        ExitCause::Code(code) => code,
    };
    if !command.ok_codes.contains(&code) {
        return failed(format!("exited with code {code}"));
    }
    if exit.stdout.trim_ascii().is_empty() {
        return failed("printed nothing".to_owned());
    }
    let tool_exit = if exit.output_complete { ToolExit::Completed } else { ToolExit::Unknown };
    let report = parse_report(command.format, &exit.stdout, &ReportContext { tool_exit, ..*context });
    report.or_else(|error| failed(format!("exited with code {code}, but {error}")))
}
