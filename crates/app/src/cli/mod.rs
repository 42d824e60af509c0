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

use crate::failure::{Ending, Failure};
use crate::out::{Out, Words};
use crate::reach::Given;

/// Runs the whole review loop on pull requests, and ends it.
#[derive(Debug, Parser)]
#[command(name = "referee", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done or quiet · 1 failed · 2 usage or config · 3 nothing to review · 4 not authenticated · 8 waiting · \
10 steps withheld · 12 a human is needed · 14 inconclusive · 20 findings at or above --fail-on · 75 try later";

/// What every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Common {
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
enum Command {
    /// Play the whole loop to its end on a sample repository
    Demo(demo::Demo),
    /// Write `referee.toml` and CI files, and say what is missing
    Init(init::Init),
    /// Say what this machine and this repository can and cannot do
    Doctor(doctor::Doctor),
    /// Run the reviewers, and publish what they found
    Review(review::Review),
    /// List review threads, and take a triage of them
    Comments(comments::Comments),
    /// Answer and resolve threads from a payload
    FixComments(fix_comments::FixComments),
    /// Run the repository's checks, and remember how they ended at this head
    Check(check::Check),
    /// Follow the forge's checks of the head to their end
    Watch(watch::Watch),
    /// Why a pull is where it is, or what a rule means
    Explain(explain::Explain),
    /// Say which worker a project needs next, and which pulls a person may take
    Dispatch(dispatch::Dispatch),
    /// Print what a worker is told
    WorkerPrompt(worker_prompt::WorkerPrompt),
    /// Decide a stored turn again
    Replay(replay::Replay),
    /// All known pulls, and whose turn it is
    Status(status::Status),
    /// What people do on a local pull
    Local(local::Local),
    /// Print a published JSON schema
    Schema(schema::SchemaOf),
    /// Print completions for a shell, or the manual
    Completion(completion::Completion),
}

/// Which pull, for commands that look at one.
#[derive(Clone, Debug, Args)]
pub(crate) struct Which {
    /// `L7`, `7`, `owner/repo#7`, a pull's address, `A..B`, `.`, `staged`; the current branch when left out
    #[arg(value_name = "PULL", env = "REFEREE_PULL")]
    pull: Option<String>,
    /// The same
    #[arg(long = "pr", value_name = "PULL", conflicts_with = "pull")]
    pr: Option<String>,
}

impl Which {
    /// The words, if any were given.
    pub(crate) fn words(&self) -> Option<&str> {
        self.pr.as_deref().or(self.pull.as_deref())
    }
}

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Some(code) = crate::worker::cage::inside::called() {
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
    let out = common.out();
    match run(&common, &out, command) {
        Ok(ending) => ending.code(),
        Err(failure) => {
            if out.json {
                out.document(&failure.data());
            }
            out.always(&failure.words());
            failure.code()
        }
    }
}

fn run(common: &Common, out: &Out, command: Command) -> Result<Ending, Failure> {
    match command {
        Command::Demo(it) => it.run(common, out),
        Command::Init(it) => it.run(common, out),
        Command::Doctor(it) => it.run(common, out),
        Command::Review(it) => it.run(common, out),
        Command::Comments(it) => it.run(common, out),
        Command::FixComments(it) => it.run(common, out),
        Command::Check(it) => it.run(common, out),
        Command::Watch(it) => it.run(common, out),
        Command::Explain(it) => it.run(common, out),
        Command::Dispatch(it) => it.run(common, out),
        Command::WorkerPrompt(it) => it.run(common, out),
        Command::Replay(it) => it.run(common, out),
        Command::Status(it) => it.run(common, out),
        Command::Local(it) => it.run(common, out),
        Command::Schema(it) => it.run(out),
        Command::Completion(it) => it.run(out),
    }
}

impl Common {
    fn out(&self) -> Out {
        let color = match self.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        let words = match (self.quiet, self.verbose) {
            (true, _) => Words::Few,
            (false, false) => Words::Some,
            (false, true) => Words::Many,
        };
        Out { json: self.json, color, words, accessible: self.accessible }
    }
}
