//! Rule 10: a person may take over (DSP-10). Without workers a ready pull is only said to be so.
//!
//! | the pull | `ready` label | steps |
//! |---|---|---|
//! | ready, not handed off at this change | off | label, assign, handoff comment |
//! | ready, not handed off at this change | on | assign, handoff comment |
//! | ready, handed off at this change | off | label |
//! | ready, handed off at this change | on | – |
//! | not ready | own | label taken off |
//! | not ready, paused | own | – |
//! | not ready, broken glass | own, of another change | label taken off |
//! | not ready | foreign, or off | – |
//!
//! The comment comes last: it is the record of a handoff whose other steps are done.

use super::super::lease::is_own;
use super::super::step::{assign, label_off, label_on, worker_identity};
use super::super::topic;
use super::{Case, Ruled, Says};
use crate::mark::Topic;
use crate::plan::{Reason, Step, Target};
use crate::render::{self, Ready};

/// The own ready label goes when it no longer tells the truth.
pub(super) fn labels(case: &Case<'_>, ruled: &Ruled<'_>) -> Option<Step> {
    let facts = case.facts;
    let work = facts.work_here()?;
    let label = facts.snapshot.pull.label(&work.ready).filter(|label| is_own(facts, label))?;
    let keep = match ruled.says {
        Says::Ready => true,
        _ if facts.paused.is_some() => true,
        _ if facts.glass.is_some() => facts.work.handed_off,
        _ => false,
    };
    let reason = Reason::new("ready").fact(format!("no longer: {}", ruled.rule));
    (!keep).then(|| label_off(worker_identity(facts), &label.name, reason))
}

/// What hands the pull to a person.
pub(super) fn handoff(case: &Case<'_>, why: &Reason) -> Vec<Step> {
    let (facts, snapshot) = (case.facts, case.facts.snapshot);
    let Some(work) = facts.work_here() else { return Vec::new() };
    let by = worker_identity(facts);
    let mut steps = Vec::new();
    if snapshot.pull.label(&work.ready).is_none() {
        steps.push(label_on(by, &work.ready, why.clone()));
    }
    if facts.work.handed_off {
        return steps;
    }
    if let Some(who) = work.assign.as_ref().filter(|who| !snapshot.pull.assignees.contains(who)) {
        steps.push(assign(Target::Pull, by, Some(who), why.clone()));
    }
    let open = case.judged.iter().flat_map(|it| &it.findings).filter(|it| it.counts).map(|it| it.id).collect();
    let note = Ready { head: &snapshot.pull.head, assign: work.assign.as_ref(), open };
    let topic = Topic::Ready { patch: snapshot.changes.patch.clone() };
    steps.extend(topic::ensure(facts, &snapshot.viewer.login, topic, render::ready(&note), why.clone()));
    steps
}
