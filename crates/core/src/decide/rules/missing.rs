//! Rule 5: a reviewer has not read this change yet (DSP-7, D19, D23, D29).
//!
//! | reviewer | when | next |
//! |---|---|---|
//! | a role that is due | the budget is used up | blocked: budget |
//! | a role | it failed at every attempt, and no other role is due | blocked: reviewer failed |
//! | a role that is due | otherwise | wait for the reviewer |
//! | a bot of `review_bots` that is not a role | it has no review that names this head | wait for the reviewer |
//! | a role or another bot that asked for changes at an older head | it has not read this one | wait for the reviewer |
//! | a role that applies | it has no complete verdict for this change | wait for the reviewer, but |
//! | | `start = "request"`, and nobody asked at this head | wait for the author, who may ask |
//! | | `start = "ci_green"`, and the checks have not passed | wait for the checks |
//!
//! If several apply, waiting for a reviewer comes first, then for the author, then for the checks.

use super::super::judgement::{ReportStatus, RoleJudgement};
use super::blocks::list_stale_blockers;
use super::review::{MAX_ATTEMPTS, checks_pass, is_review_requested};
use super::{MatchedRule, RuleContext, RuleEffect};
use crate::plan::WaitingOn;
use crate::policy::ReviewStart;
use crate::render::StopReason;
use crate::rule::Rule;

const RULE: Rule = Rule::ReviewsMissing;

pub(super) fn match_missing_reviews<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let queue = &context.reviews;
    if let Some(resource) = queue.exceeded_budget {
        let stop = StopReason::BudgetSpent { resource };
        return Some(MatchedRule::new(RULE, RuleEffect::Blocked(stop)).fact(format!("{resource} used up")));
    }
    if queue.due.is_empty() && !queue.failed.is_empty() {
        let facts: Vec<String> =
            queue.failed.iter().map(|role| format!("{role} failed {MAX_ATTEMPTS} times")).collect();
        let stop = StopReason::ReviewersFailed { roles: queue.failed.clone() };
        return Some(MatchedRule::new(RULE, RuleEffect::Blocked(stop)).facts(facts));
    }
    let missing = MissingReviewers::collect(context);
    if !missing.reviewers.is_empty() {
        let facts = missing.describe(context);
        return Some(MatchedRule::wait(RULE, WaitingOn::Reviewer(missing.reviewers)).facts(facts));
    }
    if !missing.unasked.is_empty() {
        let fact = format!("{} reviews on request: comment `review`", missing.unasked.join(", "));
        return Some(MatchedRule::wait(RULE, WaitingOn::Author).fact(fact));
    }
    let fact = format!("{} reviews once the checks have passed", missing.early.join(", "));
    (!missing.early.is_empty()).then(|| MatchedRule::wait(RULE, WaitingOn::Checks).fact(fact))
}

/// Roles and bots that have not read this change, by what they wait for.
#[derive(Default)]
struct MissingReviewers {
    reviewers: Vec<String>,
    /// Roles with `start = "request"`.
    unasked: Vec<String>,
    /// Roles with `start = "ci_green"`.
    early: Vec<String>,
}

impl MissingReviewers {
    fn collect(context: &RuleContext<'_>) -> Self {
        let mut missing = Self { reviewers: list_missing_bots(context), ..Self::default() };
        let applies = |it: &&RoleJudgement<'_>| it.role.applies && !it.role.role.ad_hoc;
        for judgement in context.judgements.iter().filter(applies) {
            let due = context.reviews.is_unread(judgement.name());
            if judgement.is_current && !due {
                continue;
            }
            let waits = !due && is_not_started(context, judgement);
            let name = judgement.name().to_string();
            match context.facts.policy.start {
                ReviewStart::Request if waits => missing.unasked.push(name),
                ReviewStart::CiGreen if waits && !checks_pass(context.facts) => missing.early.push(name),
                ReviewStart::Push | ReviewStart::Request | ReviewStart::CiGreen => missing.reviewers.push(name),
            }
        }
        for name in list_stale_blockers(context) {
            let is_listed = |names: &[String]| names.iter().any(|listed| listed == name);
            if !is_listed(&missing.reviewers) && !is_listed(&missing.unasked) && !is_listed(&missing.early) {
                missing.reviewers.push(name.to_owned());
            }
        }
        missing
    }

    fn describe(&self, context: &RuleContext<'_>) -> Vec<String> {
        let asked_again = |name: &str| {
            let mut current = context.judgements.iter().filter(|it| it.is_current);
            current.any(|it| it.name().as_str() == name)
        };
        let (again, unread): (Vec<&str>, Vec<&str>) =
            self.reviewers.iter().map(String::as_str).partition(|name| asked_again(name));
        let mut facts = Vec::new();
        if !unread.is_empty() {
            facts.push(format!("not read yet by {}", unread.join(", ")));
        }
        if !again.is_empty() {
            facts.push(format!("to be read again by {}", again.join(", ")));
        }
        let stale = list_stale_blockers(context);
        if !stale.is_empty() {
            facts.push(format!("{} asked for changes at an older head", stale.join(", ")));
        }
        facts.extend(context.reviews.backing_off.iter().map(|role| format!("{role} failed, tried again later")));
        facts
    }
}

/// Returns whether nobody asked for this review and no reviewer tried it at this change.
fn is_not_started(context: &RuleContext<'_>, judgement: &RoleJudgement<'_>) -> bool {
    let patch = &context.facts.snapshot.changes.patch;
    let tried = judgement.role.standing.is_some_and(|it| it.mark.patch == *patch && 0 < it.mark.attempts);
    judgement.report_status == ReportStatus::Absent && !tried && !is_review_requested(context.facts, judgement)
}

fn list_missing_bots(context: &RuleContext<'_>) -> Vec<String> {
    let Some(work) = context.facts.dispatch_policy() else { return Vec::new() };
    let current = context.facts.bot_reviews();
    let is_role = |name: &str| context.judgements.iter().any(|it| it.name().as_str() == name);
    let has_read = |name: &str| current.iter().any(|review| review.name == name && review.at_head);
    work.review_bots.iter().filter(|name| !is_role(name) && !has_read(name)).cloned().collect()
}
