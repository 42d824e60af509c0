//! The budget of texts (LOOP-9): once a pull carries as many own texts as it may, nothing new is said but what keeps it
//! safe, and a person is asked.
//!
//! | step | over budget |
//! |---|---|
//! | a block, an edit, a superseded approval, a status | done all the same |
//! | the operator comment, the answer to a person's command | done all the same |
//! | labels and assignees | done all the same |
//! | anything else that makes a new text | withheld |

use super::judged::Judgement;
use super::operator;
use super::rules::Case;
use crate::facts::Facts;
use crate::mark::{TagKind, Topic};
use crate::model::Verdict;
use crate::plan::{Action, Cause, Draft, Next, Plan, Reason, Refusal, Trailer};
use crate::render::Stop;

pub(super) fn cap<'a>(facts: &'a Facts<'a>, judged: &'a [Judgement<'a>], plan: &mut Plan) {
    if plan.steps.is_empty() {
        return;
    }
    let written = written(facts);
    if written < facts.policy.budget.writes as usize {
        return;
    }
    let before = plan.steps.len();
    plan.steps.retain(|step| stays(&step.action));
    let withheld = before - plan.steps.len();
    if 0 < withheld {
        let why = Reason::new("writes").fact(format!("{written} own texts of {}", facts.policy.budget.writes));
        plan.refused.push(Refusal { what: format!("{withheld} new texts"), why: why.clone() });
        // Whatever else stopped the pull has its comment already.
        if !matches!(plan.next, Next::Blocked(_)) {
            let case = Case { facts, judged, active: None, round: plan.round };
            plan.steps.extend(operator::operator(&case, Stop::Budget { over: "texts" }, &why));
            plan.next = Next::Blocked(Cause::Budget);
            plan.why = why;
        }
    }
}

/// Own texts on the pull: reviews, notes, comments.
fn written(facts: &Facts<'_>) -> usize {
    let snapshot = facts.snapshot;
    let reviews = snapshot.reviews.iter().filter(|it| it.text.mark().is_some()).count();
    let notes = snapshot.threads.iter().flat_map(|it| &it.notes).filter(|it| it.text.tag().is_some()).count();
    let comments = snapshot.comments.iter().filter(|it| it.text.tag().is_some()).count();
    reviews + notes + comments
}

fn stays(action: &Action) -> bool {
    match action {
        Action::PostReview { verdict, .. } => *verdict == Verdict::RequestChanges,
        Action::EditReview { .. }
        | Action::Supersede { .. }
        | Action::SetStatus { .. }
        | Action::SetLabel { .. }
        | Action::Assign { .. }
        | Action::Resolve { .. } => true,
        Action::EnsureComment { existing, text, .. } => existing.is_some() || is_needed(text),
        Action::OpenThreads { .. } | Action::Reply { .. } => false,
    }
}

fn is_needed(text: &Draft) -> bool {
    match &text.trailer {
        Trailer::Tag(tag) => matches!(&tag.kind, TagKind::Topic(Topic::Operator { .. } | Topic::Said { .. })),
        Trailer::Mark(..) => false,
    }
}
