//! Starting a worker, so that nobody else starts one for the same cause (DSP-16, D8):
//!
//! | step | what it guards against |
//! |---|---|
//! | claim | another process that is about to do the same |
//! | look again, the own claim left out | one that did so between the first look and the claim |
//! | record | a crash from here on, and every pass to come |
//! | look once more, own claim and record left out | a claim that ran out unnoticed: its new holder has a higher epoch |
//! | label, or assign | – : it shows people what the record says |
//! | say the line | – |
//! | give the claim back | – : the record speaks from here on, and whoever runs the worker is another process |
//!
//! Whatever ends this early leaves a claim that runs out, and at most a record without a worker: an hour later a pass
//! starts it a second time.

use referee_core::decide::{decide, schedule};
use referee_core::facts::{Facts, known_issue_epoch};
use referee_core::mark::Binding;
use referee_core::model::{Board, CommentId, IssueNumber, PullNumber, Sha, Snapshot, Span};
use referee_core::plan::{Findings, Job, JobKind, Next, Plan, Reason, Step};
use referee_forge::{Claimed, Forge, ForgeError, Purpose};

use super::Started;
use super::read::{board, takes_part};
use crate::apply::{Applied, apply_bound};
use crate::gather::{Inbox, gather};
use crate::journal::Journal;
use crate::receipt::{Outcome, Receipt};
use crate::source::Source;
use crate::turn::{Desk, TurnError};

/// Records a worker and says its line, if nobody else may do so.
pub(super) async fn start<F: Forge, S: Source, J: Journal>(
    desk: &Desk<'_, F, S, J>,
    job: &Job,
    say: &mut impl FnMut(),
) -> Started {
    let (at, ttl) = (PullNumber(job.number), desk.policy.work.as_ref().map_or(Span::hours(1), |work| work.wip_max_age));
    let epoch = match desk.forge.claim(at, Purpose::Work, ttl).await {
        Ok(Claimed::Mine(epoch)) => epoch,
        // If it is ours after all, it runs out by itself.
        Ok(Claimed::Held) | Err(ForgeError::Unknown) => return Started::Held,
        Err(error) => return Started::Failed(error.into()),
    };
    let started = under_claim(desk, job, epoch, say).await;
    // A claim that cannot be given back runs out by itself.
    let _ = desk.forge.release(at, Purpose::Work, epoch).await;
    started.unwrap_or_else(Started::Failed)
}

async fn under_claim<F: Forge, S: Source, J: Journal>(
    desk: &Desk<'_, F, S, J>,
    job: &Job,
    claim: u64,
    say: &mut impl FnMut(),
) -> Result<Started, TurnError> {
    let view = View::of(desk, job).await?;
    let Some(again) = view.next(desk, claim, None).filter(|again| is_same(again, job)) else {
        return Ok(Started::Changed);
    };
    let epoch = claim.max(again.epoch);
    let again = again.at_epoch(epoch);
    let Some((record, rest)) = again.record.split_first() else { return Ok(Started::Changed) };
    let applied = apply_bound(
        desk.forge,
        desk.journal,
        desk.gates,
        desk.keys,
        &view.binding(job),
        &view.plan(job, std::slice::from_ref(record)),
    )
    .await;
    let [comment] = applied.comments.as_slice() else { return Ok(Started::Unrecorded(first(applied))) };
    let last = View::of(desk, job).await?;
    let mine = last.next(desk, claim, Some(comment)).is_some_and(|last| is_same(&last, job));
    if !mine || !last.shows(desk, job, comment, epoch) {
        return Ok(Started::Outrun);
    }
    let plan = last.plan(job, rest);
    let shown = apply_bound(desk.forge, desk.journal, desk.gates, desk.keys, &last.binding(job), &plan).await;
    say();
    let undone = |receipt: &Receipt| !matches!(receipt.outcome, Outcome::Done | Outcome::AlreadySo);
    Ok(Started::Yes(shown.receipts.into_iter().filter(undone).collect()))
}

