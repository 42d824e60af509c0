//! A worker's result: this module decides whether it may be pushed, `app` pushes it (DSP-14, DSP-15, DSP-16).
//!
//! | row | when | record | delivered |
//! |---|---|---|---|
//! | closed | the pull is not open | – | nothing, refused |
//! | another kind | the result is of an `impl` job, which belongs to an issue (`issue`) | – | nothing, refused |
//! | stale epoch | the pull has a lease or a record of a higher epoch | – | nothing, refused |
//! | no record | the pull has no record of a job of this type and epoch | – | nothing, refused |
//! | head moved | the worker started from another head | – | nothing, refused |
//! | taken over | the pull is paused, break-glass is used, or a person approved this head (D20) | – | nothing, refused |
//! | not done | the worker reports another outcome than `done` | that outcome | nothing |
//! | escapes | the commits add links out of the tree, submodules or hooks | needs human | nothing, refused |
//! | no commit | the worker left no commit | done | nothing |
//! | self-review | a `self-review` left a commit | done | nothing, refused |
//! | not pushable | nobody may push to the head branch | needs human | nothing, refused |
//! | commits | the commits drop or rewrite others, or are in another person's name (`commit_check`, D44) | needs human | nothing, refused |
//! | unknown | the patch-id after the commits could not be computed | needs human | nothing, refused |
//! | unchanged | the patch-id is the same as before: a rebase | done | push |
//! | protected | the pull's change, before or after the commits, touches a protected path (`protected_paths`) | needs human | nothing, refused |
//! | protected link | a link connects the pull's change with a protected path (`protected_links`) | needs human | nothing, refused |
//! | done | none of these | done | push |
//!
//! When the outcome is `done`, the self-review and the fix plan are posted too. The `wip` label is removed whenever a
//! job record exists, also after a moved head or a takeover: the worker has ended.

mod commit_check;
mod issue;
mod protected_links;
mod protected_paths;

pub use issue::{IssueDelivery, plan_issue_delivery};
pub use protected_links::{TreeEntry, find_protected_links};

use self::protected_paths::ProtectedPaths;
use super::lease::is_own_label;
use super::step::{plan_remove_label, worker_identity};
use super::topic_comment;
use crate::facts::{Facts, JobRecord};
use crate::mark::Topic;
use crate::model::snapshot::WorkOutcome;
use crate::model::{ProtectedLink, PullState, WorkResult};
use crate::plan::{Delivery, JobKind, Precondition, Reason, Refusal, Step};
use crate::policy::Policy;
use crate::render::{self, FixPlanItem, FixPlanNote, JobNote, SelfReviewNote};
use crate::rule::Rule;
use crate::track::ChangedFile;

const RULE: Rule = Rule::Deliver;

/// Decides what happens with a worker's result on this pull.
pub fn plan_delivery(facts: &Facts<'_>) -> (Option<Delivery>, Vec<Step>, Vec<Refusal>) {
    let Some(result) = &facts.snapshot.evidence.result else { return (None, Vec::new(), Vec::new()) };
    let record = match find_job_record(facts, result) {
        JobLookup::Found(record) => record,
        JobLookup::Refused(why) => return (None, Vec::new(), vec![refuse_delivery(result, why.to_owned())]),
    };
    if let Some(why) = check_overtaken(facts, result) {
        return (None, plan_wip_removal(facts).into_iter().collect(), vec![refuse_delivery(result, why)]);
    }
    let decision = decide_delivery(facts, result);
    let delivery = decision.push_commit.map(|commit| Delivery::Push {
        commit: commit.clone(),
        over: facts.snapshot.pull.head.clone(),
        epoch: result.epoch,
    });
    let mut steps = Vec::new();
    if decision.outcome == WorkOutcome::Done {
        steps.extend(plan_self_review_comment(facts, result));
        steps.extend(plan_fix_plan_comment(facts, result));
    }
    steps.extend(plan_outcome_record(facts, result, record, &decision));
    steps.extend(plan_wip_removal(facts));
    // These texts are about the head that the worker started from, so they are valid before and after its push.
    steps.iter_mut().for_each(|step| step.expect = Precondition::Nothing);
    (delivery, steps, decision.refused.map(|why| refuse_delivery(result, why)).into_iter().collect())
}

