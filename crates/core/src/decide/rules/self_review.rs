//! Rule 7: the fixing side has read its own change, and found nothing (DSP-8). Only where there are workers.
//!
//! | newest self-review of this head | next |
//! |---|---|
//! | none | spawn `self-review` |
//! | needs attention, or cannot be read | spawn `sr-fix` |
//! | clean | the next rule |

use super::worker::decide_worker;
use super::{MatchedRule, RuleContext};
use crate::facts::SelfReviewOutcome;
use crate::plan::JobKind;
use crate::rule::Rule;

const RULE: Rule = Rule::SelfReview;

pub(super) fn match_self_review<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let user = &case.facts.dispatch_policy()?.user;
    let (kind, told) = match case.facts.newest_self_review() {
        None => (JobKind::SelfReview, format!("none by {user} for {}", case.head())),
        Some(SelfReviewOutcome::NeedsAttention) => (JobKind::SrFix, format!("needs attention at {}", case.head())),
        Some(SelfReviewOutcome::Clean) => return None,
    };
    let cause = kind.to_string();
    let record = case.facts.work.find_at_change(&cause, &case.facts.snapshot.changes.patch);
    Some(decide_worker(case, RULE, kind, cause.clone(), record).fact(told))
}
