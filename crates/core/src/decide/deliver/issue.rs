//! The result of an `impl` worker: a branch that is opened as a pull (DSP-18).
//!
//! | row | when | record | delivered |
//! |---|---|---|---|
//! | another kind | the result is not of an `impl` job | – | nothing, refused |
//! | stale epoch | the issue has a lease or a record of a higher epoch | – | nothing, refused |
//! | no record | no `impl` of this epoch was recorded on the issue | – | nothing, refused |
//! | not done | the worker reports another outcome than `done` | that outcome, unassigned | nothing |
//! | no commit | the worker left no commit | failed, unassigned | nothing, refused |
//! | escapes | the commits add links out of the tree, submodules or hooks | needs human, unassigned | nothing, refused |
//! | commits | the commits rewrite others, or are in another person's name (`commit_check`, D44) | needs human, unassigned | nothing, refused |
//! | protected | the commits touch a protected path, also through a link (`protected_paths`, `protected_links`) | needs human, unassigned | nothing, refused |
//! | done | none of these | done | a pull from `referee/issue-<n>` |

use super::super::step::{plan_assignment, plan_comment};
use super::commit_check::refuse_commits;
use super::{RULE, build_summary, find_protected, refuse_delivery};
use crate::facts::{JobRecord, jobs_on_issue};
use crate::mark::{Tag, TagKind, Topic};
use crate::model::snapshot::WorkOutcome;
use crate::model::{Issue, Lease, Login, Sha, Viewer, WorkResult};
use crate::plan::{CommentTarget, Delivery, JobKind, Reason, Refusal, Step};
use crate::policy::Policy;
use crate::render::{self, JobNote, PullDescription};

/// The decision about a worker's result on an issue.
#[derive(Debug, Default)]
pub struct IssueDelivery {
    /// The branch to push and the pull to open.
    pub delivery: Option<Delivery>,
    /// Writes on the issue.
    pub steps: Vec<Step>,
    /// Deliveries that were refused, with the reason.
    pub refused: Vec<Refusal>,
}

/// Decides what happens with an `impl` worker's result, on its issue, under the issue's lease.
pub fn plan_issue_delivery(
    issue: &Issue,
    lease: Option<&Lease>,
    result: &WorkResult,
    policy: &Policy,
    viewer: &Viewer,
) -> IssueDelivery {
    let jobs = jobs_on_issue(issue, policy, viewer);
    let known = jobs.iter().map(|job| job.epoch).max().max(lease.map(|lease| lease.epoch)).unwrap_or(0);
    let record = jobs.iter().rev().find(|job| job.epoch == result.epoch);
    let refused = if result.kind != JobKind::Impl {
        "it belongs to a pull"
    } else if result.epoch < known {
        "its lease was taken over"
    } else if let Some(record) = record {
        return finish_job(issue, record, result, policy, viewer);
    } else {
        "there is no record of this job"
    };
    IssueDelivery { refused: vec![refuse_delivery(result, refused.to_owned())], ..IssueDelivery::default() }
}

fn finish_job(
    issue: &Issue,
    record: &JobRecord<'_>,
    result: &WorkResult,
    policy: &Policy,
    viewer: &Viewer,
) -> IssueDelivery {
    let (outcome, refused) = decide_outcome(result, policy);
    let commit = result.head.as_ref().filter(|_| outcome == WorkOutcome::Done);
    let mut steps = Vec::new();
    steps.extend(plan_outcome_record(issue, record, result, viewer, outcome, refused.as_deref()));
    if commit.is_none() {
        let user = policy.work.as_ref().map(|work| &work.user);
        let assigned = issue.assignees.iter().any(|who| Some(who) == user);
        let by = user.filter(|user| viewer.holds.contains(user)).unwrap_or(&viewer.login);
        let why = Reason::new(RULE).with_fact("the job ended without a pull");
        steps.extend(assigned.then(|| plan_assignment(CommentTarget::Issue(issue.number), by, None, why)));
    }
    IssueDelivery {
        delivery: commit.map(|commit| plan_open_pull(issue, result, commit)),
        steps,
        refused: refused.map(|why| refuse_delivery(result, why)).into_iter().collect(),
    }
}

fn decide_outcome(result: &WorkResult, policy: &Policy) -> (WorkOutcome, Option<String>) {
    if result.outcome != WorkOutcome::Done {
        return (result.outcome, None);
    }
    if result.head.is_none() {
        return (WorkOutcome::Failed, Some("it left no commit".to_owned()));
    }
    if let Some(path) = result.escapes.first() {
        return (WorkOutcome::NeedsHuman, Some(format!("`{path}` leaves the tree")));
    }
    let refused = refuse_commits(result).or_else(|| find_protected(policy, result, result.files.iter()));
    (if refused.is_some() { WorkOutcome::NeedsHuman } else { WorkOutcome::Done }, refused)
}

fn plan_open_pull(issue: &Issue, result: &WorkResult, commit: &Sha) -> Delivery {
    let (title, body) = result.pull.as_ref().map_or(("", ""), |(title, body)| (title, body));
    let (title, body) = render::render_pull_description(&PullDescription { issue: issue.number, title, body });
    let branch = format!("referee/issue-{}", issue.number.0);
    Delivery::OpenPull { branch, commit: commit.clone(), title, body, epoch: result.epoch }
}

/// Writes the outcome into the job record; only the record's author may edit it (PUB-9).
fn plan_outcome_record(
    issue: &Issue,
    record: &JobRecord<'_>,
    result: &WorkResult,
    viewer: &Viewer,
    outcome: WorkOutcome,
    refused: Option<&str>,
) -> Option<Step> {
    let JobRecord { kind, cause, patch, epoch, retried, .. } = *record;
    let existing = issue.comments.iter().find(|comment| comment.id == *record.comment)?;
    let by: &Login = existing.author.login.as_ref()?;
    if viewer.login != *by && !viewer.holds.contains(by) || record.outcome == Some(outcome) {
        return None;
    }
    let note =
        JobNote { kind, cause, head: None, retried, outcome: Some(outcome), summary: &build_summary(result, refused) };
    let topic =
        Topic::Job { kind, cause: cause.to_owned(), patch: patch.clone(), epoch, outcome: Some(outcome), retried };
    let tag = Tag { kind: TagKind::Topic(topic), head: Sha(String::new()) };
    let why = Reason::new(RULE).with_fact(format!("{kind} for {cause} ended"));
    Some(plan_comment(Some(existing), CommentTarget::Issue(issue.number), by, tag, render::render_job_note(&note), why))
}
