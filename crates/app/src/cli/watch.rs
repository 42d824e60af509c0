//! `referee watch`: the forge's checks of the head, followed to their end.

use std::time::{Duration, Instant};

use clap::Args;
use referee_core::model::{CheckOutcome, CheckState, Checks, LocalCheck};
use referee_turn::Inbox;
use serde_json::json;

use super::{Common, Which};
use crate::case::Case;
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::store::{Access, Memory};
use crate::table::Table;

/// Follow the forge's checks of the head to their end
#[derive(Debug, Args)]
pub(super) struct Watch {
    #[command(flatten)]
    which: Which,
    /// Look once
    #[arg(long)]
    once: bool,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
}

/// How often the forge is asked.
const PAUSE: Duration = Duration::from_secs(5);

/// How long a head may be without any check: a runner takes a while to see a push.
const FIRST: Duration = Duration::from_secs(60);

impl Watch {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let mut case = Case::open(common, self.which.words(), Access::Write)?;
        let setup = case.setup(common, out)?;
        let table = Table::new(&case, &setup)?;
        let began = Instant::now();
        let mut said = String::new();
        loop {
            let (snapshot, _) = table.look(&Inbox::default())?;
            let state = snapshot.checks.state();
            let head = snapshot.pull.head.clone();
            let outcome = match state {
                CheckState::Pass => Some(CheckOutcome::Passed),
                CheckState::Fail => Some(CheckOutcome::Failed),
                CheckState::Pending | CheckState::None => None,
            };
            if let Some(outcome) = outcome {
                case.store.remember(&case.key, Memory::Watched, &LocalCheck { outcome, head: head.clone() })?;
            }
            if began.elapsed() < self.patience(state, case.is_local()) {
                let now = pending(&snapshot.checks);
                if now != said {
                    out.say(&now);
                    said = now;
                }
                std::thread::park_timeout(PAUSE);
                continue;
            }
            if out.json {
                out.document(&json!({ "schema": "referee/watch-1", "state": state, "head": head }));
            }
            out.say(match state {
                CheckState::Pass => "checks passed",
                CheckState::Fail => "checks failed",
                CheckState::Pending => "checks are still pending",
                CheckState::None if !case.is_local() => {
                    "there are no checks: nothing reported a status for this head\nnext: `referee check` runs the repository's own"
                }
                CheckState::None => {
                    "there are no checks: a local pull has no CI\nnext: `referee check` runs the repository's own"
                }
            });
            return Ok(match state {
                CheckState::Pass | CheckState::None => Ending::Done,
                CheckState::Fail => Ending::Failed,
                CheckState::Pending => Ending::Waiting,
            });
        }
    }

    /// How long such checks are waited for, in all.
    fn patience(&self, state: CheckState, local: bool) -> Duration {
        let longest = Duration::from_secs(self.timeout);
        match state {
            CheckState::Pending if !self.once => longest,
            CheckState::None if !self.once && !local => longest.min(FIRST),
            CheckState::Pass | CheckState::Fail | CheckState::Pending | CheckState::None => Duration::ZERO,
        }
    }
}

fn pending(checks: &Checks) -> String {
    match checks.named(CheckState::Pending).as_slice() {
        [] => "no check has reported yet".to_owned(),
        names => format!("checks are pending: {}", names.join(", ")),
    }
}
