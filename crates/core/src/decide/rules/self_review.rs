//! Rule 7: the fixing side has reviewed its own change and found nothing (DSP-8). Only with dispatch.
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

pub(super) fn match_self_review<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let user = &context.facts.dispatch_policy()?.user;
    let (kind, fact) = match context.facts.newest_self_review() {
        None => (JobKind::SelfReview, format!("none by {user} for {}", context.head())),
        Some(SelfReviewOutcome::NeedsAttention) => (JobKind::SrFix, format!("needs attention at {}", context.head())),
        Some(SelfReviewOutcome::Clean) => return None,
    };
    let cause = kind.to_string();
    let record = context.facts.work.find_at_change(&cause, &context.facts.snapshot.changes.patch);
    Some(decide_worker(context, RULE, kind, cause.clone(), record).fact(fact))
}
