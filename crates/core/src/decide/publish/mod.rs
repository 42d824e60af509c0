//! Publishes the roles' verdicts: turns judged findings into steps. `table` decides; this module builds its input from
//! the facts, and turns its decisions into reviews, edits, statuses and a notice.
//!
//! | rule | when | then |
//! |---|---|---|
//! | `new-findings` | a kept review has new findings (PUB-4) | open threads beside it |
//! | `not-editable` | the forge reports no id for editing the review | refuse |
//! | `status` | the commit status differs from the verdict (PUB-19) | set the status |
//! | `approve-off` | an earlier verdict still counts, and `approve` is off (D27) | refuse |
//! | `notice` | an edit changed the set of blocking findings (PUB-18) | post one comment |

mod compose;
mod explanation;
mod mark_update;
mod notice;
mod table;
mod table_input;

pub use table::{
    IdentityContext, PublishAction, PublishDecision, PublishInput, StandingVerdict, StandingWeight, decide_for_identity,
};

use super::judgement::RoleJudgement;
use crate::facts::Facts;
use crate::model::checks::OwnStatus;
use crate::model::{Login, Support, Verdict};
use crate::plan::{Action, Gate, Precondition, Reason, Refusal, RoleState, Step};
use crate::policy::ApprovalMode;
use crate::render;
use crate::rule::Rule;
use compose::ComposedReview;
pub(in crate::decide) use compose::{blocking_finding_ids, build_entry};
pub(in crate::decide) use mark_update::is_report_recorded;

/// The result of publishing.
#[derive(Debug, Default)]
pub(super) struct PublishPlan {
    /// Blocking reviews, in the order in which they must be posted: before everything else (D5, PUB-20).
    pub(super) blocks: Vec<Step>,
    /// Other new reviews.
    pub(super) posts: Vec<Step>,
    /// Edits, threads, statuses, a notice.
    pub(super) follow_ups: Vec<Step>,
    /// Steps that were considered and refused, with the reason.
    pub(super) refused: Vec<Refusal>,
    /// The verdicts of each role.
    pub(super) roles: Vec<RoleState>,
}

/// Plans the reviews of all roles, identity by identity.
pub(super) fn plan_publishing<'a>(facts: &'a Facts<'a>, judged: &'a [RoleJudgement<'a>]) -> PublishPlan {
    let mut out = PublishPlan::default();
    let mut done: Vec<&Login> = Vec::new();
    let waiting = table_input::list_awaited(facts, judged);
    for judgement in judged {
        let identity = judgement.role.identity;
        if !done.contains(&identity) {
            done.push(identity);
            let siblings: Vec<_> = judged.iter().filter(|it| it.role.identity == identity).collect();
            publish_identity(facts, judged, identity, &siblings, &waiting, &mut out);
        }
    }
    notice::add_notice(facts, judged, &mut out);
    out
}

fn publish_identity<'a>(
    facts: &'a Facts<'a>,
    judged: &'a [RoleJudgement<'a>],
    identity: &'a Login,
    siblings: &[&'a RoleJudgement<'a>],
    waiting: &[&'a str],
    out: &mut PublishPlan,
) {
    let context = table_input::build_identity_context(facts, identity, waiting);
    let inputs: Vec<PublishInput> =
        siblings.iter().map(|judgement| table_input::build_publish_input(facts, judgement)).collect();
    let rows = decide_for_identity(&inputs, &context);
    for (judgement, row) in siblings.iter().zip(&rows) {
        let enforced = (row.action != PublishAction::Silent).then_some(row.enforced);
        out.roles.push(RoleState {
            role: judgement.name().clone(),
            own: judgement.own_verdict,
            enforced,
            at_head: judgement.is_current,
            unread: None,
            overflow: judgement.overflow,
        });
        if row.action != PublishAction::Silent && judgement.role.has_token {
            let composed = compose::compose_review(facts, judged, judgement, row, &context, waiting);
            plan_role_steps(facts, judgement, row, &composed, out);
            plan_status(facts, judgement, row, &composed, out);
        }
    }
    report_leftover_verdict(identity, &rows, &context, out);
}

fn plan_role_steps(
    facts: &Facts<'_>,
    judgement: &RoleJudgement<'_>,
    row: &PublishDecision,
    composed: &ComposedReview<'_>,
    out: &mut PublishPlan,
) {
    let standing = judgement.role.standing;
    // The block that replaces this approval was posted by an earlier plan, so its address is known.
    let successor = standing.map(|standing| standing.review);
    let late = |it| composed.plan_supersede(it, successor, build_reason(judgement, row));
    out.follow_ups.extend(judgement.role.unsuperseded_approval.iter().filter_map(late));
    let double = |it| composed.plan_supersede(it, successor, build_reason(judgement, row).with_fact("posted twice"));
    out.follow_ups.extend(judgement.role.doubles.iter().filter_map(double));
    match row.action {
        PublishAction::Silent => {}
        PublishAction::Keep => plan_edit(facts, judgement, row, composed, out),
        PublishAction::Post(form) => plan_post(facts, judgement, form, build_reason(judgement, row), composed, out),
        PublishAction::PostAndSupersede(form) => {
            plan_post(facts, judgement, form, build_reason(judgement, row), composed, out);
            let supersede = |it| composed.plan_supersede(&it, None, build_reason(judgement, row));
            out.follow_ups.extend(standing.and_then(supersede));
        }
    }
}

