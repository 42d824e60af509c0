//! Publishes the roles' verdicts: from judged findings to steps. The rows are `table`'s; here the facts are turned
//! into voices, and what the rows say into reviews, edits, statuses and a notice.

mod compose;
mod notice;
mod stamp;
mod table;
mod weigh;
mod why;

pub use table::{Act, Bearing, Held, Row, Rule, Voice, Weight, walk};

use super::judged::Judgement;
use crate::facts::Facts;
use crate::model::checks::OwnStatus;
use crate::model::{Login, Support, Verdict};
use crate::plan::{Action, Expect, Gate, Reason, Refusal, RoleState, Step};
use crate::policy::Approve;
use crate::render;
use compose::Composed;
pub(in crate::decide) use compose::blocking;
pub(in crate::decide) use stamp::is_told;

/// What publishing comes to.
#[derive(Debug, Default)]
pub(super) struct Published {
    /// Blocks, in the order in which they must happen: before all else (D5, PUB-20).
    pub(super) blocks: Vec<Step>,
    /// Other new reviews.
    pub(super) posts: Vec<Step>,
    /// Edits, threads, statuses, a notice.
    pub(super) rest: Vec<Step>,
    /// What was considered and not done.
    pub(super) refused: Vec<Refusal>,
    /// How every role stands.
    pub(super) roles: Vec<RoleState>,
}

/// Publishes every identity's roles, one writer per identity.
pub(super) fn publish<'a>(facts: &'a Facts<'a>, judged: &'a [Judgement<'a>]) -> Published {
    let mut out = Published::default();
    let mut done: Vec<&Login> = Vec::new();
    let waiting = weigh::waiting(facts, judged);
    for judgement in judged {
        let identity = judgement.role.identity;
        if !done.contains(&identity) {
            done.push(identity);
            let siblings: Vec<_> = judged.iter().filter(|it| it.role.identity == identity).collect();
            speak_for(facts, judged, identity, &siblings, &waiting, &mut out);
        }
    }
    notice::notify(facts, judged, &mut out);
    out
}

fn speak_for<'a>(
    facts: &'a Facts<'a>,
    judged: &'a [Judgement<'a>],
    identity: &'a Login,
    siblings: &[&'a Judgement<'a>],
    waiting: &[&'a str],
    out: &mut Published,
) {
    let bearing = weigh::bearing(facts, identity, waiting);
    let voices: Vec<Voice> = siblings.iter().map(|judgement| weigh::voice(facts, judgement)).collect();
    let rows = walk(&voices, &bearing);
    for (judgement, row) in siblings.iter().zip(&rows) {
        let enforced = (row.act != Act::Silent).then_some(row.enforced);
        out.roles.push(RoleState {
            role: judgement.name().clone(),
            own: judgement.own,
            enforced,
            at_head: judgement.current,
        });
        if row.act != Act::Silent && judgement.role.held {
            let composed = compose::compose(facts, judged, judgement, row, &bearing, waiting);
            step(facts, judgement, row, &composed, out);
            status(facts, judgement, row, &composed, out);
        }
    }
    leftovers(identity, &rows, &bearing, out);
}

fn step(facts: &Facts<'_>, judgement: &Judgement<'_>, row: &Row, composed: &Composed<'_>, out: &mut Published) {
    // What an earlier turn did not get to.
    let late = |it| composed.supersede(it, reason(judgement, row));
    out.rest.extend(judgement.role.outlived.iter().filter_map(late));
    match row.act {
        Act::Silent => {}
        Act::Keep => keep(facts, judgement, row, composed, out),
        Act::Post(form) => post(facts, judgement, form, reason(judgement, row), composed, out),
        Act::PostAndSupersede(form) => {
            post(facts, judgement, form, reason(judgement, row), composed, out);
            out.rest.extend(judgement.role.standing.and_then(|it| composed.supersede(&it, reason(judgement, row))));
        }
    }
}

fn post(
    facts: &Facts<'_>,
    judgement: &Judgement<'_>,
    form: Verdict,
    reason: Reason,
    composed: &Composed<'_>,
    out: &mut Published,
) {
    let steps = if form == Verdict::RequestChanges { &mut out.blocks } else { &mut out.posts };
    steps.push(Step {
        action: Action::PostReview {
            role: judgement.name().clone(),
            verdict: form,
            commit: facts.snapshot.pull.head.clone(),
            text: composed.draft(),
            threads: judgement.threads.clone(),
        },
        by: judgement.role.identity.clone(),
        gate: Gate::Review,
        approves: form == Verdict::Approve,
        reason: reason.fact(format!("posted as {form}")),
        expect: Expect::Head,
    });
}

