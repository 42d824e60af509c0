//! One pass over a repository: everything is read, then decided, then done (DSP-1, DSP-3, DSP-10, DSP-11, DSP-16).
//!
//! | what goes wrong | then |
//! |---|---|
//! | a read, before the first write | the pass ends: no line, no write |
//! | the head of a pull moved since it was read | that pull is left to the next pass |
//! | a write fails for now, or nobody knows whether it was done | the pass ends there; its lines so far hold |
//!
//! A pass keeps nothing: what the next one must know is on the pulls and issues themselves.

mod claimed_worker;
mod read;
mod start;

pub use claimed_worker::{ClaimedWorker, WorkSubject, release_worker};
pub use read::worker_can_push;

use referee_core::decide::{Pass, PlanScope, ProtocolLine, schedule};
use referee_core::mark::Topic;
use referee_core::model::{Board, Snapshot};
use referee_core::plan::{Plan, Step};

use crate::apply::{ApplyOutcome, HeadCheck, apply_plan};
use crate::journal::JournalRecord;
use crate::receipt::{Receipt, StepOutcome};
use crate::turn::{TurnContext, TurnError};
use read::read_repository;
use start::start_worker;

/// A pass that was made.
#[derive(Debug)]
pub struct PassOutcome {
    /// The repository, as it was read.
    pub board: Board,
    /// What was decided for it as a whole.
    pub pass: Pass,
    /// Each open pull, by number.
    pub pulls: Vec<PassPull>,
    /// The lines that hold: in a dry run those that would.
    pub lines: Vec<ProtocolLine>,
    /// What became of the worker that was to start.
    pub started: Option<StartOutcome>,
    /// That worker, where whoever asked is to run it.
    pub claimed_worker: Option<ClaimedWorker>,
    /// Something is unknown, or was not done for now: pass again later.
    pub needs_rerun: bool,
}

/// Who runs the worker that a pass starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnMode {
    /// Whoever reads its line.
    Print,
    /// Whoever asked for the pass: the claim is kept for them.
    Run,
}

/// One pull of a pass.
#[derive(Debug)]
pub struct PassPull {
    /// What was known.
    pub snapshot: Snapshot,
    /// What was decided; its steps are those that a pass does.
    pub plan: Plan,
    /// The project looks at it.
    pub is_eligible: bool,
    /// What became of each step.
    pub receipts: Vec<Receipt>,
}

/// What became of the worker that was to start.
#[derive(Debug)]
pub enum StartOutcome {
    /// It is recorded, and its line holds. What else was to be done for it, and was not.
    Started(Vec<Receipt>),
    /// Another process holds the claim.
    ClaimHeld,
    /// Under the claim the cause was gone, or somebody answers it.
    CauseChanged,
    /// The record was not written.
    Unrecorded(Receipt),
    /// Another process recorded one at the same time. Nobody may know which was first, so none starts from here.
    LostRace,
    /// It could not be claimed, or not be read again: what was recorded is taken up by a later pass.
    Failed(TurnError),
}

/// Makes one pass, and says each line as soon as it holds.
pub async fn run_pass(
    desk: &TurnContext<'_>,
    then: SpawnMode,
    mut say: impl FnMut(&ProtocolLine) + Send,
) -> Result<PassOutcome, TurnError> {
    let (board, mut pulls) = read_repository(desk).await?;
    let plans: Vec<Plan> = pulls.iter().filter(|it| it.is_eligible).map(|it| it.plan.clone()).collect();
    let pass = schedule(&board, &plans, desk.policy, &board.viewer);
    let mut lines = Vec::new();
    if desk.gates.is_dry_run() {
        pass.lines.iter().for_each(&mut say);
        lines.clone_from(&pass.lines);
        return Ok(PassOutcome { board, pass, pulls, lines, started: None, claimed_worker: None, needs_rerun: false });
    }
    let mut unsettled = false;
    for looked in pulls.iter_mut().filter(|it| it.is_eligible && !it.plan.steps.is_empty()) {
        let applied = apply_plan(desk, &looked.snapshot, &looked.plan, HeadCheck::Due).await;
        let (snapshot, plan) = (&looked.snapshot, &looked.plan);
        let (scope, receipts) = (&PlanScope::Pass, &applied.receipts);
        desk.journal.record_turn(&JournalRecord { snapshot, scope, plan, receipts });
        if records_handoff(plan, &applied.receipts) {
            let line = ProtocolLine::Handoff(plan.pull);
            say(&line);
            lines.push(line);
        }
        let ends = must_end_pass(&applied);
        unsettled |= applied.ended_early;
        looked.receipts = applied.receipts;
        if ends {
            return Ok(PassOutcome {
                board,
                pass,
                pulls,
                lines,
                started: None,
                claimed_worker: None,
                needs_rerun: unsettled,
            });
        }
    }
    let (mut started, mut held) = (None, None);
    if let Some(job) = &pass.spawn {
        let line = ProtocolLine::Spawn { kind: job.kind, number: job.number, sha: job.head.clone() };
        let mut say_it = || {
            say(&line);
            lines.push(line.clone());
        };
        let (became, kept) = start_worker(desk, job, then, &mut say_it).await;
        unsettled |= became.needs_rerun();
        (started, held) = (Some(became), kept);
    }
    Ok(PassOutcome { board, pass, pulls, lines, started, claimed_worker: held, needs_rerun: unsettled })
}

/// Whether the record of a handoff was written just now: by whoever did so, the line is said.
fn records_handoff(plan: &Plan, receipts: &[Receipt]) -> bool {
    let is_record = |step: &Step| matches!(step.topic(), Some(Topic::Ready { .. }));
    plan.steps.iter().zip(receipts).any(|(step, receipt)| is_record(step) && receipt.outcome == StepOutcome::Done)
}

/// A forge that fails is left alone; a pull that moved concerns itself alone.
fn must_end_pass(applied: &ApplyOutcome) -> bool {
    let failed = |receipt: &Receipt| matches!(receipt.outcome, StepOutcome::Failed | StepOutcome::Unknown);
    applied.ended_early && applied.receipts.iter().any(failed)
}

impl StartOutcome {
    fn needs_rerun(&self) -> bool {
        match self {
            Self::Started(_) | Self::ClaimHeld | Self::CauseChanged => false,
            Self::Unrecorded(receipt) => matches!(receipt.outcome, StepOutcome::Failed | StepOutcome::Unknown),
            Self::LostRace | Self::Failed(_) => true,
        }
    }
}
