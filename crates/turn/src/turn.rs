//! One turn over one pull.

use referee_core::decide::decide;
use referee_core::mark::Keys;
use referee_core::model::{PullNumber, Snapshot, Span};
use referee_core::plan::{Action, Plan, Step};
use referee_core::policy::Policy;
use referee_forge::{Claimed, Fetched, Forge, ForgeError, Gates, Purpose};
use thiserror::Error;

use crate::apply::apply;
use crate::gather::{GatherError, Inbox, gather};
use crate::journal::{Journal, Record};
use crate::receipt::{Outcome, Receipt};
use crate::refresh::refresh;
use crate::source::Source;

/// What a turn is played with.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// The forge.
    pub forge: &'a dyn Forge,
    /// The texts of changes.
    pub source: &'a dyn Source,
    /// What is written down.
    pub journal: &'a dyn Journal,
    /// The rules.
    pub policy: &'a Policy,
    /// What may be done.
    pub gates: &'a Gates,
    /// What seals Marks.
    pub keys: &'a Keys,
    /// Who else may post meanwhile.
    pub publishing: Publishing,
}

/// Who else may post for this pull and identity at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publishing {
    /// Nobody: one writer, by whatever the shell keeps.
    Alone,
    /// Other processes, one for each role (D6): posts go one after the other, under a claim on the forge.
    Matrix,
}

/// A turn that was played.
#[derive(Clone, Debug)]
pub struct Turn {
    /// What was known when the last plan was made.
    pub snapshot: Snapshot,
    /// That plan.
    pub plan: Plan,
    /// The steps of all plans of the turn, in order.
    pub steps: Vec<Step>,
    /// What became of each.
    pub receipts: Vec<Receipt>,
    /// Something is unknown, or could not be read to its end: play again later.
    pub unsettled: bool,
    /// How many writes left.
    pub writes: usize,
}

/// Why no turn was played.
#[derive(Debug, Error)]
pub enum TurnError {
    /// The forge.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The texts of changes.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// Another process holds the claim.
    #[error("another process is posting on this pull")]
    Claimed,
}

/// How long a claim for posting lives (D6).
const CLAIM: Span = Span(120);

/// How often a turn plans anew before it leaves the rest to the next one.
const PLANS: usize = 4;

/// Plays one turn: fetch, gather, decide, apply. Planned anew where the head moved, an outcome is unknown, or an
/// approval was posted; never more than a few times.
pub async fn turn(desk: &Desk<'_>, pull: PullNumber, inbox: &Inbox) -> Result<Turn, TurnError> {
    let (snapshot, plan) = look(desk, pull, inbox).await?;
    if desk.publishing == Publishing::Alone || !posts(desk, &plan) {
        return play(desk, inbox, snapshot, plan).await;
    }
    let Claimed::Mine(epoch) = desk.forge.claim(pull, Purpose::Publish, CLAIM).await? else {
        return Err(TurnError::Claimed);
    };
    let played = match look(desk, pull, inbox).await {
        Ok((snapshot, plan)) => play(desk, inbox, snapshot, plan).await,
        Err(error) => Err(error),
    };
    // A claim that cannot be given back runs out by itself.
    let _ = desk.forge.release(pull, Purpose::Publish, epoch).await;
    played
}

pub(crate) async fn look(desk: &Desk<'_>, pull: PullNumber, inbox: &Inbox) -> Result<(Snapshot, Plan), TurnError> {
    let fetched = desk.forge.fetch(pull).await?;
    let whole = fetched.whole;
    let (snapshot, plan) = decided(desk, fetched, inbox)?;
    // That there is nothing to do may be known from less; what is written leans on all of it (LOOP-7).
    if whole || plan.steps.iter().all(|step| desk.gates.permit(step).is_err()) {
        return Ok((snapshot, plan));
    }
    decided(desk, desk.forge.fetch_anew(pull).await?, inbox)
}

fn decided(desk: &Desk<'_>, fetched: Fetched, inbox: &Inbox) -> Result<(Snapshot, Plan), TurnError> {
    let snapshot = gather(fetched, desk.source, inbox, desk.policy, desk.keys)?;
    let plan = decide(&snapshot, desk.policy);
    Ok((snapshot, plan))
}

/// Whether a plan posts what another process of the same identity might post too.
fn posts(desk: &Desk<'_>, plan: &Plan) -> bool {
    plan.steps.iter().any(|step| {
        matches!(
            step.action,
            Action::PostReview { .. }
                | Action::OpenThreads { .. }
                | Action::EditReview { .. }
                | Action::Supersede { .. }
        ) && desk.gates.permit(step).is_ok()
    })
}

async fn play(desk: &Desk<'_>, inbox: &Inbox, mut snapshot: Snapshot, mut plan: Plan) -> Result<Turn, TurnError> {
    let (mut steps, mut receipts) = (Vec::new(), Vec::new());
    let mut writes = 0;
    for round in 1..=PLANS {
        let applied = apply(desk.forge, desk.journal, desk.gates, desk.keys, &snapshot, &plan).await;
        if !desk.gates.are_shut() {
            desk.journal.keep(&Record { snapshot: &snapshot, plan: &plan, receipts: &applied.receipts });
        }
        writes += applied.writes;
        let unknown = applied.receipts.iter().any(|receipt| receipt.outcome == Outcome::Unknown);
        // In matrix mode every write is followed by a look: a sibling may have posted meanwhile (D6).
        let look_again = applied.approved || (desk.publishing == Publishing::Matrix && 0 < applied.writes);
        let again = (applied.stale || look_again) && !unknown && round < PLANS;
        steps.extend(plan.steps.iter().cloned());
        receipts.extend(applied.receipts.iter().cloned());
        if !again {
            return Ok(Turn { snapshot, plan, steps, receipts, unsettled: applied.stale, writes });
        }
        match refresh(desk, inbox, &snapshot, &applied).await {
            Some(fresh) => (snapshot, plan) = fresh,
            None => break,
        }
    }
    Ok(Turn { snapshot, plan, steps, receipts, unsettled: true, writes })
}
