//! `referee watch`: the forge's checks of the head, followed to their end.

use std::time::{Duration, Instant};

use clap::Args;
use referee_core::model::{CheckOutcome, CheckState, LocalCheck};
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
const PAUSE: Duration = Duration::from_secs(10);

impl Watch {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let mut case = Case::open(common, self.which.words(), Access::Write)?;
        let setup = case.setup(common, out)?;
        let table = Table::new(&case, &setup)?;
        let deadline = Instant::now() + Duration::from_secs(self.timeout);
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
            let done = state != CheckState::Pending || self.once || Instant::now() >= deadline;
            if !done {
                out.say(&format!("checks are pending: {}", snapshot.checks.named(CheckState::Pending).join(", ")));
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
}
