//! The budget of texts (LOOP-9): a pull with too many texts of referee gets no further ones except those that keep it
//! safe, and a person is asked.
//!
//! | step | over the budget |
//! |---|---|
//! | a block, an edit, a superseded approval, a status | applied |
//! | the operator comment, the reply to a person's command | applied |
//! | labels and assignees | applied |
//! | any other step that creates a text | withheld |

use super::judgement::RoleJudgement;
use super::operator;
use crate::facts::Facts;
use crate::mark::Topic;
use crate::model::Verdict;
use crate::plan::{Action, BlockedCause, Next, Plan, Reason, Refusal, Step};
use crate::render::StopReason;
use crate::rule::Rule;

pub(super) fn enforce_write_budget<'a>(facts: &'a Facts<'a>, judged: &'a [RoleJudgement<'a>], plan: &mut Plan) {
    if plan.steps.is_empty() {
        return;
    }
    let written = count_own_texts(facts);
    if written < facts.policy.budget.writes as usize {
        return;
    }
    let before = plan.steps.len();
    plan.steps.retain(is_exempt);
    let withheld = before - plan.steps.len();
    if 0 < withheld {
        let why = Reason::new(Rule::Writes).with_fact(format!("{written} own texts of {}", facts.policy.budget.writes));
        plan.refused.push(Refusal { what: format!("{withheld} new texts"), why: why.clone() });
        // Nobody could post the reports, so reviewers must not run.
        plan.reviews.clear();
        // A pull that is blocked for another reason already has its operator comment.
        if !matches!(plan.next, Next::Blocked(_)) {
            let stop = StopReason::BudgetSpent { resource: "texts" };
            plan.steps.extend(operator::plan_operator_comment(facts, judged, stop, &why));
            plan.next = Next::Blocked(BlockedCause::Budget);
            plan.why = why;
        }
    }
}

/// Counts the texts of referee on the pull: reviews, notes, comments.
fn count_own_texts(facts: &Facts<'_>) -> usize {
    let snapshot = facts.snapshot;
    let reviews = snapshot.reviews.iter().filter(|it| it.text.trusted_mark().is_some()).count();
    let notes = snapshot.threads.iter().flat_map(|it| &it.notes).filter(|it| it.text.trusted_tag().is_some()).count();
    let comments = snapshot.comments.iter().filter(|it| it.text.trusted_tag().is_some()).count();
    reviews + notes + comments
}

fn is_exempt(step: &Step) -> bool {
    match &step.action {
        Action::PostReview { verdict, .. } => *verdict == Verdict::RequestChanges,
        Action::EditReview { .. }
        | Action::Supersede { .. }
        | Action::SetStatus { .. }
        | Action::SetLabel { .. }
        | Action::Assign { .. }
        | Action::Resolve { .. } => true,
        Action::EnsureComment { existing, .. } => {
            existing.is_some()
                || matches!(step.topic(), Some(Topic::Operator { .. } | Topic::Said { .. } | Topic::PauseSet { .. }))
        }
        Action::OpenThreads { .. } | Action::Reply { .. } => false,
    }
}
