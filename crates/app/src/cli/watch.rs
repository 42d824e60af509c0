//! `referee watch`: the forge's checks of the head, followed to their end.

use std::time::{Duration, Instant};

use clap::Args;
use referee_core::model::{CheckOutcome, CheckState, Checks, LocalCheck};
use referee_turn::Inbox;
use serde_json::json;

use super::PullArgs;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::session::{Options, PullSession, SessionAccess};
use crate::store::MemoryKind;

/// Follow the forge's checks of the head to their end
#[derive(Debug, Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    which: PullArgs,
    /// Look once
    #[arg(long)]
    once: bool,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
}

/// How often the forge is asked.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// How long a head may be without any check: a runner takes a while to see a push.
const FIRST_CHECK_WAIT: Duration = Duration::from_secs(60);

impl WatchArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let session = PullSession::open(options, self.which.text(), SessionAccess::Write, out).await?;
        let began = Instant::now();
        let mut said = String::new();
        loop {
            let (snapshot, _) = session.begin(&Inbox::default()).await?;
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
            if began.elapsed() < self.wait_limit(state, session.is_local()) {
                let now = describe_pending(&snapshot.checks);
                if now != said {
                    out.print_info(&now);
                    said = now;
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
                    "there are no checks: nothing reported a status for this head\nnext: `referee check` runs the repository's own"
                }
                CheckState::None => {
                    "there are no checks: a local pull has no CI\nnext: `referee check` runs the repository's own"
                }
            });
            return Ok(match state {
                CheckState::Pass | CheckState::None => CliOutcome::Done,
                CheckState::Fail => CliOutcome::Failed,
                CheckState::Pending => CliOutcome::Waiting,
            });
        }
    }

    /// How long such checks are waited for, in all.
    fn wait_limit(&self, state: CheckState, local: bool) -> Duration {
        let longest = Duration::from_secs(self.timeout);
        match state {
            CheckState::Pending if !self.once => longest,
            CheckState::None if !self.once && !local => longest.min(FIRST_CHECK_WAIT),
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
