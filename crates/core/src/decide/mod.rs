//! The order of the stages.
//!
//! | stage | asks | gives |
//! |---|---|---|
//! | guard | may anything be decided on this snapshot | – |
//! | `threads` | what of the findings is open, settled, new | judgements, replies, resolutions |
//! | `publish` | what does every identity post, edit, supersede | reviews, statuses, a notice |
//! | `settle` | which threads does the fixing side answer | replies, resolutions |
//! | `deliver` | may a worker's result be pushed | a delivery, its record |
//! | `rules` | whose turn is it | next, labels, the operator comment |
//! | `said` | what did people ask | answers |
//!
//! Blocks come first, whatever else the plan holds (D5, PUB-20); edits come last, so that a summary never tells of what
//! was not done yet. `schedule` decides for the repository as a whole.

mod deliver;
mod forged;
mod judged;
mod lease;
mod operator;
pub mod publish;
mod rules;
mod said;
mod schedule;
pub mod settle;
mod step;
mod threads;
mod topic;
mod writes;

pub use deliver::{Delivered, deliver, deliver_issue};
pub use judged::{Fresh, Judged, Judgement, Moved, Remark};
pub use lease::{Held, lease};
pub use operator::operator_note;
pub use rules::{Outcome, rules};
pub use said::said;
pub use schedule::{Pass, ProtocolLine, schedule};

use crate::facts::Facts;
use crate::mark::Trust;
use crate::model::{Completeness, PullState, Snapshot, ThreadId};
use crate::plan::{Cause, FindingLine, Findings, Next, Plan, Reason};
use crate::policy::Policy;

/// Decides what to do about one pull. Total: any snapshot gives a plan.
pub fn decide(snapshot: &Snapshot, policy: &Policy) -> Plan {
    if let Some((next, why)) = guard(snapshot) {
        return nothing(snapshot, next, why);
    }
    let facts = Facts::new(snapshot, policy);
    let reconciled = threads::reconcile(&facts);
    let published = publish::publish(&facts, &reconciled.judged);
    let settled = settle::settle_beside(snapshot, policy, reconciled.resolutions());
    let (delivery, delivered, undelivered) = deliver(&facts);
    let ruled = rules(&facts, &reconciled.judged);
    let mut plan = Plan {
        pull: snapshot.pull.number,
        head: snapshot.pull.head.clone(),
        steps: published.blocks,
        refused: reconciled.refused,
        next: ruled.next,
        why: ruled.why,
        delivery,
        roles: published.roles,
        findings: lines(&reconciled.judged),
        round: ruled.round,
    };
    if let (Some(blocked), false) = (settled.blocked, matches!(plan.next, Next::Blocked(_))) {
        plan.next = Next::Blocked(blocked.cause);
        plan.why = blocked.why;
    }
    plan.refused.extend(published.refused);
    plan.refused.extend(settled.refused);
    plan.refused.extend(undelivered);
    plan.refused.extend(ruled.refused);
    plan.refused.extend(forged::forged(snapshot));
    plan.steps.extend(published.posts);
    plan.steps.extend(reconciled.steps);
    plan.steps.extend(settled.steps);
    plan.steps.extend(published.rest);
    plan.steps.extend(delivered);
    plan.steps.extend(ruled.steps);
    let answers = said(&facts, &plan);
    plan.steps.extend(answers);
    writes::cap(&facts, &reconciled.judged, &mut plan);
    plan
}

/// Snapshots on which nothing may be decided.
///
/// | rule | when | next |
/// |---|---|---|
/// | `incomplete` | something could not be read to its end (D16, TRI-3) | blocked |
/// | `newer-mark` | a newer referee wrote here | blocked |
/// | `closed` | the pull is not open | idle |
fn guard(snapshot: &Snapshot) -> Option<(Next, Reason)> {
    if let Completeness::Truncated { what } = &snapshot.complete {
        return Some((Next::Blocked(Cause::Incomplete), Reason::new("incomplete").fact(format!("{what} was cut off"))));
    }
    let newer = |review: &crate::model::Review| {
        review.text.reading.mark.as_ref().is_some_and(|mark| mark.trust == Trust::Newer)
    };
    if let Some(review) = snapshot.reviews.iter().find(|review| newer(review)) {
        let why = Reason::new("newer-mark").fact(format!("review {} was written by a newer referee", review.id));
        return Some((Next::Blocked(Cause::NewerMark), why));
    }
    match snapshot.pull.state {
        PullState::Open => None,
        PullState::Closed | PullState::Merged => Some((Next::Idle, Reason::new("closed"))),
    }
}

/// A plan that does nothing.
fn nothing(snapshot: &Snapshot, next: Next, why: Reason) -> Plan {
    Plan {
        pull: snapshot.pull.number,
        head: snapshot.pull.head.clone(),
        steps: Vec::new(),
        refused: Vec::new(),
        next,
        why,
        delivery: None,
        roles: Vec::new(),
        findings: Findings::default(),
        round: 0,
    }
}

fn lines(judged: &[Judgement<'_>]) -> Findings {
    let mut lines = Findings::with_capacity(judged.iter().map(|judgement| judgement.findings.len()).sum());
    for judgement in judged {
        lines.extend(judgement.findings.iter().map(|it| FindingLine {
            id: it.id,
            role: judgement.name().as_str(),
            severity: it.severity,
            path: it.path,
            line: it.line,
            title: &it.title,
            state: it.state,
            counts: it.counts,
            thread: it.thread.map(ThreadId::as_str),
        }));
    }
    lines
}
