//! Decisions for a whole repository: one worker per pass, handoffs, and the next issue (DSP-3, DSP-11, DSP-18).
//!
//! Over the pulls, by ascending number; the lines stand in the order of this table, which is the order in which a pass
//! makes them true:
//!
//! | plan | protocol line |
//! |---|---|
//! | steps hand the pull off now | HANDOFF with the number |
//! | the first that needs a worker | SPAWN with type, number and head |
//! | any other | none; its reason is listed |
//!
//! | rule | when | then |
//! |---|---|---|
//! | `left-aside` | the project ignores the pull | no line; the pull still counts as open |
//! | `issue` (11) | no pull is open, and no job runs | the next issue, if there is one |
//!
//! Rule 11 in full:
//!
//! | row | when | outcome |
//! |---|---|---|
//! | pulls are open | at least one, ignored ones included | none |
//! | work is under way | a live lease on an issue, or a recent record without outcome | none |
//! | an issue is available | unassigned and not skipped; bugs first, then by number | SPAWN with `impl` and the number |
//! | no issue is available | | none |
//!
//! | newest `impl` record of an issue | result |
//! |---|---|
//! | none | eligible, if unassigned |
//! | any, followed by a person's comment | eligible |
//! | crashed or failed, the first time | eligible a second time |
//! | anything else | skipped |
//! | unknown, since its comments could not be read whole (D43) | skipped |

use std::fmt;

use super::step::{plan_assignment, plan_comment};
use crate::facts::{JobRecord, is_own_or_worker, jobs_on_issue};
use crate::mark::{Tag, TagKind, Topic};
use crate::model::snapshot::WorkOutcome;
use crate::model::{Board, Issue, PullNumber, Sha, Viewer};
use crate::plan::{CommentTarget, Job, JobKind, Next, Plan, Reason};
use crate::policy::{DispatchPolicy, Policy};
use crate::render::{self, JobNote};
use crate::rule::Rule;
use crate::track::PatchId;

/// The result of one pass over a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The printed lines, in this order.
    pub lines: Vec<ProtocolLine>,
    /// The worker to start, at most one per pass. Its record is applied once its lease is held.
    pub spawn: Option<Job>,
    /// The reason for each open pull's state.
    pub reasons: Vec<(PullNumber, Reason)>,
    /// Why an issue was taken, or why none was.
    pub issue_reason: Reason,
}

/// A line of the dispatch protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolLine {
    /// A worker must start.
    Spawn {
        kind: JobKind,
        /// The pull's or issue's number.
        number: u64,
        /// The head; `None` for an issue.
        sha: Option<Sha>,
    },
    /// A pull is handed to a person.
    Handoff(PullNumber),
}

/// Decides one pass over a repository from the plans of its pulls.
pub fn schedule(board: &Board, plans: &[Plan], policy: &Policy, viewer: &Viewer) -> Pass {
    let mut plans: Vec<&Plan> = plans.iter().collect();
    plans.sort_by_key(|plan| plan.pull);
    let mut pass = Pass {
        lines: Vec::new(),
        spawn: None,
        reasons: collect_reasons(board, &plans),
        issue_reason: Reason::new(Rule::Issue),
    };
    let ready = plans.iter().filter(|plan| matches!(plan.next, Next::Ready) && hands_off(plan));
    pass.lines.extend(ready.map(|plan| ProtocolLine::Handoff(plan.pull)));
    let first_job = plans.iter().find_map(|plan| match &plan.next {
        Next::Spawn(job) => Some(Job::clone(job)),
        _ => None,
    });
    if let Some(job) = first_job {
        pass.add_spawn(job);
    }
    let Some(work) = &policy.work else { return pass };
    if !board.pulls.is_empty() || !plans.is_empty() {
        pass.issue_reason = pass.issue_reason.with_fact("pulls are open");
    } else if let Some(number) = find_issue_in_progress(board, work, policy, viewer) {
        pass.issue_reason = pass.issue_reason.with_fact(format!("work is under way on {number}"));
    } else if let Some((issue, jobs)) = pick_issue(board, work, policy, viewer) {
        pass.name_unread_issues(board);
        pass.issue_reason = pass.issue_reason.with_fact(format!("{} is next", issue.number));
        let job = build_impl_job(board, work, viewer, issue, &jobs, &pass.issue_reason);
        pass.add_spawn(job);
    } else {
        pass.issue_reason = pass.issue_reason.with_fact("no issue is available");
        pass.name_unread_issues(board);
    }
    pass
}

fn collect_reasons(board: &Board, plans: &[&Plan]) -> Vec<(PullNumber, Reason)> {
    let ignored = board.pulls.iter().filter(|number| !plans.iter().any(|plan| plan.pull == **number));
    let ignored = ignored.map(|number| (*number, Reason::new(Rule::LeftAside)));
    let mut reasons: Vec<_> = plans.iter().map(|plan| (plan.pull, plan.why.clone())).chain(ignored).collect();
    reasons.sort_by_key(|(number, _)| *number);
    reasons
}

