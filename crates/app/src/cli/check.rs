//! `referee check`: runs the repository's checks in this work tree and stores the result for this head.

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use referee_core::model::{CheckOutcome, LocalCheck, Sha};
use referee_git::Git;
use referee_sandbox::supervisor::{ExitCause, OutputTarget, Supervisor};
use serde_json::json;

use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::printable::to_one_line;
use crate::session::{Options, PullSession, SessionAccess};
use crate::store::MemoryKind;

/// Run the repository's checks and store the result for this head
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// List the checks without running them
    #[arg(long)]
    list: bool,
    /// Kill a check after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
    /// Run this command instead of the configured checks
    #[arg(last = true, value_name = "ARGV")]
    argv: Vec<String>,
}

impl CheckArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let access = if self.list { SessionAccess::Read } else { SessionAccess::Write };
        let session = PullSession::open(options, None, access, out).await?;
        let checks: Vec<(String, Vec<String>)> = if self.argv.is_empty() {
            session.config.checks.clone().into_iter().collect()
        } else {
            vec![("given".to_owned(), self.argv.clone())]
        };
        if checks.is_empty() {
            return Err(Failure::usage("no check was run: `[checks]` in `referee.toml` is empty")
                .with_hint("name a command: `referee check -- cargo test`"));
        }
        if self.list {
            for (name, argv) in &checks {
                let line = format!("{name:<12} {}", argv.join(" "));
                out.print_data(&format!("{}\n", to_one_line(&line)));
            }
            return Ok(CliOutcome::Done);
        }
        let Some(git) = &session.checkout else {
            return Err(Failure::usage("no check was run: this directory is not a git checkout")
                .with_hint("name the checkout with `-C DIR`"));
        };
        let head = git
            .head()?
            .commit()
            .cloned()
            .ok_or_else(|| Failure::failed("no check was run: the branch has no commits yet"))?;
        let clean = git.is_clean()?;
        let mut outcome = CheckOutcome::Passed;
        let mut results = Vec::new();
        for (name, argv) in &checks {
            let result = self.run_check(git, name, argv, out);
            if result != CheckOutcome::Passed && outcome == CheckOutcome::Passed {
                outcome = result;
            }
            results.push(json!({ "check": name, "argv": argv, "outcome": result }));
        }
        // With uncommitted changes the checks ran on other code than the head's.
        if clean {
            session.store.save_memory(
                &session.key,
                MemoryKind::CheckResult,
                &LocalCheck { outcome, head: head.clone() },
            )?;
        }
        print_checks(&results, outcome, &head, clean, out);
        Ok(if outcome == CheckOutcome::Passed { CliOutcome::Done } else { CliOutcome::Failed })
    }

    fn run_check(&self, git: &Git, name: &str, argv: &[String], out: &Console) -> CheckOutcome {
        let Some((program, args)) = argv.split_first() else {
            out.print_always(&format!(
                "error: the check `{name}` has no command\n\nhint: give it one in `[checks]` of `referee.toml`"
            ));
            return CheckOutcome::Unknown;
        };
        out.print_line(&format!("{name}: {}", argv.join(" ")));
        let mut command = Command::new(program);
        command.args(args);
        if let Some(root) = git.work_tree_root() {
            command.current_dir(root);
        }
        // A check that cannot start has an unknown result, which replaces an earlier pass.
        let exit = Supervisor::new(command, Duration::from_secs(self.timeout))
            // stdout of referee is for data; the output of a check goes to stderr.
            .stdout(OutputTarget::Stdio(Stdio::from(io::stderr())))
            .run(&mut || {});
        match exit.map(|exit| exit.cause) {
            Ok(ExitCause::Code(0)) => CheckOutcome::Passed,
            Ok(ExitCause::Code(_) | ExitCause::Signal(_) | ExitCause::OutputLimit) => CheckOutcome::Failed,
            Ok(ExitCause::Timeout) => CheckOutcome::TimedOut,
            Err(error) => {
                out.print_always(&format!(
                    "error: the check `{name}` could not be started: {error}\n\nhint: install `{program}`, or correct `[checks]` in `referee.toml`"
                ));
                CheckOutcome::Unknown
            }
        }
    }
}

fn print_checks(results: &[serde_json::Value], outcome: CheckOutcome, head: &Sha, clean: bool, out: &Console) {
    if out.json {
        let stored = clean.then_some(head);
        out.print_json(
            &json!({ "schema": "referee/check-1", "checks": results, "outcome": outcome, "stored": stored }),
        );
    }
    let verb = if outcome == CheckOutcome::Passed { "passed" } else { "did not pass" };
    if clean {
        out.print_info(&format!(
            "{verb} at {}; the result is stored\nnext: `referee comments` shows what is open",
            head.short()
        ));
    } else {
        out.print_info(&format!(
            "{verb}, but the work tree differs from {}: the result was not stored\nnext: commit, then run `referee check` again",
            head.short()
        ));
    }
}