fn plan_post(
    facts: &Facts<'_>,
    judgement: &RoleJudgement<'_>,
    form: Verdict,
    reason: Reason,
    composed: &ComposedReview<'_>,
    out: &mut PublishPlan,
) {
    let steps = if form == Verdict::RequestChanges { &mut out.blocks } else { &mut out.posts };
    steps.push(Step {
        action: Action::PostReview {
            role: judgement.name().clone(),
            verdict: form,
            commit: facts.snapshot.pull.head.clone(),
            text: composed.to_draft(),
            threads: judgement.new_threads.clone(),
        },
        by: judgement.role.identity.clone(),
        gate: Gate::Review,
        approves: form == Verdict::Approve,
        reason: reason.with_fact(format!("posted as {form}")),
        expect: Precondition::Head,
    });
}

/// Plans the edit of the standing summary, if its text or Mark would change, and threads for new findings (PUB-3,
/// PUB-4).
fn plan_edit(
    facts: &Facts<'_>,
    judgement: &RoleJudgement<'_>,
    row: &PublishDecision,
    composed: &ComposedReview<'_>,
    out: &mut PublishPlan,
) {
    if !judgement.new_threads.is_empty() {
        out.follow_ups.push(Step {
            action: Action::OpenThreads {
                role: judgement.name().clone(),
                commit: facts.snapshot.pull.head.clone(),
                threads: judgement.new_threads.clone(),
            },
            by: judgement.role.identity.clone(),
            gate: Gate::Review,
            approves: false,
            reason: Reason::new(Rule::NewFindings).with_fact(format!("{} threads", judgement.new_threads.len())),
            expect: Precondition::Head,
        });
    }
    let Some(standing) = judgement.role.standing else { return };
    let Some(why) = composed.find_edit_reason() else { return };
    let Some(edit) = &standing.review.edit else {
        let why = Reason::new(Rule::NotEditable).with_fact("the forge reports no id for editing it");
        out.refused.push(Refusal { what: format!("edit review {}", standing.review.id), why });
        return;
    };
    out.follow_ups.push(Step {
        action: Action::EditReview {
            review: standing.review.id.clone(),
            edit: edit.clone(),
            text: composed.to_draft(),
        },
        by: judgement.role.identity.clone(),
        gate: Gate::Review,
        approves: false,
        reason: build_reason(judgement, row).with_fact(why),
        expect: Precondition::OwnText { edit: edit.clone(), seen: standing.review.text.hash.clone() },
    });
}

pub(in crate::decide) const STATUS_CONTEXT_PREFIX: &str = "referee/";

/// Plans the commit status (PUB-19). A role that has not read this change sets none, unless it blocks.
fn plan_status(
    facts: &Facts<'_>,
    judgement: &RoleJudgement<'_>,
    row: &PublishDecision,
    composed: &ComposedReview<'_>,
    out: &mut PublishPlan,
) {
    let snapshot = facts.snapshot;
    let silent = !judgement.is_current && judgement.role.report.is_none() && row.enforced == Verdict::Comment;
    if !facts.policy.status || snapshot.capabilities.status == Support::Unsupported || silent {
        return;
    }
    let state = table_input::choose_status(judgement, row);
    let text = render::render_status(&composed.summary());
    let same = |own: &OwnStatus| {
        let role = own.context.strip_prefix(STATUS_CONTEXT_PREFIX);
        role == Some(judgement.name().as_str()) && own.state == state && own.text == text.as_str()
    };
    if snapshot.checks.own.iter().any(same) {
        return;
    }
    let context = format!("{STATUS_CONTEXT_PREFIX}{}", judgement.name());
    out.follow_ups.push(Step {
        action: Action::SetStatus { commit: snapshot.pull.head.clone(), context, state, text },
        by: judgement.role.identity.clone(),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new(Rule::Status).with_fact(row.rule.name()),
        expect: Precondition::Head,
    });
}

/// Reports a verdict that was posted under another setting of `approve`; it is not lifted (D27).
fn report_leftover_verdict(
    identity: &Login,
    rows: &[PublishDecision],
    context: &IdentityContext,
    out: &mut PublishPlan,
) {
    let worst = rows.iter().filter(|row| row.action != PublishAction::Silent).map(|row| row.enforced).max();
    if context.approve != ApprovalMode::Off || !context.can_post_verdicts {
        return;
    }
    let leftover = match (context.newest_verdict, worst) {
        (Some(Verdict::RequestChanges), Some(Verdict::Approve | Verdict::Comment)) => "block",
        (Some(Verdict::Approve), Some(Verdict::RequestChanges)) => "approval",
        _ => return,
    };
    out.refused.push(Refusal {
        what: format!("lift the {leftover} of {identity}"),
        why: Reason::new(Rule::ApproveOff)
            .with_fact(format!("an earlier {leftover} still counts, and `approve` is off")),
    });
}

fn build_reason(judgement: &RoleJudgement<'_>, row: &PublishDecision) -> Reason {
    let own = judgement.own_verdict.map_or_else(|| "none".to_owned(), |own| own.to_string());
    Reason::new(row.rule)
        .with_fact(format!("role {}", judgement.name()))
        .with_fact(format!("own verdict {own}"))
        .with_fact(format!("enforced {}", row.enforced))
}
