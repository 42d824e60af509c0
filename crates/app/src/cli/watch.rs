//! `referee watch`: waits until the CI checks of the head have finished.

use std::time::{Duration, Instant};

use clap::Args;
use referee_core::model::{CheckOutcome, CheckState, Checks, LocalCheck};
use referee_turn::{BegunTurn, Inbox};
use serde_json::json;

use super::PullArgs;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::session::{Options, PullSession, SessionAccess};
use crate::store::MemoryKind;

/// Wait until the CI checks of a pull request have finished
#[derive(Debug, Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    which: PullArgs,
    /// Ask once instead of waiting
    #[arg(long)]
    once: bool,
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
}

/// Interval between two requests to the forge.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Time for the first check to appear: a CI runner takes a while to see a push.
const FIRST_CHECK_WAIT: Duration = Duration::from_secs(60);

impl WatchArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let session = PullSession::open(options, self.which.text(), SessionAccess::Write, out).await?;
        let started_at = Instant::now();
        let mut last_line = String::new();
        loop {
            let BegunTurn { snapshot, .. } = session.begin(&Inbox::default()).await?;
            let state = snapshot.checks.combined_state();
            let head = snapshot.pull.head.clone();
            let outcome = match state {
                CheckState::Pass => Some(CheckOutcome::Passed),
                CheckState::Fail => Some(CheckOutcome::Failed),
                CheckState::Pending | CheckState::None => None,
            };
            if let Some(outcome) = outcome {
                session.store.save_memory(
                    &session.key,
                    MemoryKind::WatchResult,
                    &LocalCheck { outcome, head: head.clone() },
                )?;
            }
            if started_at.elapsed() < self.wait_limit(state, session.is_local()) {
                let line = describe_pending(&snapshot.checks);
                if line != last_line {
                    out.print_line(&line);
                    last_line = line;
                }
                tokio::time::sleep(POLL_INTERVAL).await;
                continue;
            }
            if out.json {
                out.print_json(&json!({ "schema": "referee/watch-1", "state": state, "head": head }));
            }
            out.print_info(match state {
                CheckState::Pass => "checks passed",
                CheckState::Fail => "checks failed",
                CheckState::Pending => "checks are still pending",
                CheckState::None if !session.is_local() => {
                    "there are no checks: no CI reported a status for this head\nnext: `referee check` runs the checks of `referee.toml`"
                }
                CheckState::None => {
                    "there are no checks: a local pull request has no CI\nnext: `referee check` runs the checks of `referee.toml`"
                }
            });
            return Ok(match state {
                CheckState::Pass | CheckState::None => CliOutcome::Done,
                CheckState::Fail => CliOutcome::Failed,
                CheckState::Pending => CliOutcome::Waiting,
            });
        }
    }

    /// Returns how long to wait in total while the checks are in this state.
    fn wait_limit(&self, state: CheckState, is_local: bool) -> Duration {
        let timeout = Duration::from_secs(self.timeout);
        match state {
            CheckState::Pending if !self.once => timeout,
            CheckState::None if !self.once && !is_local => timeout.min(FIRST_CHECK_WAIT),
            CheckState::Pass | CheckState::Fail | CheckState::Pending | CheckState::None => Duration::ZERO,
        }
    }
}

fn describe_pending(checks: &Checks) -> String {
    match checks.names_in_state(CheckState::Pending).as_slice() {
        [] => "no check has reported yet".to_owned(),
        names => format!("checks are pending: {}", names.join(", ")),
    }
}
