//! What an `impl` worker left: a branch that is opened as a pull (DSP-18).
//!
//! | row | when | record | delivered |
//! |---|---|---|---|
//! | another place | it is of no `impl` | – | nothing, refused |
//! | stale epoch | a lease or a record of a higher epoch is here | – | nothing, refused |
//! | no record | no `impl` of this epoch was recorded on the issue | – | nothing, refused |
//! | not done | its own word is not `done` | that word, unassigned | nothing |
//! | no commit | it left none | failed, unassigned | nothing, refused |
//! | escapes | it added links out of the tree, submodules or hooks | needs human, unassigned | nothing, refused |
//! | protected | it touches what no worker may touch (`paths`) | needs human, unassigned | nothing, refused |
//! | done | none of these | done | a pull from `referee/issue-<n>` |

use super::super::step::{plan_assignment, plan_comment};
use super::{RULE, build_summary, protected_paths, refuse_delivery};
use crate::facts::{JobRecord, jobs_on_issue};
use crate::mark::{Tag, TagKind, Topic};
use crate::model::snapshot::WorkOutcome;
use crate::model::{Issue, Lease, Login, Sha, Viewer, WorkResult};
use crate::plan::{CommentTarget, Delivery, JobKind, Reason, Refusal, Step};
use crate::policy::Policy;
use crate::render::{self, JobNote, PullDescription};

/// What becomes of a worker's result.
#[derive(Debug, Default)]
pub struct IssueDelivery {
    /// What may be pushed and opened.
    pub delivery: Option<Delivery>,
    /// What is written on the issue.
    pub steps: Vec<Step>,
    /// What was considered and not done.
    pub refused: Vec<Refusal>,
}

/// What becomes of an `impl` worker's result, on its issue, under the issue's lease.
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
        "no such job was recorded here"
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
        let why = Reason::new(RULE).with_fact("no pull came of it");
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
    match protected_paths::find_protected_path(policy, result.files.iter()) {
        Some(path) => (WorkOutcome::NeedsHuman, Some(format!("`{path}` is protected"))),
        None => (WorkOutcome::Done, None),
    }
}

fn plan_open_pull(issue: &Issue, result: &WorkResult, commit: &Sha) -> Delivery {
    let (title, body) = result.pull.as_ref().map_or(("", ""), |(title, body)| (title, body));
    let (title, body) = render::render_pull_description(&PullDescription { issue: issue.number, title, body });
    let branch = format!("referee/issue-{}", issue.number.0);
    Delivery::OpenPull { branch, commit: commit.clone(), title, body, epoch: result.epoch }
}

/// The record with its outcome; only its author may edit it (PUB-9).
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