/// The job record that a result belongs to, or why there is none.
enum JobLookup<'a> {
    Found(&'a JobRecord<'a>),
    Refused(&'static str),
}

fn find_job_record<'a>(facts: &'a Facts<'_>, result: &WorkResult) -> JobLookup<'a> {
    if facts.snapshot.pull.state != PullState::Open {
        return JobLookup::Refused("the pull is not open");
    }
    if result.kind == JobKind::Impl {
        return JobLookup::Refused("it belongs to an issue");
    }
    if result.epoch < facts.highest_epoch() {
        return JobLookup::Refused("its lease was taken over");
    }
    let mut jobs = facts.work.jobs.iter().rev();
    let record = jobs.find(|job| job.kind == result.kind && job.epoch == result.epoch);
    record.map_or(JobLookup::Refused("there is no record of this job"), JobLookup::Found)
}

fn check_overtaken(facts: &Facts<'_>, result: &WorkResult) -> Option<String> {
    let head = &facts.snapshot.pull.head;
    if result.started_at != *head {
        return Some(format!("the head moved from {} to {}", result.started_at.short(), head.short()));
    }
    if let Some(by) = facts.paused_by {
        return Some(format!("{} paused this pull", by.display_name()));
    }
    if let Some(glass) = facts.break_glass {
        return Some(format!("{} broke the glass at this change", glass.by.display_name()));
    }
    facts.find_person_approval().map(|by| format!("{by} approved this head"))
}

/// The decision about a result that no row above refused.
struct DeliveryDecision<'a> {
    outcome: WorkOutcome,
    push_commit: Option<&'a crate::model::Sha>,
    refused: Option<String>,
}

fn decide_delivery<'a>(facts: &Facts<'_>, result: &'a WorkResult) -> DeliveryDecision<'a> {
    let ended = |outcome| DeliveryDecision { outcome, push_commit: None, refused: None };
    let needs_human =
        |why: String| DeliveryDecision { outcome: WorkOutcome::NeedsHuman, push_commit: None, refused: Some(why) };
    if result.outcome != WorkOutcome::Done {
        return ended(result.outcome);
    }
    if let Some(path) = result.escapes.first() {
        return needs_human(format!("`{path}` leaves the tree"));
    }
    let Some(commit) = result.head.as_ref().filter(|commit| **commit != result.started_at) else {
        return ended(WorkOutcome::Done);
    };
    if result.kind == JobKind::SelfReview {
        return DeliveryDecision {
            refused: Some("a self-review pushes nothing".to_owned()),
            ..ended(WorkOutcome::Done)
        };
    }
    if facts.snapshot.pull.pushable == Some(false) {
        return needs_human("the head cannot be pushed to".to_owned());
    }
    if let Some(why) = commit_check::refuse_commits(result) {
        return needs_human(why);
    }
    let changes = &facts.snapshot.changes;
    let Some(patch) = &result.patch else {
        return needs_human("its patch-id could not be computed".to_owned());
    };
    let touched = || find_protected(facts.policy, result, result.files.iter().chain(&changes.files));
    match (*patch != changes.patch).then(touched).flatten() {
        Some(why) => needs_human(why),
        None => DeliveryDecision { push_commit: Some(commit), ..ended(WorkOutcome::Done) },
    }
}

/// Returns which protected path a change touches, by its name or through a link.
fn find_protected<'a>(
    policy: &Policy,
    result: &WorkResult,
    files: impl Iterator<Item = &'a ChangedFile>,
) -> Option<String> {
    if let Some(path) = ProtectedPaths::new(policy).find(files) {
        return Some(format!("`{path}` is protected"));
    }
    let ProtectedLink { path, protected } = result.audit.as_ref()?.protected_links.first()?;
    Some(format!("a link connects `{path}` with `{protected}`, which is protected"))
}

