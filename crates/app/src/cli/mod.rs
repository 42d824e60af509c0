//! The command line: one file per command.

mod check;
mod comments;
mod completion;
mod demo;
mod dispatch;
mod doctor;
mod explain;
mod fix_comments;
mod global_args;
mod hook;
mod init;
mod local;
mod replay;
mod review;
mod schema;
mod status;
mod value_enums;
mod watch;
mod worker_prompt;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::console::{self, Console};
use crate::failure::{CliOutcome, Failure};
use crate::logging;
use crate::session::Options;
use global_args::GlobalArgs;

/// Reviews pull requests in a loop that ends.
#[derive(Debug, Parser)]
#[command(name = "referee", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: CliCommand,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done or quiet · 1 failed · 2 usage or config · 3 nothing to review · 4 not authenticated · 8 waiting · \
10 steps withheld · 12 a human is needed · 14 not reviewed · 20 --fail-on is met · 75 try later";

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Run the whole review loop on a sample repository
    Demo(demo::DemoArgs),
    /// Write `referee.toml` and CI files, and list what is still missing
    Init(init::InitArgs),
    /// Check this machine, this repository, its config and the token
    Doctor(doctor::DoctorArgs),
    /// Run the reviewers and publish their findings
    Review(review::ReviewArgs),
    /// List review threads, and store a triage of them
    Comments(comments::CommentsArgs),
    /// Answer and resolve threads from a payload
    FixComments(fix_comments::FixCommentsArgs),
    /// Run the repository's checks and store the result for this head
    Check(check::CheckArgs),
    /// Wait until the CI checks of a pull request have finished
    Watch(watch::WatchArgs),
    /// Explain the state of a pull request, or a rule
    Explain(explain::ExplainArgs),
    /// Print which worker a project needs next and which pull requests are ready for a person
    Dispatch(dispatch::DispatchArgs),
    /// Print the prompt for a worker
    WorkerPrompt(worker_prompt::WorkerPromptArgs),
    /// Decide a stored turn again and show the difference
    Replay(replay::ReplayArgs),
    /// List all known pull requests and what each one waits for
    Status(status::StatusArgs),
    /// Comment on, approve or close a local pull request
    Local(local::LocalArgs),
    /// Print a published JSON schema
    Schema(schema::SchemaArgs),
    /// Run as a git hook
    Hook(hook::HookArgs),
    /// Print shell completions or the manual page
    Completion(completion::CompletionArgs),
}

/// The pull request of a command.
#[derive(Clone, Debug, Args)]
pub(crate) struct PullArgs {
    /// The pull request: `L7`, `7`, `owner/repo#7`, a URL, `A..B`, `.` or `staged` [default: the current branch]
    #[arg(value_name = "PULL", env = "REFEREE_PULL", hide_env_values = true)]
    pull: Option<String>,
    /// The same as PULL
    #[arg(long = "pr", value_name = "PULL", conflicts_with = "pull")]
    pr: Option<String>,
}

impl PullArgs {
    fn from_text(text: String) -> Self {
        Self { pull: Some(text), pr: None }
    }

    /// Returns the reference as typed; `None` means the current branch.
    pub(crate) fn text(&self) -> Option<&str> {
        self.pr.as_deref().or(self.pull.as_deref())
    }
}

/// Parses the command line and runs the command.
pub(crate) async fn run_from_args() -> ExitCode {
    let Cli { global, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            console::print_usage_message(&error);
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let console = global.console();
    logging::init(global.log_level(), global.log_format, &console);
    let result = match global.options() {
        Ok(options) => run_command(&options, &console, command).await,
        Err(failure) => Err(failure),
    };
    match result {
        Ok(outcome) => outcome.exit_code(),
        Err(failure) => {
            if console.json {
                console.print_json(&failure.to_json());
            }
            console.print_always(&failure.render());
            failure.exit_code()
        }
    }
}

async fn run_command(options: &Options, out: &Console, command: CliCommand) -> Result<CliOutcome, Failure> {
    match command {
        CliCommand::Demo(it) => it.run(options, out),
        CliCommand::Init(it) => it.run(options, out).await,
        CliCommand::Doctor(it) => it.run(options, out).await,
        CliCommand::Review(it) => it.run(options, out).await,
        CliCommand::Comments(it) => it.run(options, out).await,
        CliCommand::FixComments(it) => it.run(options, out).await,
        CliCommand::Check(it) => it.run(options, out).await,
        CliCommand::Watch(it) => it.run(options, out).await,
        CliCommand::Explain(it) => it.run(options, out).await,
        CliCommand::Dispatch(it) => it.run(options, out).await,
        CliCommand::WorkerPrompt(it) => it.run(options, out).await,
        CliCommand::Replay(it) => it.run(options, out),
        CliCommand::Status(it) => it.run(options, out).await,
        CliCommand::Local(it) => it.run(options, out).await,
        CliCommand::Schema(it) => it.run(out),
        CliCommand::Hook(it) => it.run(options, out).await,
        CliCommand::Completion(it) => it.run(out),
    }
}
