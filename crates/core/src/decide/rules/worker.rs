//! Decides whether a worker starts for one cause (D4, D20, DSP-9, DSP-16, LOOP-2).
//!
//! | row | next |
//! |---|---|
//! | a person approved this head (D20) | wait for the operator |
//! | no dispatch, or nobody may push to the head (DSP-5) | wait for the author |
//! | the job's result is being delivered | wait for the worker |
//! | the job record has no outcome, and it is recent or a lease is live | wait for the worker |
//! | the job record has no outcome, and was the second start | blocked: needs human |
//! | the job record has no outcome | spawn a second time |
//! | the job record has an outcome, and the cause is still there | blocked: needs human |
//! | a fix plan for this head is recent, or a lease is live (not for `rebase`) | wait for the worker |
//! | a fix plan for this head is old (not for `rebase`) | spawn a second time |
//! | none of these | spawn |
//!
//! | limit on a spawn | result |
//! |---|---|
//! | `address-feedback`, `sr-fix` or `ci-fix` was started at as many other changes as there are rounds | blocked: round cap |
//! | `max_jobs` workers were started since the pull was reopened | blocked: round cap |

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

/// Applies the table to one cause and its job record.
pub(super) fn decide_worker<'a>(
    context: &RuleContext<'a>,
    rule: Rule,
    kind: JobKind,
    cause: String,
    record: Option<&JobRecord<'_>>,
) -> MatchedRule<'a> {
    if let Some(by) = context.facts.find_person_approval() {
        return MatchedRule::wait(rule, WaitingOn::Operator)
            .fact(format!("{by} approved this head: no worker starts at it"));
    }
    let Some(work) = pushable_dispatch_policy(context) else {
        return MatchedRule::wait(rule, WaitingOn::Author).fact("no worker may push here");
    };
    match read_job_status(context, work, record) {
        JobStatus::Running => MatchedRule::wait(rule, WaitingOn::Worker).fact(format!("a worker answers {cause}")),
        JobStatus::Ended(outcome) => block_on_failed_worker(rule, kind, &cause, outcome),
        JobStatus::Crashed => start_worker(context, work, rule, kind, cause, StartAttempt::Retry),
        JobStatus::NeverStarted => match find_newest_fix_plan(context, kind) {
            Some(at) if is_recent(context, work, at) || context.active_since.is_some() => {
                MatchedRule::wait(rule, WaitingOn::Worker).fact(format!("fix plan of {at}"))
            }
            Some(_) => start_worker(context, work, rule, kind, cause, StartAttempt::Retry),
            None => start_worker(context, work, rule, kind, cause, StartAttempt::First),
        },
    }
}

/// The state of a recorded job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JobStatus {
    NeverStarted,
    Running,
    Crashed,
    /// Ended with this outcome; `None` after a second crash.
    Ended(Option<WorkOutcome>),
}

pub(super) fn read_job_status(
    context: &RuleContext<'_>,
    work: &DispatchPolicy,
    record: Option<&JobRecord<'_>>,
) -> JobStatus {
    let Some(record) = record else { return JobStatus::NeverStarted };
    let result = context.facts.snapshot.evidence.result.as_ref();
    match record.outcome {
        _ if result.is_some_and(|it| it.kind == record.kind && it.epoch == record.epoch) => JobStatus::Running,
        // The worker pushes after it records `done`: until the lease ends it still runs.
        Some(WorkOutcome::Done) if context.active_since.is_some() => JobStatus::Running,
        Some(outcome) => JobStatus::Ended(Some(outcome)),
        None if context.active_since.is_some() || is_recent(context, work, record.at) => JobStatus::Running,
        None if record.retried => JobStatus::Ended(None),
        None => JobStatus::Crashed,
    }
}

/// Returns the dispatch policy if this pull takes part in dispatch and workers can push to it.
pub(super) fn pushable_dispatch_policy<'a>(context: &RuleContext<'a>) -> Option<&'a DispatchPolicy> {
    context.facts.dispatch_policy().filter(|_| context.facts.snapshot.pull.pushable != Some(false))
}

