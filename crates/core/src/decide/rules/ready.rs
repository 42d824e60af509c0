//! Rule 10: handing the pull to a person (DSP-10). Without dispatch, a ready pull is only reported.
//!
//! | the pull | `ready` label | steps |
//! |---|---|---|
//! | ready, not handed off at this change | off | label, assign, handoff comment |
//! | ready, not handed off at this change | on | assign, handoff comment |
//! | ready, handed off at this change | off, removed by somebody else | – (D35) |
//! | ready, handed off at this change | off, removed by referee or never set | label |
//! | ready, handed off at this change | on | – |
//! | not ready | set by referee | remove the label |
//! | not ready, paused | set by referee | – |
//! | not ready, break-glass | set by referee, for another change | remove the label |
//! | not ready | set by somebody else, or off | – |
//!
//! The comment comes last, because it records a handoff whose other steps are done.

use super::super::lease::is_own_label;
use super::super::step::{plan_add_label, plan_assignment, plan_remove_label, worker_identity};
use super::super::topic_comment;
use super::{MatchedRule, RuleContext, RuleEffect};
use crate::facts::Facts;
use crate::mark::Topic;
use crate::plan::{CommentTarget, Reason, Step};
use crate::render::{self, ReadyNote};
use crate::rule::Rule;

/// Removes referee's ready label when the pull is no longer ready.
pub(super) fn plan_ready_label_removal(context: &RuleContext<'_>, matched: &MatchedRule<'_>) -> Option<Step> {
    let facts = context.facts;
    let work = facts.dispatch_policy()?;
    let label = facts.snapshot.pull.label(&work.ready).filter(|label| is_own_label(facts, label))?;
    let keep = match matched.effect {
        RuleEffect::Ready => true,
        _ if facts.paused_by.is_some() => true,
        _ if facts.break_glass.is_some() => facts.work.handed_off,
        _ => false,
    };
    let reason = Reason::new(Rule::Ready).with_fact(format!("no longer: {}", matched.rule));
    (!keep).then(|| plan_remove_label(worker_identity(facts), &label.name, reason))
}

/// Returns whether somebody other than referee removed the label last.
fn is_removed_by_other(facts: &Facts<'_>, name: &str) -> bool {
    let removed = facts.snapshot.pull.removed_labels.iter().find(|label| label.name == name);
    removed.is_some_and(|label| !is_own_label(facts, label))
}

/// Plans the steps that hand the pull to a person.
pub(super) fn plan_handoff(context: &RuleContext<'_>, why: &Reason) -> Vec<Step> {
    let (facts, snapshot) = (context.facts, context.facts.snapshot);
    let Some(work) = facts.dispatch_policy() else { return Vec::new() };
    let by = worker_identity(facts);
    let mut steps = Vec::new();
    if snapshot.pull.label(&work.ready).is_none() && !(facts.work.handed_off && is_removed_by_other(facts, &work.ready))
    {
        steps.push(plan_add_label(by, &work.ready, why.clone()));
    }
    if facts.work.handed_off {
        return steps;
    }
    if let Some(who) = work.assign.as_ref().filter(|who| !snapshot.pull.assignees.contains(who)) {
        steps.push(plan_assignment(CommentTarget::Pull, by, Some(who), why.clone()));
    }
    let open = context.judgements.iter().flat_map(|it| &it.findings).filter(|it| it.counts).map(|it| it.id).collect();
    let note = ReadyNote { head: &snapshot.pull.head, assignee: work.assign.as_ref(), open_findings: open };
    let topic = Topic::Ready { patch: snapshot.changes.patch.clone() };
    steps.extend(topic_comment::ensure(
        facts,
        &snapshot.viewer.login,
        topic,
        render::render_ready_note(&note),
        why.clone(),
    ));
    steps
}