/// Edits the standing summary where its text or Mark would differ, and opens threads for new findings (PUB-3, PUB-4).
fn keep(facts: &Facts<'_>, judgement: &Judgement<'_>, row: &Row, composed: &Composed<'_>, out: &mut Published) {
    if !judgement.threads.is_empty() {
        out.rest.push(Step {
            action: Action::OpenThreads {
                role: judgement.name().clone(),
                commit: facts.snapshot.pull.head.clone(),
                threads: judgement.threads.clone(),
            },
            by: judgement.role.identity.clone(),
            gate: Gate::Review,
            approves: false,
            reason: Reason::new("new-findings").fact(format!("{} threads", judgement.threads.len())),
            expect: Expect::Head,
        });
    }
    let Some(standing) = judgement.role.standing else { return };
    let Some(why) = composed.differs() else { return };
    let Some(edit) = &standing.review.edit else {
        let why = Reason::new("not-editable").fact("the forge tells no id to edit it by");
        out.refused.push(Refusal { what: format!("edit review {}", standing.review.id), why });
        return;
    };
    out.rest.push(Step {
        action: Action::EditReview { review: standing.review.id.clone(), edit: edit.clone(), text: composed.draft() },
        by: judgement.role.identity.clone(),
        gate: Gate::Review,
        approves: false,
        reason: reason(judgement, row).fact(why),
        expect: Expect::OwnText { edit: edit.clone(), seen: standing.review.text.hash.clone() },
    });
}

/// What the name of an own status begins with.
const CONTEXT: &str = "referee/";

/// The verdict as a commit status (PUB-19). A role that has not read this change says nothing of it, unless it
/// blocks.
fn status(facts: &Facts<'_>, judgement: &Judgement<'_>, row: &Row, composed: &Composed<'_>, out: &mut Published) {
    let snapshot = facts.snapshot;
    let silent = !judgement.current && judgement.role.report.is_none() && row.enforced == Verdict::Comment;
    if !facts.policy.status || snapshot.capabilities.status == Support::Unsupported || silent {
        return;
    }
    let state = weigh::status(judgement, row);
    let text = render::status(&composed.summary());
    let same = |own: &OwnStatus| {
        let role = own.context.strip_prefix(CONTEXT);
        role == Some(judgement.name().as_str()) && own.state == state && own.text == text.as_str()
    };
    if snapshot.checks.own.iter().any(same) {
        return;
    }
    let context = format!("{CONTEXT}{}", judgement.name());
    out.rest.push(Step {
        action: Action::SetStatus { commit: snapshot.pull.head.clone(), context, state, text },
        by: judgement.role.identity.clone(),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new("status").fact(row.rule.name()),
        expect: Expect::Head,
    });
}

/// A verdict left from another setting is reported, not lifted (D27).
fn leftovers(identity: &Login, rows: &[Row], bearing: &Bearing, out: &mut Published) {
    let worst = rows.iter().filter(|row| row.act != Act::Silent).map(|row| row.enforced).max();
    if bearing.approve != Approve::Off || !bearing.verdicts {
        return;
    }
    let left = match (bearing.newest, worst) {
        (Some(Verdict::RequestChanges), Some(Verdict::Approve | Verdict::Comment)) => "block",
        (Some(Verdict::Approve), Some(Verdict::RequestChanges)) => "approval",
        _ => return,
    };
    out.refused.push(Refusal {
        what: format!("lift the {left} of {identity}"),
        why: Reason::new("approve-off").fact(format!("an earlier {left} still counts, and `approve` is off")),
    });
}

fn reason(judgement: &Judgement<'_>, row: &Row) -> Reason {
    let own = judgement.own.map_or_else(|| "none".to_owned(), |own| own.to_string());
    Reason::new(row.rule.name())
        .fact(format!("role {}", judgement.name()))
        .fact(format!("own verdict {own}"))
        .fact(format!("enforced {}", row.enforced))
}
