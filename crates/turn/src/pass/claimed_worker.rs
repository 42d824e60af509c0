//! A worker that was started, and whose claim is kept while it runs.

use referee_core::decide::{PlanScope, decide, schedule};
use referee_core::facts::{Facts, highest_issue_epoch};
use referee_core::mark::Binding;
use referee_core::model::{Board, Comment, CommentId, IssueNumber, PullNumber, Sha, Snapshot};
use referee_core::plan::{Findings, Job, JobKind, Next, Plan, Reason, Step};
use referee_core::rule::Rule;
use referee_forge::ClaimPurpose;

use super::read::{fetch_board, is_eligible};
use crate::gather::{Inbox, gather_snapshot};
use crate::turn::{TurnContext, TurnError};

/// A started worker with its claim. Its runner calls [`release_worker`] however the worker ends; a claim that is not
/// released expires.
#[derive(Debug)]
pub struct ClaimedWorker {
    /// The job, with the recorded epoch.
    pub job: Job,
    /// The epoch of the claim.
    pub claim_epoch: u64,
    /// The pull or issue.
    pub subject: WorkSubject,
}

/// Releases the claim of a worker.
pub async fn release_worker(context: &TurnContext<'_>, worker: &ClaimedWorker) {
    release_work_claim(context, PullNumber(worker.job.number), worker.claim_epoch).await;
}

/// Releases a claim. Errors are ignored, because it expires by itself.
pub(super) async fn release_work_claim(context: &TurnContext<'_>, at: PullNumber, claim: u64) {
    let _ = context.forge.release_claim(at, ClaimPurpose::Work, claim).await;
}

/// The pull or issue of a worker, as last read.
#[derive(Debug)]
pub enum WorkSubject {
    Pull(Box<Snapshot>),
    /// The whole board, which contains the issue.
    Issue(Box<Board>),
}

impl WorkSubject {
    pub(crate) async fn fetch(context: &TurnContext<'_>, job: &Job) -> Result<Self, TurnError> {
        if job.kind == JobKind::Impl {
            return Ok(Self::Issue(Box::new(fetch_board(context).await?)));
        }
        let fetched = context.forge.fetch(PullNumber(job.number)).await?;
        let snapshot = gather_snapshot(fetched, context.source, &Inbox::default(), context.policy, context.keys)?;
        Ok(Self::Pull(Box::new(snapshot)))
    }

    /// Returns the job that would start without this process's own claim.
    pub(super) fn recompute_job(&self, context: &TurnContext<'_>, claim: u64) -> Option<Job> {
        match self.without_own_work(claim, None) {
            Self::Pull(snapshot) => {
                let next = is_eligible(&snapshot, context.policy)
                    .then(|| decide(&snapshot, context.policy, &PlanScope::Pass).next);
                match next {
                    Some(Next::Spawn(job)) => Some(*job),
                    _ => None,
                }
            }
            Self::Issue(board) => schedule(&board, &[], context.policy, &board.viewer).spawn,
        }
    }

    /// Returns whether the record of this process is there at the job's head, has the highest epoch, and no other process
    /// wrote a record since `before` was read under the claim. A claim excludes only processes of the same identity; of two
    /// identities that see each other's records, neither starts.
    pub(super) fn confirms_record(
        &self,
        context: &TurnContext<'_>,
        job: &Job,
        (record, epoch): (&CommentId, u64),
        (before, claim): (&Self, u64),
    ) -> bool {
        let others_epoch = |subject: &Self| subject.without_own_work(claim, Some(record)).highest_epoch(context, job);
        self.has_comment(job, record)
            && self.highest_epoch(context, job) == epoch
            && others_epoch(self) == others_epoch(before)
    }

    /// Returns whether a comment is there, on a pull at the job's head.
    fn has_comment(&self, job: &Job, id: &CommentId) -> bool {
        let comments = match self {
            Self::Pull(snapshot) if job.head.as_ref() == Some(&snapshot.pull.head) => Some(&snapshot.comments),
            Self::Pull(_) => None,
            Self::Issue(board) => {
                board.issues.iter().find(|issue| issue.number.0 == job.number).map(|issue| &issue.comments)
            }
        };
        comments.is_some_and(|comments| comments.iter().any(|comment| comment.id == *id))
    }

    /// Returns the highest epoch of the records and claims of the job's pull or issue.
    fn highest_epoch(&self, context: &TurnContext<'_>, job: &Job) -> u64 {
        match self {
            Self::Pull(snapshot) => Facts::new(snapshot, context.policy).highest_epoch(),
            Self::Issue(board) => highest_issue_epoch(board, context.policy, IssueNumber(job.number)),
        }
    }

    /// The same without the claim and the record of this process.
    fn without_own_work(&self, claim: u64, record: Option<&CommentId>) -> Self {
        let is_other = |comment: &Comment| Some(&comment.id) != record;
        match self {
            Self::Pull(snapshot) => {
                let mut snapshot = snapshot.clone();
                snapshot.lease = snapshot.lease.filter(|lease| lease.epoch != claim);
                snapshot.comments.retain(is_other);
                Self::Pull(snapshot)
            }
            Self::Issue(board) => {
                let mut board = board.clone();
                board.leases.retain(|(_, lease)| lease.epoch != claim);
                board.issues.iter_mut().for_each(|issue| issue.comments.retain(is_other));
                Self::Issue(board)
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

    /// Builds a plan of these steps only.
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
            accounting: Vec::new(),
            round: 0,
        }
    }
}
