//! The command line: one file a command.

mod check;
mod comments;
mod completion;
mod demo;
mod dispatch;
mod doctor;
mod explain;
mod fix_comments;
mod init;
mod local;
mod replay;
mod review;
mod schema;
mod status;
mod watch;
mod worker_prompt;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::console::{Console, Verbosity};
use crate::failure::{CliOutcome, Failure};
use crate::reach::Given;

/// Runs the whole review loop on pull requests, and ends it.
#[derive(Debug, Parser)]
#[command(name = "referee", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: CommonArgs,
    #[command(subcommand)]
    command: CliCommand,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done or quiet · 1 failed · 2 usage or config · 3 nothing to review · 4 not authenticated · 8 waiting · \
10 steps withheld · 12 a human is needed · 14 inconclusive · 20 findings at or above --fail-on · 75 try later";

/// What every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct CommonArgs {
    /// One JSON document on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Errors only
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Say more
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// No redrawing: one line at a time, for screen readers and logs
    #[arg(long, global = true, env = "REFEREE_ACCESSIBLE", value_parser = clap::builder::FalseyValueParser::new())]
    accessible: bool,
    /// Use this config in place of `referee.toml` at the base
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The operator file
    #[arg(long, global = true, value_name = "FILE", env = "REFEREE_OPERATOR")]
    pub(crate) operator: Option<PathBuf>,
    /// Run as if started in this folder
    #[arg(short = 'C', global = true, value_name = "DIR", default_value = ".", hide_default_value = true)]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) forge: Given,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Play the whole loop to its end on a sample repository
    Demo(demo::DemoArgs),
    /// Write `referee.toml` and CI files, and say what is missing
    Init(init::InitArgs),
    /// Say what this machine and this repository can and cannot do
    Doctor(doctor::DoctorArgs),
    /// Run the reviewers, and publish what they found
    Review(review::ReviewArgs),
    /// List review threads, and take a triage of them
    Comments(comments::CommentsArgs),
    /// Answer and resolve threads from a payload
    FixComments(fix_comments::FixCommentsArgs),
    /// Run the repository's checks, and remember how they ended at this head
    Check(check::CheckArgs),
    /// Follow the forge's checks of the head to their end
    Watch(watch::WatchArgs),
    /// Why a pull is where it is, or what a rule means
    Explain(explain::ExplainArgs),
    /// Say which worker a project needs next, and which pulls a person may take
    Dispatch(dispatch::DispatchArgs),
    /// Print what a worker is told
    WorkerPrompt(worker_prompt::WorkerPromptArgs),
    /// Decide a stored turn again
    Replay(replay::ReplayArgs),
    /// All known pulls, and whose turn it is
    Status(status::StatusArgs),
    /// What people do on a local pull
    Local(local::LocalArgs),
    /// Print a published JSON schema
    Schema(schema::SchemaArgs),
    /// Print completions for a shell, or the manual
    Completion(completion::CompletionArgs),
}

/// Which pull, for commands that look at one.
#[derive(Clone, Debug, Args)]
pub(crate) struct PullArgs {
    /// `L7`, `7`, `owner/repo#7`, a pull's address, `A..B`, `.`, `staged`; the current branch when left out
    #[arg(value_name = "PULL", env = "REFEREE_PULL")]
    pull: Option<String>,
    /// The same
    #[arg(long = "pr", value_name = "PULL", conflicts_with = "pull")]
    pr: Option<String>,
}

impl PullArgs {
    /// The words, if any were given.
    pub(crate) fn text(&self) -> Option<&str> {
        self.pr.as_deref().or(self.pull.as_deref())
    }
}

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    if let Some(code) = referee_sandbox::run_if_invoked() {
        return code;
    }
    let Cli { common, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are data, errors are words: clap knows which.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let out = common.build_output();
    match run_command(&common, &out, command) {
        Ok(ending) => ending.exit_code(),
        Err(failure) => {
            if out.json {
                out.print_json(&failure.to_json());
            }
            out.print_always(&failure.render());
            failure.exit_code()
        }
    }
}

fn run_command(common: &CommonArgs, out: &Console, command: CliCommand) -> Result<CliOutcome, Failure> {
    match command {
        CliCommand::Demo(it) => it.run(common, out),
        CliCommand::Init(it) => it.run(common, out),
        CliCommand::Doctor(it) => it.run(common, out),
        CliCommand::Review(it) => it.run(common, out),
        CliCommand::Comments(it) => it.run(common, out),
        CliCommand::FixComments(it) => it.run(common, out),
        CliCommand::Check(it) => it.run(common, out),
        CliCommand::Watch(it) => it.run(common, out),
        CliCommand::Explain(it) => it.run(common, out),
        CliCommand::Dispatch(it) => it.run(common, out),
        CliCommand::WorkerPrompt(it) => it.run(common, out),
        CliCommand::Replay(it) => it.run(common, out),
        CliCommand::Status(it) => it.run(common, out),
        CliCommand::Local(it) => it.run(common, out),
        CliCommand::Schema(it) => it.run(out),
        CliCommand::Completion(it) => it.run(out),
    }
}

impl CommonArgs {
    fn build_output(&self) -> Console {
        let color = match self.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        let words = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, false) => Verbosity::Normal,
            (false, true) => Verbosity::Verbose,
        };
        Console { json: self.json, color, verbosity: words, accessible: self.accessible }
    }
}
