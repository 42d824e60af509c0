//! What a worker left: checked here, pushed elsewhere (DSP-14, DSP-15, DSP-16).
//!
//! | row | when | record | delivered |
//! |---|---|---|---|
//! | closed | the pull is not open | – | nothing, refused |
//! | another place | it is of an `impl`: that belongs to an issue (`issue`) | – | nothing, refused |
//! | stale epoch | a lease or a record of a higher epoch is here | – | nothing, refused |
//! | no record | no job of this type and epoch was recorded here | – | nothing, refused |
//! | head moved | it started from another head | – | nothing, refused |
//! | taken over | paused, broken glass, or a person approved this head (D20) | – | nothing, refused |
//! | not done | its own word is not `done` | that word | nothing |
//! | escapes | it added links out of the tree, submodules or hooks | needs human | nothing, refused |
//! | no commit | it left none | done | nothing |
//! | words only | a `self-review` left one | done | nothing, refused |
//! | not pushable | the head cannot be pushed to | needs human | nothing, refused |
//! | unknown | nobody could say what the change is after it | needs human | nothing, refused |
//! | unchanged | the change after it is the change before it: a rebase | done | push |
//! | protected | the change, before or after it, touches what no worker may touch (`paths`) | needs human | nothing, refused |
//! | done | none of these | done | push |
//!
//! With a record the self-review and the fix plan are written too, if it is done, and `wip` is taken off. So it is
//! after a moved head or a person's word: the worker has ended.

mod issue;
mod paths;

pub use issue::{Delivered, deliver_issue};

use super::lease::is_own;
use super::step::{label_off, worker_identity};
use super::topic;
use crate::facts::{Facts, JobRecord};
use crate::mark::Topic;
use crate::model::snapshot::WorkOutcome;
use crate::model::{PullState, WorkResult};
use crate::plan::{Delivery, Expect, JobKind, Reason, Refusal, Step};
use crate::render::{self, Fix, FixPlan, JobNote, SelfReview};

const RULE: &str = "deliver";

/// What becomes of a worker's result on this pull.
pub fn deliver(facts: &Facts<'_>) -> (Option<Delivery>, Vec<Step>, Vec<Refusal>) {
    let Some(result) = &facts.snapshot.evidence.result else { return (None, Vec::new(), Vec::new()) };
    let record = match recorded(facts, result) {
        Place::Job(record) => record,
        Place::Another(why) => return (None, Vec::new(), vec![refuse(result, why.to_owned())]),
    };
    if let Some(why) = overtaken(facts, result) {
        return (None, wip_off(facts).into_iter().collect(), vec![refuse(result, why)]);
    }
    let fate = fate(facts, result);
    let delivery = fate.push.map(|commit| Delivery::Push {
        commit: commit.clone(),
        over: facts.snapshot.pull.head.clone(),
        epoch: result.epoch,
    });
    let mut steps = Vec::new();
    if fate.outcome == WorkOutcome::Done {
        steps.extend(self_review(facts, result));
        steps.extend(fix_plan(facts, result));
    }
    steps.extend(outcome(facts, result, record, &fate));
    steps.extend(wip_off(facts));
    // They tell of the head that the worker started from, and hold whether its push comes before or after them.
    steps.iter_mut().for_each(|step| step.expect = Expect::Nothing);
    (delivery, steps, fate.refused.map(|why| refuse(result, why)).into_iter().collect())
}

/// Where a result belongs.
enum Place<'a> {
    Job(&'a JobRecord<'a>),
    Another(&'static str),
}

fn recorded<'a>(facts: &'a Facts<'_>, result: &WorkResult) -> Place<'a> {
    if facts.snapshot.pull.state != PullState::Open {
        return Place::Another("the pull is not open");
    }
    if result.kind == JobKind::Impl {
        return Place::Another("it belongs to an issue");
    }
    if result.epoch < facts.known_epoch() {
        return Place::Another("its lease was taken over");
    }
    let mut jobs = facts.work.jobs.iter().rev();
    let found = jobs.find(|job| job.kind == result.kind && job.epoch == result.epoch);
    found.map_or(Place::Another("no such job was recorded here"), Place::Job)
}