/// The same worker for the same cause; what it is recorded with may differ.
fn is_same(one: &Job, other: &Job) -> bool {
    let what = |job: &Job| (job.kind, job.number, job.retry);
    what(one) == what(other) && one.cause == other.cause && one.patch == other.patch && one.head == other.head
}

fn first(applied: Applied) -> Receipt {
    let nothing = Receipt { step: 0, action: "ensure_comment", outcome: Outcome::Planned, note: String::new() };
    applied.receipts.into_iter().next().unwrap_or(nothing)
}

/// What a worker is for, as it is now.
enum View {
    Pull(Box<Snapshot>),
    Issue(Board),
}

impl View {
    async fn of<F: Forge, S: Source, J: Journal>(desk: &Desk<'_, F, S, J>, job: &Job) -> Result<Self, TurnError> {
        if job.kind == JobKind::Impl {
            return Ok(Self::Issue(board(desk).await?));
        }
        let fetched = desk.forge.fetch_anew(PullNumber(job.number)).await?;
        let snapshot = gather(fetched, desk.source, &Inbox::default(), desk.policy, desk.keys)?;
        Ok(Self::Pull(Box::new(snapshot)))
    }

    /// The worker that would start, if the own claim and the own record were not there.
    fn next<F, S, J>(&self, desk: &Desk<'_, F, S, J>, claim: u64, record: Option<&CommentId>) -> Option<Job> {
        match self {
            Self::Pull(snapshot) => {
                let mut snapshot = Snapshot::clone(snapshot);
                snapshot.lease = snapshot.lease.filter(|lease| lease.epoch != claim);
                snapshot.comments.retain(|comment| Some(&comment.id) != record);
                let next = takes_part(&snapshot, desk.policy).then(|| decide(&snapshot, desk.policy).next);
                match next {
                    Some(Next::Spawn(job)) => Some(*job),
                    _ => None,
                }
            }
            Self::Issue(board) => {
                let mut board = board.clone();
                board.leases.retain(|(_, lease)| lease.epoch != claim);
                for issue in &mut board.issues {
                    issue.comments.retain(|comment| Some(&comment.id) != record);
                }
                schedule(&board, &[], desk.policy, &board.viewer).spawn
            }
        }
    }

    /// Whether the own record is there, and nothing of a higher epoch.
    fn shows<F, S, J>(&self, desk: &Desk<'_, F, S, J>, job: &Job, record: &CommentId, epoch: u64) -> bool {
        match self {
            Self::Pull(snapshot) => {
                snapshot.comments.iter().any(|comment| comment.id == *record)
                    && Facts::new(snapshot, desk.policy).known_epoch() == epoch
            }
            Self::Issue(board) => {
                let issue = board.issues.iter().find(|issue| issue.number.0 == job.number);
                issue.is_some_and(|issue| issue.comments.iter().any(|comment| comment.id == *record))
                    && known_issue_epoch(board, desk.policy, IssueNumber(job.number)) == epoch
            }
        }
    }

    fn binding(&self, job: &Job) -> Binding {
        let (forge, repo) = match self {
            Self::Pull(snapshot) => (&snapshot.pull.forge, snapshot.pull.repo),
            Self::Issue(board) => (&board.forge, board.repo),
        };
        Binding { forge: forge.clone(), repo, pull: PullNumber(job.number) }
    }

    /// A plan of these steps alone.
    fn plan(&self, job: &Job, steps: &[Step]) -> Plan {
        Plan {
            pull: PullNumber(job.number),
            head: job.head.clone().unwrap_or_else(|| Sha(String::new())),
            steps: steps.to_vec(),
            refused: Vec::new(),
            next: Next::Spawn(Box::new(job.clone())),
            why: steps.first().map_or_else(Reason::default, |step| step.reason.clone()),
            delivery: None,
            roles: Vec::new(),
            findings: Findings::default(),
            round: 0,
        }
    }
}
