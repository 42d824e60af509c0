//! Whether a worker starts for one cause (D4, D20, DSP-9, DSP-16, LOOP-2).
//!
//! | row | next |
//! |---|---|
//! | a person approved this very head (D20) | wait for the operator |
//! | no workers here, or the head cannot be pushed to (DSP-5) | wait for the author |
//! | its result is here, and is delivered now | wait for the worker |
//! | its record has no outcome and is young, or somebody works here | wait for the worker |
//! | its record has no outcome, and was a second start | blocked: needs human |
//! | its record has no outcome | spawn, a second time |
//! | its record has an outcome, and the cause is still there | blocked: needs human |
//! | a fix plan for this head is young, or somebody works here (not for `rebase`) | wait for the worker |
//! | a fix plan for this head is old (not for `rebase`) | spawn, a second time |
//! | none of these | spawn |
//!
//! | a spawn | becomes |
//! |---|---|
//! | of `address-feedback`, `sr-fix` or `ci-fix`, started at as many other changes as there are rounds | blocked: round cap |
//! | when `max_jobs` workers were started since the reopen | blocked: round cap |

use super::super::step::{plan_add_label, plan_comment, worker_identity};
use super::{MatchedRule, RuleContext, RuleEffect};
use crate::facts::JobRecord;
use crate::mark::{Tag, TagKind, Topic};
use crate::model::Time;
use crate::model::snapshot::WorkOutcome;
use crate::plan::{CommentTarget, Job, JobKind, Reason, WaitingOn};
use crate::policy::DispatchPolicy;
use crate::render::{self, JobNote, StopReason};
use crate::rule::Rule;

/// The whole table for one cause, with the record that answers it.
pub(super) fn decide_worker<'a>(
    case: &RuleContext<'a>,
    rule: Rule,
    kind: JobKind,
    cause: String,
    record: Option<&JobRecord<'_>>,
) -> MatchedRule<'a> {
    if let Some(by) = case.facts.find_person_approval() {
        return MatchedRule::wait(rule, WaitingOn::Operator)
            .fact(format!("{by} approved this head: no worker starts at it"));
    }
    let Some(work) = pushable_dispatch_policy(case) else {
        return MatchedRule::wait(rule, WaitingOn::Author).fact("no worker may push here");
    };
    match read_job_status(case, work, record) {
        JobStatus::Running => MatchedRule::wait(rule, WaitingOn::Worker).fact(format!("a worker answers {cause}")),
        JobStatus::Ended(outcome) => block_on_failed_worker(rule, kind, &cause, outcome),
        JobStatus::Crashed => start_worker(case, work, rule, kind, cause, StartAttempt::Retry),
        JobStatus::NeverStarted => match find_newest_fix_plan(case, kind) {
            Some(at) if is_recent(case, work, at) || case.active_since.is_some() => {
                MatchedRule::wait(rule, WaitingOn::Worker).fact(format!("fix plan of {at}"))
            }
            Some(_) => start_worker(case, work, rule, kind, cause, StartAttempt::Retry),
            None => start_worker(case, work, rule, kind, cause, StartAttempt::First),
        },
    }
}

/// What became of the worker that a record tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobStatus {
    NeverStarted,
    Running,
    Crashed,
    /// With this outcome; `None` after a second crash.
    Ended(Option<WorkOutcome>),
}

pub(super) fn read_job_status(
    case: &RuleContext<'_>,
    work: &DispatchPolicy,
    record: Option<&JobRecord<'_>>,
) -> JobStatus {
    let Some(record) = record else { return JobStatus::NeverStarted };
    let result = case.facts.snapshot.evidence.result.as_ref();
    match record.outcome {
        _ if result.is_some_and(|it| it.kind == record.kind && it.epoch == record.epoch) => JobStatus::Running,
        // Its push comes after its word: till the lease ends, that word is not its last.
        Some(WorkOutcome::Done) if case.active_since.is_some() => JobStatus::Running,
        Some(outcome) => JobStatus::Ended(Some(outcome)),
        None if case.active_since.is_some() || is_recent(case, work, record.at) => JobStatus::Running,
        None if record.retried => JobStatus::Ended(None),
        None => JobStatus::Crashed,
    }
}

/// Dispatch, if this pull takes part in it and workers can deliver to it.
pub(super) fn pushable_dispatch_policy<'a>(case: &RuleContext<'a>) -> Option<&'a DispatchPolicy> {
    case.facts.dispatch_policy().filter(|_| case.facts.snapshot.pull.pushable != Some(false))
}

