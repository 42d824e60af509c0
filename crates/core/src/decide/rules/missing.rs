//! Rule 5: somebody has not read this change yet (DSP-7, D19, D23).
//!
//! | who | when | next |
//! |---|---|---|
//! | a bot of `review_bots` that is no role | it has no review that names this head | wait for the reviewer |
//! | a role that applies | it has no complete verdict for this change | wait for the reviewer, but |
//! | | `start = "request"`, and nobody asked at this head | wait for the author, who may ask |
//! | | `start = "ci_green"`, and the checks have not passed | wait for the checks |
//!
//! The reviewer goes before the author, the author before the checks.

use super::super::judgement::{ReportStatus, RoleJudgement};
use super::review::{checks_pass, is_review_requested};
use super::{MatchedRule, RuleContext};
use crate::plan::WaitingOn;
use crate::policy::ReviewStart;

const RULE: &str = "reviews-missing";

pub(super) fn match_missing_reviews<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let mut reviewers: Vec<String> = list_missing_bots(case);
    let (mut unasked, mut early) = (Vec::new(), Vec::new());
    let unread = |it: &&RoleJudgement<'_>| it.role.applies && !it.role.role.ad_hoc && !it.is_current;
    for judgement in case.judgements.iter().filter(unread) {
        let name = judgement.name().to_string();
        match case.facts.policy.start {
            ReviewStart::Request if is_not_started(case, judgement) => unasked.push(name),
            ReviewStart::CiGreen if is_not_started(case, judgement) && !checks_pass(case) => early.push(name),
            ReviewStart::Push | ReviewStart::Request | ReviewStart::CiGreen => reviewers.push(name),
        }
    }
    if !reviewers.is_empty() {
        let told = format!("not read yet by {}", reviewers.join(", "));
        return Some(MatchedRule::wait(RULE, WaitingOn::Reviewer(reviewers)).fact(told));
    }
    if !unasked.is_empty() {
        let told = format!("{} reads when asked: say `review`", unasked.join(", "));
        return Some(MatchedRule::wait(RULE, WaitingOn::Author).fact(told));
    }
    let told = format!("{} reads once the checks passed", early.join(", "));
    (!early.is_empty()).then(|| MatchedRule::wait(RULE, WaitingOn::Checks).fact(told))
}

/// Nobody asked for this review, and none was tried at this change.
fn is_not_started(case: &RuleContext<'_>, judgement: &RoleJudgement<'_>) -> bool {
    let patch = &case.facts.snapshot.changes.patch;
    let tried = judgement.role.standing.is_some_and(|it| it.mark.patch == *patch && 0 < it.mark.attempts);
    judgement.report_status == ReportStatus::Absent && !tried && !is_review_requested(case, judgement)
}

fn list_missing_bots(case: &RuleContext<'_>) -> Vec<String> {
    let Some(work) = case.facts.dispatch_policy() else { return Vec::new() };
    let current = case.facts.bot_reviews();
    let is_role = |name: &str| case.judgements.iter().any(|it| it.name().as_str() == name);
    let has_read = |name: &str| current.iter().any(|review| review.name == name && review.at_head);
    work.review_bots.iter().filter(|name| !is_role(name) && !has_read(name)).cloned().collect()
}
