//! One pass over a repository: reads everything, decides, then applies (DSP-1, DSP-3, DSP-10, DSP-11, DSP-16).
//!
//! | failure | consequence |
//! |---|---|
//! | a read fails before the first write | the pass ends without line and write |
//! | another process holds the claim for posting | that pull is left to the next pass |
//! | the head of a pull moved | that pull is left to the next pass |
//! | a write fails temporarily, or its outcome is unknown | the pass ends; the lines printed so far are valid |
//!
//! A pass stores nothing locally: the next one reads everything it needs from the pulls and issues.

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
use crate::claim::PublishClaim;
use crate::journal::JournalRecord;
use crate::receipt::{Receipt, StepOutcome};
use crate::turn::{TurnContext, TurnError};
use read::{plan_pull, read_repository};
use start::start_worker;

/// A finished pass.
#[derive(Debug)]
pub struct PassOutcome {
    /// The board as it was read.
    pub board: Board,
    /// The decision for the whole repository.
    pub pass: Pass,
    /// Each open pull, by number.
    pub pulls: Vec<PassPull>,
    /// The printed lines; in a dry run those that would be printed.
    pub lines: Vec<ProtocolLine>,
    /// How the start of the worker ended; `None` if none was due.
    pub started: Option<StartOutcome>,
    /// The worker, if the caller runs it.
    pub claimed_worker: Option<ClaimedWorker>,
    /// An outcome is unknown or a step failed temporarily: run the pass again later.
    pub needs_rerun: bool,
}

/// Who runs the worker that a pass starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnMode {
    /// The reader of the printed line.
    Print,
    /// The caller of the pass, which gets the claim.
    Run,
}

/// One pull of a pass.
#[derive(Debug)]
pub struct PassPull {
    pub snapshot: Snapshot,
    /// The plan, limited to the steps of a pass.
    pub plan: Plan,
    /// The pull takes part in dispatch.
    pub is_eligible: bool,
    /// The result of each step.
    pub receipts: Vec<Receipt>,
}

/// How the start of a worker ended.
#[derive(Debug)]
pub enum StartOutcome {
    /// It is recorded, and its line is printed. Contains the later steps that failed.
    Started(Vec<Receipt>),
    /// Another process holds the claim.
    ClaimHeld,
    /// Under the claim the cause was gone, or another worker answers it.
    CauseChanged,
    /// The record was not written.
    Unrecorded(Receipt),
    /// Another process recorded one at the same time. Their order is unknown, so this process starts none.
    LostRace,
    /// The claim or a read failed; a later pass handles a record that was written.
    Failed(TurnError),
}

/// Runs one pass, and prints each line as soon as it is valid.
pub async fn run_pass(
    context: &TurnContext<'_>,
    mode: SpawnMode,
    mut print_line: impl FnMut(&ProtocolLine) + Send,
) -> Result<PassOutcome, TurnError> {
    let (board, mut pulls) = read_repository(context).await?;
    let plans: Vec<Plan> = pulls.iter().filter(|it| it.is_eligible).map(|it| it.plan.clone()).collect();
    let pass = schedule(&board, &plans, context.policy, &board.viewer);
    let mut lines = Vec::new();
    if context.gates.is_dry_run() {
        pass.lines.iter().for_each(&mut print_line);
        lines.clone_from(&pass.lines);
        return Ok(PassOutcome { board, pass, pulls, lines, started: None, claimed_worker: None, needs_rerun: false });
    }
    let mut unsettled = false;
    for pull in pulls.iter_mut().filter(|it| it.is_eligible && !it.plan.steps.is_empty()) {
        let Some(applied) = apply_pull(context, pull).await? else {
            unsettled = true;
            continue;
        };
        let (snapshot, plan) = (&pull.snapshot, &pull.plan);
        let (scope, receipts) = (&PlanScope::Pass, &applied.receipts);
        context.journal.record_turn(&JournalRecord { snapshot, scope, plan, receipts });
        if records_handoff(plan, &applied.receipts) {
            let line = ProtocolLine::Handoff(plan.pull);
            print_line(&line);
            lines.push(line);
        }
        let ends = must_end_pass(&applied);
        unsettled |= applied.ended_early;
        pull.receipts = applied.receipts;
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
    let (mut started, mut claimed_worker) = (None, None);
    if let Some(job) = &pass.spawn {
        let line = ProtocolLine::Spawn { kind: job.kind, number: job.number, sha: job.head.clone() };
        let mut print_spawn = || {
            print_line(&line);
            lines.push(line.clone());
        };
        let (outcome, worker) = start_worker(context, job, mode, &mut print_spawn).await;
        unsettled |= outcome.needs_rerun();
        (started, claimed_worker) = (Some(outcome), worker);
    }
    Ok(PassOutcome { board, pass, pulls, lines, started, claimed_worker, needs_rerun: unsettled })
}

/// Applies the plan of one pull, under the claim if it posts; `None` if another process holds the claim.
async fn apply_pull(context: &TurnContext<'_>, pull: &mut PassPull) -> Result<Option<ApplyOutcome>, TurnError> {
    if !context.needs_publish_claim(&pull.plan.steps) {
        return Ok(Some(apply_plan(context, &pull.snapshot, &pull.plan, HeadCheck::Due).await));
    }
    let claim = match PublishClaim::acquire(context, pull.plan.pull).await {
        Ok(claim) => claim,
        Err(TurnError::ClaimHeld) => return Ok(None),
        Err(error) => return Err(error),
    };
    let applied = apply_pull_under_claim(context, pull).await;
    claim.release(context).await;
    applied.map(Some)
}

async fn apply_pull_under_claim(context: &TurnContext<'_>, pull: &mut PassPull) -> Result<ApplyOutcome, TurnError> {
    let fetched = context.forge.fetch(pull.plan.pull).await?;
    let head = HeadCheck::after_read(&fetched, &pull.snapshot);
    *pull = plan_pull(context, fetched)?;
    if !pull.is_eligible {
        pull.plan.steps.clear();
    }
    Ok(apply_plan(context, &pull.snapshot, &pull.plan, head).await)
}

/// Returns whether this pass wrote the record of a handoff; only then it prints the line.
fn records_handoff(plan: &Plan, receipts: &[Receipt]) -> bool {
    let is_record = |step: &Step| matches!(step.topic(), Some(Topic::Ready { .. }));
    plan.steps.iter().zip(receipts).any(|(step, receipt)| is_record(step) && receipt.outcome == StepOutcome::Done)
}

/// Returns whether the pass must end: a failing forge ends it, a moved head only affects its pull.
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
