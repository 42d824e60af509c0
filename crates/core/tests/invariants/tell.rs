//! Extracts from a plan what the properties ask for.

use referee_core::mark::{TagKind, Topic};
use referee_core::model::{RoleName, Verdict};
use referee_core::plan::{Action, Next, Plan, Step, TextDraft, Trailer};

use crate::any::Scene;

/// All steps, including those that record a worker.
pub(crate) fn steps(plan: &Plan) -> Vec<&Step> {
    let record = match &plan.next {
        Next::Spawn(job) => job.record.as_slice(),
        _ => &[],
    };
    plan.steps.iter().chain(record).collect()
}

/// All texts of a step.
pub(crate) fn drafts(step: &Step) -> Vec<TextDraft> {
    let mut drafts = Vec::new();
    step.action.map_text(|draft| drafts.push(draft.clone()));
    drafts
}

pub(crate) fn topic(step: &Step) -> Option<Topic> {
    let Action::EnsureComment { text, .. } = &step.action else { return None };
    let Trailer::Tag(tag) = &text.trailer else { return None };
    match &tag.kind {
        TagKind::Topic(topic) => Some(topic.clone()),
        _ => None,
    }
}

/// The roles that post an approval.
pub(crate) fn approves(plan: &Plan) -> Vec<&RoleName> {
    let approval = |step: &'_ Step| matches!(step.action, Action::PostReview { verdict: Verdict::Approve, .. });
    plan.steps
        .iter()
        .filter(|step| approval(step))
        .filter_map(|step| match &step.action {
            Action::PostReview { role, .. } => Some(role),
            _ => None,
        })
        .collect()
}

/// Resolutions of a plan, as JSON.
pub(crate) fn resolutions(plan: &Plan) -> Vec<String> {
    let resolves = |step: &&Step| matches!(step.action, Action::Resolve { .. });
    plan.steps.iter().filter(resolves).map(bones).collect()
}

/// A step without its texts: the action, its target, identity and gate.
pub(crate) fn bones(step: &Step) -> String {
    let action = match &step.action {
        Action::PostReview { role, verdict, threads, .. } => {
            format!("{role} {verdict} {:?}", threads.iter().map(|it| (&it.finding, &it.place)).collect::<Vec<_>>())
        }
        Action::EditReview { review, .. } | Action::Supersede { review, .. } => review.to_string(),
        Action::OpenThreads { role, threads, .. } => {
            format!("{role} {:?}", threads.iter().map(|it| (&it.finding, &it.place)).collect::<Vec<_>>())
        }
        Action::Reply { thread, .. } => thread.to_string(),
        Action::Resolve { thread, mark } => format!("{thread} {}", mark.is_some()),
        Action::EnsureComment { existing, target, .. } => format!("{existing:?} {target:?} {:?}", topic(step)),
        Action::SetLabel { name, on } => format!("{name} {on}"),
        Action::Assign { target, who } => format!("{target:?} {who:?}"),
        Action::SetStatus { context, state, .. } => format!("{context} {state:?}"),
    };
    format!("{} {action} by {} {:?} {}", step.action.name(), step.by, step.gate, step.approves)
}

pub(crate) fn all_bones(plan: &Plan) -> Vec<String> {
    steps(plan).into_iter().map(bones).collect()
}

/// No two roles have the same name, as the config requires.
pub(crate) fn with_roles_told_apart(mut scene: Scene) -> Scene {
    let mut seen = Vec::new();
    scene.policy.roles.retain(|role| {
        let new = !seen.contains(&role.name);
        seen.push(role.name.clone());
        new
    });
    scene
}
