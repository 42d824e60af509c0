//! Rule 7: the fixing side has read its own change, and found nothing (DSP-8). Only where there are workers.
//!
//! | newest self-review of this head | next |
//! |---|---|
//! | none | spawn `self-review` |
//! | needs attention, or cannot be read | spawn `sr-fix` |
//! | clean | the next rule |

use super::worker::worker;
use super::{Case, Ruled};
use crate::facts::Assessment;
use crate::plan::JobKind;

const RULE: &str = "self-review";

pub(super) fn self_review<'a>(case: &Case<'a>) -> Option<Ruled<'a>> {
    let user = &case.facts.work_here()?.user;
    let (kind, told) = match case.facts.self_review() {
        None => (JobKind::SelfReview, format!("none by {user} for {}", case.head())),
        Some(Assessment::NeedsAttention) => (JobKind::SrFix, format!("needs attention at {}", case.head())),
        Some(Assessment::Clean) => return None,
    };
    let cause = kind.to_string();
    let record = case.facts.work.at(&cause, &case.facts.snapshot.changes.patch);
    Some(worker(case, RULE, kind, cause.clone(), record).fact(told))
}