pub(super) fn start_worker<'a>(
    case: &RuleContext<'a>,
    work: &DispatchPolicy,
    rule: Rule,
    kind: JobKind,
    cause: String,
    go: StartAttempt,
) -> MatchedRule<'a> {
    let jobs = &case.facts.work;
    if work.max_jobs as usize <= jobs.jobs.len() {
        let stop = StopReason::JobLimit { jobs: jobs.jobs.len() };
        return MatchedRule::new(rule, RuleEffect::Blocked(stop))
            .fact(format!("{} workers were started here", jobs.jobs.len()));
    }
    let capped = matches!(kind, JobKind::AddressFeedback | JobKind::SrFix | JobKind::CiFix);
    let here = jobs.jobs.iter().any(|job| job.kind == kind && *job.patch == case.facts.snapshot.changes.patch);
    let heads = jobs.count_changes_with(kind);
    if capped && !here && case.facts.rounds_allowed() as usize <= heads {
        let stop = StopReason::HeadLimit { kind, heads };
        return MatchedRule::new(rule, RuleEffect::Blocked(stop))
            .fact(format!("{kind} was started at {heads} changes"));
    }
    let told = match go {
        StartAttempt::First => format!("{kind} for {cause}"),
        StartAttempt::Retry => format!("{kind} for {cause}, a second time"),
    };
    MatchedRule::new(rule, RuleEffect::Spawn(WorkerStart { kind, cause, attempt: go })).fact(told)
}

pub(super) fn block_on_failed_worker<'a>(
    rule: Rule,
    kind: JobKind,
    cause: &str,
    outcome: Option<WorkOutcome>,
) -> MatchedRule<'a> {
    let told = match outcome {
        Some(WorkOutcome::Done) => "done, and the cause is still there",
        Some(WorkOutcome::NothingToDo) => "found nothing to do, and the cause is still there",
        Some(WorkOutcome::NeedsHuman) => "asks for a person",
        Some(WorkOutcome::Failed) => "failed",
        None => "went away twice",
    };
    let stop = StopReason::Worker { kind, cause: cause.to_owned(), outcome };
    MatchedRule::new(rule, RuleEffect::Blocked(stop)).fact(format!("{kind} for {cause} {told}"))
}

fn is_recent(case: &RuleContext<'_>, work: &DispatchPolicy, at: Time) -> bool {
    case.facts.snapshot.taken_at - at <= work.wip_max_age
}

/// The newest fix plan for this head, where the rule waits for it.
fn find_newest_fix_plan(case: &RuleContext<'_>, kind: JobKind) -> Option<Time> {
    let plans = (kind != JobKind::Rebase).then(|| case.facts.fix_plans())?;
    plans.iter().map(|plan| plan.at).max()
}

/// A worker that may start.
pub(super) struct WorkerStart {
    kind: JobKind,
    cause: String,
    attempt: StartAttempt,
}

/// Whether it was started before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartAttempt {
    First,
    /// After a crash: the second start is the last.
    Retry,
}

impl WorkerStart {
    /// The job, with what is written on the pull once its lease is held (DSP-16).
    pub(super) fn into_job(self, case: &RuleContext<'_>, why: &Reason) -> Job {
        let (facts, snapshot) = (case.facts, case.facts.snapshot);
        let Self { kind, cause, attempt: go } = self;
        let retry = go == StartAttempt::Retry;
        let (head, patch, epoch) = (&snapshot.pull.head, &snapshot.changes.patch, facts.next_epoch());
        let note = JobNote { kind, cause: &cause, head: Some(head), retried: retry, outcome: None, summary: "" };
        let words = render::render_job_note(&note);
        let topic =
            Topic::Job { kind, cause: cause.clone(), patch: patch.clone(), epoch, outcome: None, retried: retry };
        let tag = Tag { kind: TagKind::Topic(topic), head: head.clone() };
        // By the one identity that every dispatcher of the project knows, whoever else it is.
        let mut record = vec![plan_comment(None, CommentTarget::Pull, worker_identity(facts), tag, words, why.clone())];
        if let Some(work) = facts.dispatch_policy() {
            record.push(plan_add_label(worker_identity(facts), &work.wip, why.clone()));
        }
        Job {
            kind,
            number: snapshot.pull.number.0,
            head: Some(head.clone()),
            patch: patch.clone(),
            cause,
            retry,
            epoch,
            record,
        }
    }
}
