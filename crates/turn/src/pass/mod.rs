//! One pass over a repository: everything is read, then decided, then done (DSP-1, DSP-3, DSP-10, DSP-11, DSP-16).
//!
//! | what goes wrong | then |
//! |---|---|
//! | a read, before the first write | the pass ends: no line, no write |
//! | the head of a pull moved since it was read | that pull is left to the next pass |
//! | a write fails for now, or nobody knows whether it was done | the pass ends there; its lines so far hold |
//!
//! A pass keeps nothing: what the next one must know is on the pulls and issues themselves.

mod held;
mod read;
mod start;

pub use held::{Held, View, release};
pub use read::takes_worker;

use referee_core::decide::{Pass, ProtocolLine, schedule};
use referee_core::mark::{Tag, TagKind, Topic};
use referee_core::model::{Board, Snapshot};
use referee_core::plan::{Action, Plan, Step, Trailer};

use crate::apply::{Applied, apply};
use crate::journal::Record;
use crate::receipt::{Outcome, Receipt};
use crate::turn::{Desk, TurnError};
use read::read;
use start::start;

/// A pass that was made.
#[derive(Debug)]
pub struct Passed {
    /// The repository, as it was read.
    pub board: Board,
    /// What was decided for it as a whole.
    pub pass: Pass,
    /// Each open pull, by number.
    pub pulls: Vec<Looked>,
    /// The lines that hold: in a dry run those that would.
    pub lines: Vec<ProtocolLine>,
    /// What became of the worker that was to start.
    pub started: Option<Started>,
    /// That worker, where whoever asked is to run it.
    pub held: Option<Held>,
    /// Something is unknown, or was not done for now: pass again later.
    pub unsettled: bool,
}

/// Who runs the worker that a pass starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Whoever reads its line.
    Print,
    /// Whoever asked for the pass: the claim is kept for them.
    Run,
}

/// One pull of a pass.
#[derive(Debug)]
pub struct Looked {
    /// What was known.
    pub snapshot: Snapshot,
    /// What was decided; its steps are those that a pass does.
    pub plan: Plan,
    /// The project looks at it.
    pub takes_part: bool,
    /// What became of each step.
    pub receipts: Vec<Receipt>,
}

/// What became of the worker that was to start.
#[derive(Debug)]
pub enum Started {
    /// It is recorded, and its line holds. What else was to be done for it, and was not.
    Yes(Vec<Receipt>),
    /// Another process holds the claim.
    Held,
    /// Under the claim the cause was gone, or somebody answers it.
    Changed,
    /// The record was not written.
    Unrecorded(Receipt),
    /// Another process recorded one at the same time. Nobody may know which was first, so none starts from here.
    Outrun,
    /// It could not be claimed, or not be read again: what was recorded is taken up by a later pass.
    Failed(TurnError),
}

/// Makes one pass, and says each line as soon as it holds.
pub async fn pass(desk: &Desk<'_>, then: Then, mut say: impl FnMut(&ProtocolLine) + Send) -> Result<Passed, TurnError> {
    let (board, mut pulls) = read(desk).await?;
    let plans: Vec<Plan> = pulls.iter().filter(|it| it.takes_part).map(|it| it.plan.clone()).collect();
    let pass = schedule(&board, &plans, desk.policy, &board.viewer);
    let mut lines = Vec::new();
    if desk.gates.are_shut() {
        pass.lines.iter().for_each(&mut say);
        lines.clone_from(&pass.lines);
        return Ok(Passed { board, pass, pulls, lines, started: None, held: None, unsettled: false });
    }
    let mut unsettled = false;
    for looked in pulls.iter_mut().filter(|it| it.takes_part && !it.plan.steps.is_empty()) {
        let applied = apply(desk.forge, desk.journal, desk.gates, desk.keys, &looked.snapshot, &looked.plan).await;
        let (snapshot, plan) = (&looked.snapshot, &looked.plan);
        desk.journal.keep(&Record { snapshot, plan, receipts: &applied.receipts });
        if hands_off(plan, &applied.receipts) {
            let line = ProtocolLine::Handoff(plan.pull);
            say(&line);
            lines.push(line);
        }
        let ends = ends_the_pass(&applied);
        unsettled |= applied.stale;
        looked.receipts = applied.receipts;
        if ends {
            return Ok(Passed { board, pass, pulls, lines, started: None, held: None, unsettled });
        }
    }
    let (mut started, mut held) = (None, None);
    if let Some(job) = &pass.spawn {
        let line = ProtocolLine::Spawn { kind: job.kind, number: job.number, sha: job.head.clone() };
        let mut say_it = || {
            say(&line);
            lines.push(line.clone());
        };
        let (became, kept) = start(desk, job, then, &mut say_it).await;
        unsettled |= became.is_unsettled();
        (started, held) = (Some(became), kept);
    }
    Ok(Passed { board, pass, pulls, lines, started, held, unsettled })
}

/// Whether a pass does that step. Reviews, threads and answers are for the commands that make them.
fn is_of_a_pass(step: &Step) -> bool {
    match &step.action {
        Action::SetLabel { .. } | Action::Assign { .. } => true,
        _ => topic(step).is_some_and(|topic| matches!(topic, Topic::Operator { .. } | Topic::Ready { .. })),
    }
}

/// Whether the record of a handoff was written just now: by whoever did so, the line is said.
fn hands_off(plan: &Plan, receipts: &[Receipt]) -> bool {
    let is_record = |step: &Step| matches!(topic(step), Some(Topic::Ready { .. }));
    plan.steps.iter().zip(receipts).any(|(step, receipt)| is_record(step) && receipt.outcome == Outcome::Done)
}

pub(crate) fn topic(step: &Step) -> Option<&Topic> {
    let Action::EnsureComment { text, .. } = &step.action else { return None };
    let Trailer::Tag(tag) = &text.trailer else { return None };
    let Tag { kind: TagKind::Topic(topic), .. } = tag.as_ref() else { return None };
    Some(topic)
}

/// A forge that fails is left alone; a pull that moved concerns itself alone.
fn ends_the_pass(applied: &Applied) -> bool {
    let failed = |receipt: &Receipt| matches!(receipt.outcome, Outcome::Failed | Outcome::Unknown);
    applied.stale && applied.receipts.iter().any(failed)
}

impl Started {
    fn is_unsettled(&self) -> bool {
        match self {
            Self::Yes(_) | Self::Held | Self::Changed => false,
            Self::Unrecorded(receipt) => matches!(receipt.outcome, Outcome::Failed | Outcome::Unknown),
            Self::Outrun | Self::Failed(_) => true,
        }
    }
}
