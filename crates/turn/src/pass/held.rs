//! A worker that was started and whose claim is kept while it runs.

use referee_core::decide::{decide, schedule};
use referee_core::facts::{Facts, known_issue_epoch};
use referee_core::mark::Binding;
use referee_core::model::{Board, CommentId, IssueNumber, PullNumber, Sha, Snapshot};
use referee_core::plan::{Findings, Job, JobKind, Next, Plan, Reason, Step};
use referee_forge::Purpose;

use super::read::{board, takes_part};
use crate::gather::{Inbox, gather};
use crate::turn::{Desk, TurnError};

/// A worker that was started. Whoever runs it [releases](release) it, however it ends; what nobody releases runs out.
#[derive(Debug)]
pub struct Held {
    /// What it is to do, under the epoch that is recorded.
    pub job: Job,
    /// The epoch of the claim.
    pub claim: u64,
    /// What it is for.
    pub view: View,
}

/// Gives the claim of a worker back.
pub async fn release(desk: &Desk<'_>, held: &Held) {
    give_back(desk, PullNumber(held.job.number), held.claim).await;
}

/// A claim that cannot be given back runs out by itself.
pub(super) async fn give_back(desk: &Desk<'_>, at: PullNumber, claim: u64) {
    let _ = desk.forge.release(at, Purpose::Work, claim).await;
}

/// What a worker is for, as it was last seen.
#[derive(Debug)]
pub enum View {
    /// A pull.
    Pull(Box<Snapshot>),
    /// An issue, among all of its repository.
    Issue(Box<Board>),
}

impl View {
    pub(crate) async fn of(desk: &Desk<'_>, job: &Job) -> Result<Self, TurnError> {
        if job.kind == JobKind::Impl {
            return Ok(Self::Issue(Box::new(board(desk).await?)));
        }
        let fetched = desk.forge.fetch_anew(PullNumber(job.number)).await?;
        let snapshot = gather(fetched, desk.source, &Inbox::default(), desk.policy, desk.keys)?;
        Ok(Self::Pull(Box::new(snapshot)))
    }

    /// The worker that would start, if the own claim and the own record were not there.
    pub(super) fn next(&self, desk: &Desk<'_>, claim: u64, record: Option<&CommentId>) -> Option<Job> {
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
                let mut board = Board::clone(board);
                board.leases.retain(|(_, lease)| lease.epoch != claim);
                for issue in &mut board.issues {
                    issue.comments.retain(|comment| Some(&comment.id) != record);
                }
                schedule(&board, &[], desk.policy, &board.viewer).spawn
            }
        }
    }

    /// Whether the own record is there, and nothing of a higher epoch.
    pub(super) fn shows(&self, desk: &Desk<'_>, job: &Job, record: &CommentId, epoch: u64) -> bool {
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

    pub(crate) fn binding(&self, job: &Job) -> Binding {
        let (forge, repo) = match self {
            Self::Pull(snapshot) => (&snapshot.pull.forge, snapshot.pull.repo),
            Self::Issue(board) => (&board.forge, board.repo),
        };
        Binding { forge: forge.clone(), repo, pull: PullNumber(job.number) }
    }

    /// A plan of these steps alone.
    pub(crate) fn plan(&self, job: &Job, steps: &[Step]) -> Plan {
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
