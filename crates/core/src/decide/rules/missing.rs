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

use super::super::judged::{Fresh, Judgement};
use super::review::{checks_pass, is_asked};
use super::{Case, Ruled};
use crate::plan::OnWhom;
use crate::policy::Start;

const RULE: &str = "reviews-missing";

pub(super) fn missing<'a>(case: &Case<'a>) -> Option<Ruled<'a>> {
    let mut reviewers: Vec<String> = bots(case);
    let (mut unasked, mut early) = (Vec::new(), Vec::new());
    let unread = |it: &&Judgement<'_>| it.role.applies && !it.role.role.ad_hoc && !it.current;
    for judgement in case.judged.iter().filter(unread) {
        let name = judgement.name().to_string();
        match case.facts.policy.start {
            Start::Request if untouched(case, judgement) => unasked.push(name),
            Start::CiGreen if untouched(case, judgement) && !checks_pass(case) => early.push(name),
            Start::Push | Start::Request | Start::CiGreen => reviewers.push(name),
        }
    }
    if !reviewers.is_empty() {
        let told = format!("not read yet by {}", reviewers.join(", "));
        return Some(Ruled::wait(RULE, OnWhom::Reviewer(reviewers)).fact(told));
    }
    if !unasked.is_empty() {
        let told = format!("{} reads when asked: say `review`", unasked.join(", "));
        return Some(Ruled::wait(RULE, OnWhom::Author).fact(told));
    }
    let told = format!("{} reads once the checks passed", early.join(", "));
    (!early.is_empty()).then(|| Ruled::wait(RULE, OnWhom::Checks).fact(told))
}

/// Nobody asked for this review, and none was tried at this change.
fn untouched(case: &Case<'_>, judgement: &Judgement<'_>) -> bool {
    let patch = &case.facts.snapshot.changes.patch;
    let tried = judgement.role.standing.is_some_and(|it| it.mark.patch == *patch && 0 < it.mark.attempts);
    judgement.fresh == Fresh::None && !tried && !is_asked(case, judgement)
}

fn bots(case: &Case<'_>) -> Vec<String> {
    let Some(work) = case.facts.work_here() else { return Vec::new() };
    let current = case.facts.bot_reviews();
    let is_role = |name: &str| case.judged.iter().any(|it| it.name().as_str() == name);
    let has_read = |name: &str| current.iter().any(|review| review.name == name && review.at_head);
    work.review_bots.iter().filter(|name| !is_role(name) && !has_read(name)).cloned().collect()
}