fn overtaken(facts: &Facts<'_>, result: &WorkResult) -> Option<String> {
    let head = &facts.snapshot.pull.head;
    if result.started_at != *head {
        return Some(format!("the head moved from {} to {}", result.started_at.short(), head.short()));
    }
    if let Some(by) = facts.paused {
        return Some(format!("{} paused this pull", by.name()));
    }
    if let Some(glass) = facts.glass {
        return Some(format!("{} broke the glass at this change", glass.by.name()));
    }
    facts.approved_by_person().map(|by| format!("{by} approved this head"))
}

/// What becomes of a result that is still wanted.
struct Fate<'a> {
    outcome: WorkOutcome,
    push: Option<&'a crate::model::Sha>,
    refused: Option<String>,
}

fn fate<'a>(facts: &Facts<'_>, result: &'a WorkResult) -> Fate<'a> {
    let ended = |outcome| Fate { outcome, push: None, refused: None };
    let needs_human = |why: String| Fate { outcome: WorkOutcome::NeedsHuman, push: None, refused: Some(why) };
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
        return Fate { refused: Some("a self-review pushes nothing".to_owned()), ..ended(WorkOutcome::Done) };
    }
    if facts.snapshot.pull.pushable == Some(false) {
        return needs_human("the head cannot be pushed to".to_owned());
    }
    let changes = &facts.snapshot.changes;
    let Some(patch) = &result.patch else {
        return needs_human("nobody could say what it changes".to_owned());
    };
    let touched = || paths::protected(facts.policy, result.files.iter().chain(&changes.files));
    match (*patch != changes.patch).then(touched).flatten() {
        Some(path) => needs_human(format!("`{path}` is protected")),
        None => Fate { push: Some(commit), ..ended(WorkOutcome::Done) },
    }
}

fn outcome(facts: &Facts<'_>, result: &WorkResult, record: &JobRecord<'_>, fate: &Fate<'_>) -> Option<Step> {
    let JobRecord { kind, cause, patch, epoch, retried, .. } = *record;
    let note = JobNote {
        kind,
        cause,
        head: Some(&facts.snapshot.pull.head),
        retried,
        outcome: Some(fate.outcome),
        summary: &summary(result, fate.refused.as_deref()),
    };
    let outcome = Some(fate.outcome);
    let topic = Topic::Job { kind, cause: cause.to_owned(), patch: patch.clone(), epoch, outcome, retried };
    let why = Reason::new(RULE).fact(format!("{kind} for {cause} ended"));
    topic::ensure(facts, &facts.snapshot.viewer.login, topic, render::job(&note), why)
}

fn self_review(facts: &Facts<'_>, result: &WorkResult) -> Option<Step> {
    if result.kind != JobKind::SelfReview {
        return None;
    }
    let clean = result.clean == Some(true);
    let note = SelfReview { head: &facts.snapshot.pull.head, clean, notes: &result.summary };
    let why = Reason::new(RULE).fact("self-review");
    topic::ensure(facts, worker_identity(facts), Topic::SelfReview { clean }, render::self_review(&note), why)
}

fn fix_plan(facts: &Facts<'_>, result: &WorkResult) -> Option<Step> {
    if result.plan.is_empty() {
        return None;
    }
    let items = result.plan.iter().map(|it| Fix { about: it.about, plan: &it.plan });
    let note = FixPlan { head: &facts.snapshot.pull.head, items: items.collect() };
    let why = Reason::new(RULE).fact("fix plan");
    topic::ensure(facts, worker_identity(facts), Topic::FixPlan, render::fix_plan(&note), why)
}

fn wip_off(facts: &Facts<'_>) -> Option<Step> {
    let work = facts.policy.work.as_ref()?;
    let label = facts.snapshot.pull.label(&work.wip).filter(|label| is_own(facts, label))?;
    Some(label_off(worker_identity(facts), &label.name, Reason::new(RULE).fact("the worker has ended")))
}

/// What the worker says, and why nothing of it was delivered.
fn summary(result: &WorkResult, refused: Option<&str>) -> String {
    match refused {
        Some(why) => format!("Not delivered: {why}.\n\n{}", result.summary),
        None => result.summary.clone(),
    }
}

fn refuse(result: &WorkResult, why: String) -> Refusal {
    Refusal { what: format!("deliver what {} left", result.kind), why: Reason::new(RULE).fact(why) }
}
