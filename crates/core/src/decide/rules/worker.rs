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

use super::super::step::{comment, label_on, worker_identity};
use super::{Case, Ruled, Says};
use crate::facts::JobRecord;
use crate::mark::{Tag, TagKind, Topic};
use crate::model::Time;
use crate::model::snapshot::WorkOutcome;
use crate::plan::{Job, JobKind, OnWhom, Reason, Target};
use crate::policy::Work;
use crate::render::{self, JobNote, Stop};

/// The whole table for one cause, with the record that answers it.
pub(super) fn worker<'a>(
    case: &Case<'a>,
    rule: &'static str,
    kind: JobKind,
    cause: String,
    record: Option<&JobRecord<'_>>,
) -> Ruled<'a> {
    if let Some(by) = case.facts.approved_by_person() {
        return Ruled::wait(rule, OnWhom::Operator).fact(format!("{by} approved this head: no worker starts at it"));
    }
    let Some(work) = workers(case) else {
        return Ruled::wait(rule, OnWhom::Author).fact("no worker may push here");
    };
    match past(case, work, record) {
        Past::Running => Ruled::wait(rule, OnWhom::Worker).fact(format!("a worker answers {cause}")),
        Past::Ended(outcome) => could_not(rule, kind, &cause, outcome),
        Past::Crashed => start(case, work, rule, kind, cause, Go::Again),
        Past::Never => match plan(case, kind) {
            Some(at) if is_young(case, work, at) || case.active.is_some() => {
                Ruled::wait(rule, OnWhom::Worker).fact(format!("fix plan of {at}"))
            }
            Some(_) => start(case, work, rule, kind, cause, Go::Again),
            None => start(case, work, rule, kind, cause, Go::First),
        },
    }
}

/// What became of the worker that a record tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Past {
    Never,
    Running,
    Crashed,
    /// With this outcome; `None` after a second crash.
    Ended(Option<WorkOutcome>),
}

pub(super) fn past(case: &Case<'_>, work: &Work, record: Option<&JobRecord<'_>>) -> Past {
    let Some(record) = record else { return Past::Never };
    let result = case.facts.snapshot.evidence.result.as_ref();
    match record.outcome {
        _ if result.is_some_and(|it| it.kind == record.kind && it.epoch == record.epoch) => Past::Running,
        // Its push comes after its word: till the lease ends, that word is not its last.
        Some(WorkOutcome::Done) if case.active.is_some() => Past::Running,
        Some(outcome) => Past::Ended(Some(outcome)),
        None if case.active.is_some() || is_young(case, work, record.at) => Past::Running,
        None if record.retried => Past::Ended(None),
        None => Past::Crashed,
    }
}

/// Dispatch, if this pull takes part in it and workers can deliver to it.
pub(super) fn workers<'a>(case: &Case<'a>) -> Option<&'a Work> {
    case.facts.work_here().filter(|_| case.facts.snapshot.pull.pushable != Some(false))
}

pub(super) fn start<'a>(
    case: &Case<'a>,
    work: &Work,
    rule: &'static str,
    kind: JobKind,
    cause: String,
    go: Go,
) -> Ruled<'a> {
    let jobs = &case.facts.work;
    if work.max_jobs as usize <= jobs.jobs.len() {
        let stop = Stop::Jobs { jobs: jobs.jobs.len() };
        return Ruled::new(rule, Says::Blocked(stop)).fact(format!("{} workers were started here", jobs.jobs.len()));
    }
    let capped = matches!(kind, JobKind::AddressFeedback | JobKind::SrFix | JobKind::CiFix);
    let here = jobs.jobs.iter().any(|job| job.kind == kind && *job.patch == case.facts.snapshot.changes.patch);
    let heads = jobs.heads_of(kind);
    if capped && !here && case.facts.rounds_allowed() as usize <= heads {
        let stop = Stop::Heads { kind, heads };
        return Ruled::new(rule, Says::Blocked(stop)).fact(format!("{kind} was started at {heads} changes"));
    }
    let told = match go {
        Go::First => format!("{kind} for {cause}"),
        Go::Again => format!("{kind} for {cause}, a second time"),
    };
    Ruled::new(rule, Says::Spawn(Start { kind, cause, go })).fact(told)
}

pub(super) fn could_not<'a>(rule: &'static str, kind: JobKind, cause: &str, outcome: Option<WorkOutcome>) -> Ruled<'a> {
    let told = match outcome {
        Some(WorkOutcome::Done) => "done, and the cause is still there",
        Some(WorkOutcome::NothingToDo) => "found nothing to do, and the cause is still there",
        Some(WorkOutcome::NeedsHuman) => "asks for a person",
        Some(WorkOutcome::Failed) => "failed",
        None => "went away twice",
    };
    let stop = Stop::Worker { kind, cause: cause.to_owned(), outcome };
    Ruled::new(rule, Says::Blocked(stop)).fact(format!("{kind} for {cause} {told}"))
}

fn is_young(case: &Case<'_>, work: &Work, at: Time) -> bool {
    case.facts.snapshot.taken_at - at <= work.wip_max_age
}

/// The newest fix plan for this head, where the rule waits for it.
fn plan(case: &Case<'_>, kind: JobKind) -> Option<Time> {
    let plans = (kind != JobKind::Rebase).then(|| case.facts.fix_plans())?;
    plans.iter().map(|plan| plan.at).max()
}

/// A worker that may start.
pub(super) struct Start {
    kind: JobKind,
    cause: String,
    go: Go,
}

/// Whether it was started before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Go {
    First,
    /// After a crash: the second start is the last.
    Again,
}

impl Start {
    /// The job, with what is written on the pull once its lease is held (DSP-16).
    pub(super) fn job(self, case: &Case<'_>, why: &Reason) -> Job {
        let (facts, snapshot) = (case.facts, case.facts.snapshot);
        let Self { kind, cause, go } = self;
        let retry = go == Go::Again;
        let (head, patch, epoch) = (&snapshot.pull.head, &snapshot.changes.patch, facts.next_epoch());
        let note = JobNote { kind, cause: &cause, head: Some(head), retried: retry, outcome: None, summary: "" };
        let words = render::job(&note);
        let topic =
            Topic::Job { kind, cause: cause.clone(), patch: patch.clone(), epoch, outcome: None, retried: retry };
        let tag = Tag { kind: TagKind::Topic(topic), head: head.clone() };
        // By the one identity that every dispatcher of the project knows, whoever else it is.
        let mut record = vec![comment(None, Target::Pull, worker_identity(facts), tag, words, why.clone())];
        if let Some(work) = facts.work_here() {
            record.push(label_on(worker_identity(facts), &work.wip, why.clone()));
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
