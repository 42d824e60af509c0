//! A worker that was started and whose claim is kept while it runs.

use referee_core::decide::{PlanScope, decide, schedule};
use referee_core::facts::{Facts, highest_issue_epoch};
use referee_core::mark::Binding;
use referee_core::model::{Board, CommentId, IssueNumber, PullNumber, Sha, Snapshot};
use referee_core::plan::{Findings, Job, JobKind, Next, Plan, Reason, Step};
use referee_core::rule::Rule;
use referee_forge::ClaimPurpose;

use super::read::{fetch_board, is_eligible};
use crate::gather::{Inbox, gather_snapshot};
use crate::turn::{TurnContext, TurnError};

/// A worker that was started, with its claim. Its runner calls [`release_worker`] however the worker ends; a claim that is not
/// released expires.
#[derive(Debug)]
pub struct ClaimedWorker {
    /// What it is to do, under the epoch that is recorded.
    pub job: Job,
    /// The epoch of the claim.
    pub claim_epoch: u64,
    /// What it is for.
    pub subject: WorkSubject,
}

/// Gives the claim of a worker back.
pub async fn release_worker(desk: &TurnContext<'_>, held: &ClaimedWorker) {
    release_work_claim(desk, PullNumber(held.job.number), held.claim_epoch).await;
}

/// A claim that cannot be given back runs out by itself.
pub(super) async fn release_work_claim(desk: &TurnContext<'_>, at: PullNumber, claim: u64) {
    let _ = desk.forge.release_claim(at, ClaimPurpose::Work, claim).await;
}

/// What a worker is for, as it was last seen.
#[derive(Debug)]
pub enum WorkSubject {
    /// A pull.
    Pull(Box<Snapshot>),
    /// An issue, among all of its repository.
    Issue(Box<Board>),
}

impl WorkSubject {
    pub(crate) async fn fetch(desk: &TurnContext<'_>, job: &Job) -> Result<Self, TurnError> {
        if job.kind == JobKind::Impl {
            return Ok(Self::Issue(Box::new(fetch_board(desk).await?)));
        }
        let fetched = desk.forge.fetch(PullNumber(job.number)).await?;
        let snapshot = gather_snapshot(fetched, desk.source, &Inbox::default(), desk.policy, desk.keys)?;
        Ok(Self::Pull(Box::new(snapshot)))
    }

    /// Decides which worker would start without the claim of this process.
    pub(super) fn recompute_job(&self, desk: &TurnContext<'_>, claim: u64) -> Option<Job> {
        match self {
            Self::Pull(snapshot) => {
                let mut snapshot = Snapshot::clone(snapshot);
                snapshot.lease = snapshot.lease.filter(|lease| lease.epoch != claim);
                let next =
                    is_eligible(&snapshot, desk.policy).then(|| decide(&snapshot, desk.policy, &PlanScope::Pass).next);
                match next {
                    Some(Next::Spawn(job)) => Some(*job),
                    _ => None,
                }
            }
            Self::Issue(board) => {
                let mut board = Board::clone(board);
                board.leases.retain(|(_, lease)| lease.epoch != claim);
                schedule(&board, &[], desk.policy, &board.viewer).spawn
            }
        }
    }

    /// Returns whether the record of this process is there at the job's head, and nothing of a higher epoch, be it a
    /// record or a claim.
    pub(super) fn confirms_record(&self, desk: &TurnContext<'_>, job: &Job, record: &CommentId, epoch: u64) -> bool {
        match self {
            Self::Pull(snapshot) => {
                job.head.as_ref() == Some(&snapshot.pull.head)
                    && snapshot.comments.iter().any(|comment| comment.id == *record)
                    && Facts::new(snapshot, desk.policy).highest_epoch() == epoch
            }
            Self::Issue(board) => {
                let issue = board.issues.iter().find(|issue| issue.number.0 == job.number);
                issue.is_some_and(|issue| issue.comments.iter().any(|comment| comment.id == *record))
                    && highest_issue_epoch(board, desk.policy, IssueNumber(job.number)) == epoch
            }
        }
    }

    pub(crate) fn binding(&self, job: &Job) -> Binding {
        let (forge, repo) = match self {
            Self::Pull(snapshot) => (&snapshot.pull.forge, snapshot.pull.repo),
            Self::Issue(board) => (&board.forge, board.repo),
        };
        Binding { forge: forge.clone(), repo, pull: PullNumber(job.number) }
    }

    /// A plan of these steps alone.
    pub(crate) fn build_plan(&self, job: &Job, steps: &[Step]) -> Plan {
        Plan {
            pull: PullNumber(job.number),
            head: job.head.clone().unwrap_or_else(|| Sha(String::new())),
            steps: steps.to_vec(),
            refused: Vec::new(),
            reviews: Vec::new(),
            next: Next::Spawn(Box::new(job.clone())),
            why: steps.first().map_or_else(|| Reason::new(Rule::Lease), |step| step.reason.clone()),
            delivery: None,
            roles: Vec::new(),
            findings: Findings::default(),
            round: 0,
        }
    }
}