fn plan_outcome_record(
    facts: &Facts<'_>,
    result: &WorkResult,
    record: &JobRecord<'_>,
    decision: &DeliveryDecision<'_>,
) -> Option<Step> {
    let JobRecord { kind, cause, patch, epoch, retried, .. } = *record;
    let note = JobNote {
        kind,
        cause,
        head: Some(&facts.snapshot.pull.head),
        retried,
        outcome: Some(decision.outcome),
        summary: &build_summary(result, decision.refused.as_deref()),
    };
    let outcome = Some(decision.outcome);
    let topic = Topic::Job { kind, cause: cause.to_owned(), patch: patch.clone(), epoch, outcome, retried };
    let why = Reason::new(RULE).with_fact(format!("{kind} for {cause} ended"));
    topic_comment::ensure(facts, &facts.snapshot.viewer.login, topic, render::render_job_note(&note), why)
}

fn plan_self_review_comment(facts: &Facts<'_>, result: &WorkResult) -> Option<Step> {
    if result.kind != JobKind::SelfReview {
        return None;
    }
    let clean = result.clean == Some(true);
    let note = SelfReviewNote { head: &facts.snapshot.pull.head, clean, notes: &result.summary };
    let why = Reason::new(RULE).with_fact("self-review");
    topic_comment::ensure(
        facts,
        worker_identity(facts),
        Topic::SelfReview { clean },
        render::render_self_review(&note),
        why,
    )
}

fn plan_fix_plan_comment(facts: &Facts<'_>, result: &WorkResult) -> Option<Step> {
    if result.plan.is_empty() {
        return None;
    }
    let items = result.plan.iter().map(|it| FixPlanItem { about: it.about, plan: &it.plan });
    let note = FixPlanNote { head: &facts.snapshot.pull.head, items: items.collect() };
    let why = Reason::new(RULE).with_fact("fix plan");
    topic_comment::ensure(facts, worker_identity(facts), Topic::FixPlan, render::render_fix_plan(&note), why)
}

fn plan_wip_removal(facts: &Facts<'_>) -> Option<Step> {
    let work = facts.policy.work.as_ref()?;
    let label = facts.snapshot.pull.label(&work.wip).filter(|label| is_own_label(facts, label))?;
    Some(plan_remove_label(worker_identity(facts), &label.name, Reason::new(RULE).with_fact("the worker has ended")))
}

/// Joins the reason of a refused delivery, or the places where a rebase solved conflicts, with the worker's summary.
fn build_summary(result: &WorkResult, refused: Option<&str>) -> String {
    if let Some(why) = refused {
        return format!("Not delivered: {why}.\n\n{}", result.summary);
    }
    let rebase = result.audit.as_ref().and_then(|audit| audit.rebase.as_ref());
    let solved = rebase.map(|rebase| rebase.conflicts.as_slice()).unwrap_or_default();
    if solved.is_empty() || result.outcome != WorkOutcome::Done {
        return result.summary.clone();
    }
    let named: Vec<String> = solved.iter().take(MAX_NAMED_CONFLICTS).map(|path| format!("`{path}`")).collect();
    let more = solved.len().saturating_sub(MAX_NAMED_CONFLICTS);
    let more = if more > 0 { format!(" and {more} more files") } else { String::new() };
    format!("The worker solved conflicts in {}{more}: read these places again.\n\n{}", named.join(", "), result.summary)
}

/// How many conflicting files the record of a rebase names.
const MAX_NAMED_CONFLICTS: usize = 20;

fn refuse_delivery(result: &WorkResult, why: String) -> Refusal {
    Refusal { what: format!("deliver the result of {}", result.kind), why: Reason::new(RULE).with_fact(why) }
}
