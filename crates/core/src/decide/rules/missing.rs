//! Rule 5: a reviewer has not read this change yet (DSP-7, D19, D23, D29).
//!
//! | who | when | next |
//! |---|---|---|
//! | a role that is due | the budget is used up | blocked: budget |
//! | a role | it failed at every attempt, and no other role is due | blocked: reviewer failed |
//! | a role that is due | always | wait for the reviewer |
//! | a bot of `review_bots` that is not a role | it has no review that names this head | wait for the reviewer |
//! | a role or another bot that asked for changes at an older head | it has not read this one | wait for the reviewer |
//! | a role that applies | it has no complete verdict for this change | wait for the reviewer, but |
//! | | `start = "request"`, and nobody asked at this head | wait for the author, who may ask |
//! | | `start = "ci_green"`, and the checks have not passed | wait for the checks |
//!
//! The reviewer goes before the author, the author before the checks.

use super::super::judgement::{ReportStatus, RoleJudgement};
use super::blocks::list_stale_blockers;
use super::review::{MAX_ATTEMPTS, checks_pass, is_review_requested};
use super::{MatchedRule, RuleContext, RuleEffect};
use crate::plan::WaitingOn;
use crate::policy::ReviewStart;
use crate::render::StopReason;
use crate::rule::Rule;

const RULE: Rule = Rule::ReviewsMissing;

pub(super) fn match_missing_reviews<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let queue = &case.reviews;
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
    let missing = MissingReviewers::collect(case);
    if !missing.reviewers.is_empty() {
        let facts = missing.describe(case);
        return Some(MatchedRule::wait(RULE, WaitingOn::Reviewer(missing.reviewers)).facts(facts));
    }
    if !missing.unasked.is_empty() {
        let fact = format!("{} reads when asked: say `review`", missing.unasked.join(", "));
        return Some(MatchedRule::wait(RULE, WaitingOn::Author).fact(fact));
    }
    let fact = format!("{} reads once the checks passed", missing.early.join(", "));
    (!missing.early.is_empty()).then(|| MatchedRule::wait(RULE, WaitingOn::Checks).fact(fact))
}

/// Roles and bots that have not read this change, by what they wait for.
#[derive(Default)]
struct MissingReviewers {
    reviewers: Vec<String>,
    /// Roles that wait for a request.
    unasked: Vec<String>,
    /// Roles that wait for the checks.
    early: Vec<String>,
}

impl MissingReviewers {
    fn collect(case: &RuleContext<'_>) -> Self {
        let mut missing = Self { reviewers: list_missing_bots(case), ..Self::default() };
        let applies = |it: &&RoleJudgement<'_>| it.role.applies && !it.role.role.ad_hoc;
        for judgement in case.judgements.iter().filter(applies) {
            let due = case.reviews.is_unread(judgement.name());
            if judgement.is_current && !due {
                continue;
            }
            let waits = !due && is_not_started(case, judgement);
            let name = judgement.name().to_string();
            match case.facts.policy.start {
                ReviewStart::Request if waits => missing.unasked.push(name),
                ReviewStart::CiGreen if waits && !checks_pass(case.facts) => missing.early.push(name),
                ReviewStart::Push | ReviewStart::Request | ReviewStart::CiGreen => missing.reviewers.push(name),
            }
        }
        for name in list_stale_blockers(case) {
            let is_listed = |names: &[String]| names.iter().any(|listed| listed == name);
            if !is_listed(&missing.reviewers) && !is_listed(&missing.unasked) && !is_listed(&missing.early) {
                missing.reviewers.push(name.to_owned());
            }
        }
        missing
    }

    fn describe(&self, case: &RuleContext<'_>) -> Vec<String> {
        let asked_again = |name: &str| {
            let mut current = case.judgements.iter().filter(|it| it.is_current);
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
        let stale = list_stale_blockers(case);
        if !stale.is_empty() {
            facts.push(format!("{} asked for changes at an older head", stale.join(", ")));
        }
        facts.extend(case.reviews.backing_off.iter().map(|role| format!("{role} failed, tried again later")));
        facts
    }
}

/// Nobody asked for this review, and none was tried at this change.
fn is_not_started(case: &RuleContext<'_>, judgement: &RoleJudgement<'_>) -> bool {
    let patch = &case.facts.snapshot.changes.patch;
    let tried = judgement.role.standing.is_some_and(|it| it.mark.patch == *patch && 0 < it.mark.attempts);
    judgement.report_status == ReportStatus::Absent && !tried && !is_review_requested(case.facts, judgement)
}

fn list_missing_bots(case: &RuleContext<'_>) -> Vec<String> {
    let Some(work) = case.facts.dispatch_policy() else { return Vec::new() };
    let current = case.facts.bot_reviews();
    let is_role = |name: &str| case.judgements.iter().any(|it| it.name().as_str() == name);
    let has_read = |name: &str| current.iter().any(|review| review.name == name && review.at_head);
    work.review_bots.iter().filter(|name| !is_role(name) && !has_read(name)).cloned().collect()
}