/// Returns whether a plan records a handoff.
fn hands_off(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| matches!(step.topic(), Some(Topic::Ready { .. })))
}

fn find_issue_in_progress(
    board: &Board,
    work: &DispatchPolicy,
    policy: &Policy,
    viewer: &Viewer,
) -> Option<crate::model::IssueNumber> {
    let leased = board.leases.iter().find(|(_, lease)| board.taken_at < lease.until).map(|(number, _)| *number);
    let recorded = || {
        let mut issues = board.issues.iter();
        issues.find(|issue| jobs_on_issue(issue, policy, viewer).last().is_some_and(|job| is_running(board, work, job)))
    };
    leased.or_else(|| recorded().map(|issue| issue.number))
}

fn is_running(board: &Board, work: &DispatchPolicy, job: &JobRecord<'_>) -> bool {
    job.outcome.is_none() && board.taken_at - job.at <= work.wip_max_age
}

fn pick_issue<'a>(
    board: &'a Board,
    work: &DispatchPolicy,
    policy: &Policy,
    viewer: &Viewer,
) -> Option<(&'a Issue, Vec<JobRecord<'a>>)> {
    let records = board.issues.iter().map(|issue| (issue, jobs_on_issue(issue, policy, viewer)));
    let free = records.filter(|(issue, jobs)| {
        // A worker that disappeared leaves its assignment behind.
        let is_stale = !jobs.is_empty() && issue.assignees.iter().all(|who| *who == work.user);
        !issue.is_unread && (issue.assignees.is_empty() || is_stale) && !is_skipped(issue, jobs, policy, viewer)
    });
    free.min_by_key(|(issue, _)| (!issue.labels.iter().any(|label| label.name == work.bug), issue.number))
}

fn is_skipped(issue: &Issue, jobs: &[JobRecord<'_>], policy: &Policy, viewer: &Viewer) -> bool {
    let Some(last) = jobs.last() else { return false };
    let may_retry = matches!(last.outcome, None | Some(WorkOutcome::Failed)) && !last.retried;
    !may_retry && !has_later_person_comment(issue, last, policy, viewer)
}

fn has_later_person_comment(issue: &Issue, last: &JobRecord<'_>, policy: &Policy, viewer: &Viewer) -> bool {
    // Compare by position: timestamps have a resolution of one second.
    let after = issue.comments.iter().skip_while(|comment| comment.id != *last.comment).skip(1);
    let mut people = after.map(|comment| &comment.author).filter(|author| !author.bot);
    people.any(|author| author.login.as_ref().is_some_and(|login| !is_own_or_worker(viewer, policy, login)))
}

fn build_impl_job(
    board: &Board,
    work: &DispatchPolicy,
    viewer: &Viewer,
    issue: &Issue,
    jobs: &[JobRecord<'_>],
    why: &Reason,
) -> Job {
    let (kind, patch, target) = (JobKind::Impl, PatchId::default(), CommentTarget::Issue(issue.number));
    let cause = format!("issue:{}", issue.number.0);
    let retry =
        jobs.last().is_some_and(|last| !last.retried && matches!(last.outcome, None | Some(WorkOutcome::Failed)));
    let leases = board.leases.iter().filter(|(number, _)| *number == issue.number).map(|(_, lease)| lease.epoch);
    let epoch = jobs.iter().map(|job| job.epoch).chain(leases).max().unwrap_or(0).saturating_add(1);
    let note = JobNote { kind, cause: &cause, head: None, retried: retry, outcome: None, summary: "" };
    let text = render::render_job_note(&note);
    let topic = Topic::Job { kind, cause: cause.clone(), patch: patch.clone(), epoch, outcome: None, retried: retry };
    let tag = Tag { kind: TagKind::Topic(topic), head: Sha(String::new()) };
    let by = if viewer.holds.contains(&work.user) { &work.user } else { &viewer.login };
    // The record comes first: an assignment without a record could not be attributed to a job.
    let record = vec![
        plan_comment(None, target, by, tag, text, why.clone()),
        plan_assignment(target, by, Some(&work.user), why.clone()),
    ];
    Job { kind, number: issue.number.0, head: None, patch, cause, retry, epoch, record }
}

impl Pass {
    fn name_unread_issues(&mut self, board: &Board) {
        for issue in board.issues.iter().filter(|issue| issue.is_unread) {
            let fact = format!("{} is passed over: its comments could not be read whole", issue.number);
            self.issue_reason = self.issue_reason.clone().with_fact(fact);
        }
    }

    fn add_spawn(&mut self, job: Job) {
        self.lines.push(ProtocolLine::Spawn { kind: job.kind, number: job.number, sha: job.head.clone() });
        self.spawn = Some(job);
    }
}

impl fmt::Display for ProtocolLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn { kind, number, sha } => {
                write!(f, "SPAWN:{kind}:{number}:{}", sha.as_ref().map_or("", Sha::as_str))
            }
            Self::Handoff(pull) => write!(f, "HANDOFF:{}", pull.0),
        }
    }
}
