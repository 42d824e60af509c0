//! Workers that were started on a pull: the forge remembers, nothing local is needed (DSP-16).

use crate::mark::{TagKind, Topic, shorten_cause};
use crate::model::snapshot::WorkOutcome;
use crate::model::{Board, Comment, CommentId, Issue, IssueNumber, Login, Sha, Snapshot, Time, Viewer};
use crate::plan::JobKind;
use crate::policy::{DispatchPolicy, Policy, PullFilter};
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
    /// Since the latest reopen, by epoch: a record that came late, of a lease that was taken over, is not the newest.
    pub jobs: Vec<JobRecord<'a>>,
    /// The pull went to a person at this change (DSP-10).
    pub handed_off: bool,
    /// The highest epoch of any record, those before the reopen too.
    pub highest_epoch: u64,
    /// Other heads that carried this very change, as far as own comments remember.
    pub same_change_heads: Vec<&'a Sha>,
}

impl<'a> WorkFacts<'a> {
    /// The newest record of that cause.
    pub fn find_by_cause(&self, cause: &str) -> Option<&JobRecord<'a>> {
        let cause = shorten_cause(cause);
        self.jobs.iter().rev().find(|job| job.cause == cause)
    }

    /// The newest record of that cause at that change: a head with the same change is the same head (D4).
    pub fn find_at_change(&self, cause: &str, patch: &PatchId) -> Option<&JobRecord<'a>> {
        let cause = shorten_cause(cause);
        self.jobs.iter().rev().find(|job| job.cause == cause && job.patch == patch)
    }

    /// At how many changes a type was started.
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

/// Workers that were started on an issue, by epoch (DSP-18).
pub(crate) fn jobs_on_issue<'a>(issue: &'a Issue, policy: &Policy, viewer: &Viewer) -> Vec<JobRecord<'a>> {
    let own = |login: &Login| is_own_or_worker(viewer, policy, login);
    let jobs =
        issue.comments.iter().filter_map(|comment| parse_job_record(comment, parse_topic(policy, comment, own)?.0));
    let mut jobs: Vec<JobRecord<'_>> = jobs.filter(|job| job.kind == JobKind::Impl).collect();
    jobs.sort_by_key(|job| job.epoch);
    jobs
}

/// The highest epoch that an issue remembers, in its records and its leases.
pub fn highest_issue_epoch(board: &Board, policy: &Policy, number: IssueNumber) -> u64 {
    let issue = board.issues.iter().find(|issue| issue.number == number);
    let records = issue.map(|issue| jobs_on_issue(issue, policy, &board.viewer)).unwrap_or_default();
    let leases = board.leases.iter().filter(|(leased, _)| *leased == number).map(|(_, lease)| lease.epoch);
    records.iter().map(|job| job.epoch).chain(leases).max().unwrap_or(0)
}

/// Whether this login speaks for referee, or for its workers.
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
    /// Dispatch, if this pull takes part in it.
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

    /// The epoch for the next worker: above every one that this pull remembers (DSP-14).
    pub fn next_epoch(&self) -> u64 {
        self.highest_epoch().saturating_add(1)
    }

    /// The highest epoch that this pull remembers.
    pub fn highest_epoch(&self) -> u64 {
        self.snapshot.lease.as_ref().map_or(0, |lease| lease.epoch).max(self.work.highest_epoch)
    }
}
