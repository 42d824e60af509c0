//! Workers that were started on a pull: the forge remembers, nothing local is needed (DSP-16).

use crate::mark::{TagKind, Topic};
use crate::model::snapshot::WorkOutcome;
use crate::model::{Comment, CommentId, Snapshot, Time};
use crate::plan::JobKind;
use crate::policy::Policy;
use crate::track::PatchId;

/// A worker that was started.
#[derive(Clone, Copy, Debug)]
pub struct JobRecord<'a> {
    /// The comment that says so.
    pub comment: &'a CommentId,
    /// Which type.
    pub kind: JobKind,
    /// What it answers.
    pub cause: &'a str,
    /// At which change.
    pub patch: &'a PatchId,
    /// Of which lease.
    pub epoch: u64,
    /// How it ended.
    pub outcome: Option<WorkOutcome>,
    /// It was started twice.
    pub retried: bool,
    /// When it was started.
    pub at: Time,
}

/// All that is known of workers here.
#[derive(Debug, Default)]
pub struct WorkFacts<'a> {
    /// Since the latest reopen, oldest first.
    pub jobs: Vec<JobRecord<'a>>,
    /// The pull went to a person at this change (DSP-10).
    pub handed_off: bool,
}

impl<'a> WorkFacts<'a> {
    /// The newest record of that cause.
    pub fn of_cause(&self, cause: &str) -> Option<&JobRecord<'a>> {
        self.jobs.iter().rev().find(|job| job.cause == cause)
    }

    /// The newest record of that cause at that change: a head with the same change is the same head (D4).
    pub fn at(&self, cause: &str, patch: &PatchId) -> Option<&JobRecord<'a>> {
        self.jobs.iter().rev().find(|job| job.cause == cause && job.patch == patch)
    }

    /// At how many changes a type was started.
    pub fn heads_of(&self, kind: JobKind) -> usize {
        let mut seen: Vec<&PatchId> = Vec::new();
        for job in self.jobs.iter().filter(|job| job.kind == kind) {
            if !seen.contains(&job.patch) {
                seen.push(job.patch);
            }
        }
        seen.len()
    }
}

pub(super) fn read<'a>(snapshot: &'a Snapshot, policy: &Policy) -> WorkFacts<'a> {
    let since = snapshot.pull.reopened_at();
    let mut facts = WorkFacts::default();
    for comment in &snapshot.comments {
        let Some(tag) = comment.text.tag().filter(|_| believed_author(snapshot, policy, comment)) else { continue };
        match &tag.kind {
            TagKind::Topic(Topic::Job { kind, cause, patch, epoch, outcome, retried })
                if since.is_none_or(|reopened| reopened <= comment.at) =>
            {
                facts.jobs.push(JobRecord {
                    comment: &comment.id,
                    kind: *kind,
                    cause,
                    patch,
                    epoch: *epoch,
                    outcome: *outcome,
                    retried: *retried,
                    at: comment.at,
                });
            }
            TagKind::Topic(Topic::Ready { patch }) if *patch == snapshot.changes.patch => facts.handed_off = true,
            _ => {}
        }
    }
    facts
}

fn believed_author(snapshot: &Snapshot, policy: &Policy, comment: &Comment) -> bool {
    comment.author.login.as_ref().is_some_and(|login| {
        super::is_own(snapshot, policy, login) || policy.work.as_ref().is_some_and(|work| work.user == *login)
    })
}