pub(super) fn start_worker<'a>(
    context: &RuleContext<'a>,
    work: &DispatchPolicy,
    rule: Rule,
    kind: JobKind,
    cause: String,
    attempt: StartAttempt,
) -> MatchedRule<'a> {
    let jobs = &context.facts.work;
    if work.max_jobs as usize <= jobs.jobs.len() {
        let stop = StopReason::JobLimit { jobs: jobs.jobs.len() };
        return MatchedRule::new(rule, RuleEffect::Blocked(stop))
            .fact(format!("{} workers were started here", jobs.jobs.len()));
    }
    let capped = matches!(kind, JobKind::AddressFeedback | JobKind::SrFix | JobKind::CiFix);
    let here = jobs.jobs.iter().any(|job| job.kind == kind && *job.patch == context.facts.snapshot.changes.patch);
    let heads = jobs.count_changes_with(kind);
    if capped && !here && context.facts.rounds_allowed() as usize <= heads {
        let stop = StopReason::HeadLimit { kind, heads };
        return MatchedRule::new(rule, RuleEffect::Blocked(stop))
            .fact(format!("{kind} was started at {heads} changes"));
    }
    let fact = match attempt {
        StartAttempt::First => format!("{kind} for {cause}"),
        StartAttempt::Retry => format!("{kind} for {cause}, second start"),
    };
    MatchedRule::new(rule, RuleEffect::Spawn(WorkerStart { kind, cause, attempt })).fact(fact)
}

pub(super) fn block_on_failed_worker<'a>(
    rule: Rule,
    kind: JobKind,
    cause: &str,
    outcome: Option<WorkOutcome>,
) -> MatchedRule<'a> {
    let fact = match outcome {
        Some(WorkOutcome::Done) => "done, and the cause is still there",
        Some(WorkOutcome::NothingToDo) => "found nothing to do, and the cause is still there",
        Some(WorkOutcome::NeedsHuman) => "asks for a person",
        Some(WorkOutcome::Failed) => "failed",
        None => "crashed twice",
    };
    let stop = StopReason::Worker { kind, cause: cause.to_owned(), outcome };
    MatchedRule::new(rule, RuleEffect::Blocked(stop)).fact(format!("{kind} for {cause} {fact}"))
}

fn is_recent(context: &RuleContext<'_>, work: &DispatchPolicy, at: Time) -> bool {
    context.facts.snapshot.taken_at - at <= work.wip_max_age
}

/// Returns the time of the newest fix plan for this head; `None` for `rebase`, which does not wait for one.
fn find_newest_fix_plan(context: &RuleContext<'_>, kind: JobKind) -> Option<Time> {
    let plans = (kind != JobKind::Rebase).then(|| context.facts.fix_plans())?;
    plans.iter().map(|plan| plan.at).max()
}

/// A worker to start.
pub(super) struct WorkerStart {
    kind: JobKind,
    cause: String,
    attempt: StartAttempt,
}

/// Whether the job was started before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartAttempt {
    First,
    /// The second start, after a crash. There is no third.
    Retry,
}

impl WorkerStart {
    /// Builds the job and the steps that record it on the pull once its lease is held (DSP-16).
    pub(super) fn into_job(self, context: &RuleContext<'_>, why: &Reason) -> Job {
        let (facts, snapshot) = (context.facts, context.facts.snapshot);
        let Self { kind, cause, attempt } = self;
        let retry = attempt == StartAttempt::Retry;
        let (head, patch, epoch) = (&snapshot.pull.head, &snapshot.changes.patch, facts.next_epoch());
        let note = JobNote { kind, cause: &cause, head: Some(head), retried: retry, outcome: None, summary: "" };
        let words = render::render_job_note(&note);
        let topic =
            Topic::Job { kind, cause: cause.clone(), patch: patch.clone(), epoch, outcome: None, retried: retry };
        let tag = Tag { kind: TagKind::Topic(topic), head: head.clone() };
        // Written by the fixing side's identity, which every dispatcher of the project knows.
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
