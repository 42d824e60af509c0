//! `referee check`: the repository's checks run here, and how they ended is remembered for this head.

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
use crate::session::{Options, PullSession, SessionAccess};
use crate::store::MemoryKind;

/// Run the repository's checks, and remember how they ended at this head
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Name the checks, run none
    #[arg(long)]
    list: bool,
    /// End a check that takes longer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
    /// Run this instead of the configured checks
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
            return Err(Failure::usage("there are no checks: `[checks]` of `referee.toml` names none")
                .with_hint("give one: `referee check -- cargo test`"));
        }
        if self.list {
            checks.iter().for_each(|(name, argv)| out.print_data(&format!("{name:<12} {}\n", argv.join(" "))));
            return Ok(CliOutcome::Done);
        }
        let Some(git) = &session.checkout else {
            return Err(Failure::usage("there is nothing to check: this is no checkout").with_hint("use `-C DIR`"));
        };
        let head = git.head()?.commit().cloned().ok_or_else(|| Failure::failed("there is no commit to check"))?;
        let clean = git.is_clean()?;
        let mut outcome = CheckOutcome::Passed;
        let mut ended = Vec::new();
        for (name, argv) in &checks {
            let how = self.run_check(git, name, argv, out);
            if how != CheckOutcome::Passed && outcome == CheckOutcome::Passed {
                outcome = how;
            }
            ended.push(json!({ "check": name, "argv": argv, "outcome": how }));
        }
        // Checks of other code prove nothing of the head.
        if clean {
            session.store.save_memory(
                &session.key,
                MemoryKind::CheckResult,
                &LocalCheck { outcome, head: head.clone() },
            )?;
        }
        print_checks(&ended, outcome, &head, clean, out);
        Ok(if outcome == CheckOutcome::Passed { CliOutcome::Done } else { CliOutcome::Failed })
    }

    fn run_check(&self, git: &Git, name: &str, argv: &[String], out: &Console) -> CheckOutcome {
        let Some((program, rest)) = argv.split_first() else {
            out.print_always(&format!("{name}: there is no command"));
            return CheckOutcome::Unknown;
        };
        out.print_info(&format!("{name}: {}", argv.join(" ")));
        let mut command = Command::new(program);
        command.args(rest);
        if let Some(top) = git.work_tree_root() {
            command.current_dir(top);
        }
        // A check that did not start proves nothing, and withdraws an earlier pass.
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
                    "error: the check `{name}` could not be started: {error}\n\nhint: is `{program}` installed?"
                ));
                CheckOutcome::Unknown
            }
        }
    }
}

fn print_checks(ended: &[serde_json::Value], outcome: CheckOutcome, head: &Sha, clean: bool, out: &Console) {
    if out.json {
        let stored = clean.then_some(head);
        out.print_json(&json!({ "schema": "referee/check-1", "checks": ended, "outcome": outcome, "stored": stored }));
    }
    let word = if outcome == CheckOutcome::Passed { "passed" } else { "did not pass" };
    if clean {
        out.print_info(&format!(
            "{word} at {}, remembered\nnext: `referee comments` says where the pull is",
            head.short()
        ));
    } else {
        out.print_info(&format!(
            "{word}, but the work tree differs from {}: nothing was remembered\nnext: commit, then `referee check`",
            head.short()
        ));
    }
}
