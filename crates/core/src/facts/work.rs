//! Jobs that were started on a pull. They are read from comments on the forge; no local state is needed (DSP-16).

use crate::mark::{TagKind, Topic, shorten_cause};
use crate::model::snapshot::WorkOutcome;
use crate::model::{Board, Comment, CommentId, Issue, IssueNumber, Login, Sha, Snapshot, Time, Viewer};
use crate::plan::JobKind;
use crate::policy::{DispatchPolicy, Policy, PullFilter};
use crate::track::PatchId;

/// A job that was started.
#[derive(Clone, Copy, Debug)]
pub struct JobRecord<'a> {
    /// The comment that records it.
    pub comment: &'a CommentId,
    pub kind: JobKind,
    /// What it answers, for example `role:<name>`.
    pub cause: &'a str,
    /// The change at which it was started.
    pub patch: &'a PatchId,
    /// The epoch of its lease.
    pub epoch: u64,
    /// `None` while it runs, or if it crashed.
    pub outcome: Option<WorkOutcome>,
    /// It is the second start.
    pub retried: bool,
    pub at: Time,
}

/// All jobs of a pull.
#[derive(Debug, Default)]
pub struct WorkFacts<'a> {
    /// Jobs since the latest reopen, by epoch: a late record under a lease that was taken over is not the newest.
    pub jobs: Vec<JobRecord<'a>>,
    /// The pull was handed to a person at this change (DSP-10).
    pub handed_off: bool,
    /// The highest epoch of any record, counting those before the reopen.
    pub highest_epoch: u64,
    /// Other heads with the same change, as far as referee's comments record them.
    pub same_change_heads: Vec<&'a Sha>,
}

impl<'a> WorkFacts<'a> {
    /// Returns the newest record of a cause.
    pub fn find_by_cause(&self, cause: &str) -> Option<&JobRecord<'a>> {
        let cause = shorten_cause(cause);
        self.jobs.iter().rev().find(|job| job.cause == cause)
    }

    /// Returns the newest record of a cause at a change. Heads with the same change count as one (D4).
    pub fn find_at_change(&self, cause: &str, patch: &PatchId) -> Option<&JobRecord<'a>> {
        let cause = shorten_cause(cause);
        self.jobs.iter().rev().find(|job| job.cause == cause && job.patch == patch)
    }

    /// Counts the changes at which a job of this kind was started.
    pub fn count_changes_with(&self, kind: JobKind) -> usize {
        let mut seen: Vec<&PatchId> = Vec::new();
        for job in self.jobs.iter().filter(|job| job.kind == kind) {
            if !seen.contains(&job.patch) {
                seen.push(job.patch);
            }
        }
        seen.len()
    }
}

pub(super) fn read_work_facts<'a>(snapshot: &'a Snapshot, policy: &Policy, own: &[&Login]) -> WorkFacts<'a> {
    let since = snapshot.pull.reopened_at();
    let own = |login: &Login| own.contains(&login);
    let mut facts = WorkFacts::default();
    for comment in &snapshot.comments {
        let Some((topic, head)) = parse_topic(policy, comment, own) else { continue };
        if let Some(job) = parse_job_record(comment, topic) {
            facts.highest_epoch = facts.highest_epoch.max(job.epoch);
            facts.jobs.extend(since.is_none_or(|reopened| reopened <= comment.at).then_some(job));
        }
        let (Topic::Job { patch, .. } | Topic::Ready { patch } | Topic::Notice { patch } | Topic::Glass { patch }) =
            topic
        else {
            continue;
        };
        if *patch == snapshot.changes.patch {
            facts.same_change_heads.push(head);
            facts.handed_off |= matches!(topic, Topic::Ready { .. });
        }
    }
    facts.jobs.sort_by_key(|job| job.epoch);
    facts
}

/// Returns the jobs that were started on an issue, by epoch (DSP-18).
pub(crate) fn jobs_on_issue<'a>(issue: &'a Issue, policy: &Policy, viewer: &Viewer) -> Vec<JobRecord<'a>> {
    let own = |login: &Login| is_own_or_worker(viewer, policy, login);
    let jobs =
        issue.comments.iter().filter_map(|comment| parse_job_record(comment, parse_topic(policy, comment, own)?.0));
    let mut jobs: Vec<JobRecord<'_>> = jobs.filter(|job| job.kind == JobKind::Impl).collect();
    jobs.sort_by_key(|job| job.epoch);
    jobs
}

/// Returns the highest epoch of an issue in its records and leases.
pub fn highest_issue_epoch(board: &Board, policy: &Policy, number: IssueNumber) -> u64 {
    let issue = board.issues.iter().find(|issue| issue.number == number);
    let records = issue.map(|issue| jobs_on_issue(issue, policy, &board.viewer)).unwrap_or_default();
    let leases = board.leases.iter().filter(|(leased, _)| *leased == number).map(|(_, lease)| lease.epoch);
    records.iter().map(|job| job.epoch).chain(leases).max().unwrap_or(0)
}

/// Returns whether the login belongs to referee or its workers.
pub(crate) fn is_own_or_worker(viewer: &Viewer, policy: &Policy, login: &Login) -> bool {
    viewer.login == *login
        || viewer.holds.contains(login)
        || policy.roles.iter().any(|role| role.identity.as_ref() == Some(login))
        || policy.work.as_ref().is_some_and(|work| work.user == *login)
}

fn parse_topic<'a>(
    policy: &Policy,
    comment: &'a Comment,
    own: impl Fn(&Login) -> bool,
) -> Option<(&'a Topic, &'a Sha)> {
    let tag = comment.text.trusted_tag()?;
    let TagKind::Topic(topic) = &tag.kind else { return None };
    let login = comment.author.login.as_ref()?;
    (own(login) || policy.work.as_ref().is_some_and(|work| work.user == *login)).then_some((topic, &tag.head))
}

fn parse_job_record<'a>(comment: &'a Comment, topic: &'a Topic) -> Option<JobRecord<'a>> {
    let Topic::Job { kind, cause, patch, epoch, outcome, retried } = topic else { return None };
    Some(JobRecord {
        comment: &comment.id,
        kind: *kind,
        cause,
        patch,
        epoch: *epoch,
        outcome: *outcome,
        retried: *retried,
        at: comment.at,
    })
}

impl<'a> super::Facts<'a> {
    /// Returns the dispatch policy if this pull takes part in dispatch.
    pub fn dispatch_policy(&self) -> Option<&'a DispatchPolicy> {
        let work = self.policy.work.as_ref()?;
        let pull = &self.snapshot.pull;
        let takes_part = match &work.pulls {
            PullFilter::All => true,
            PullFilter::Own => pull.author.has_login(&work.user),
            PullFilter::Label(name) => pull.label(name).is_some(),
        };
        takes_part.then_some(work)
    }

    /// Returns the epoch for the next job: above every known one (DSP-14).
    pub fn next_epoch(&self) -> u64 {
        self.highest_epoch().saturating_add(1)
    }

    /// Returns the highest epoch of this pull in its records and its lease.
    pub fn highest_epoch(&self) -> u64 {
        self.snapshot.lease.as_ref().map_or(0, |lease| lease.epoch).max(self.work.highest_epoch)
    }
}
