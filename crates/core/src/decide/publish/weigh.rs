//! From facts to the small values of the table: who speaks, what still has weight, who is waited for.

use super::super::judged::{Fresh, Judgement};
use super::table::{Bearing, Held, Row, Voice, Weight};
use crate::facts::people::lifted_rightly;
use crate::facts::{Facts, Standing};
use crate::model::{CheckState, Counts, Login, Support, Verdict};

/// Who approving waits for (D19): blocking roles that apply and have no complete verdict for this change, whoever
/// speaks for them, and people whose block stands.
pub(super) fn waiting<'a>(facts: &'a Facts<'a>, judged: &'a [Judgement<'a>]) -> Vec<&'a str> {
    let roles =
        judged.iter().filter(|it| it.role.role.blocks && it.is_asked() && !it.current).map(|it| it.name().as_str());
    roles.chain(facts.blocks.iter().map(|block| block.review.author.name())).collect()
}

pub(super) fn bearing(facts: &Facts<'_>, identity: &Login, waiting: &[&str]) -> Bearing {
    let pull = &facts.snapshot.pull;
    Bearing {
        newest: facts.newest_counted(identity),
        approve: facts.policy.approve,
        verdicts: !pull.author.is(identity) && facts.snapshot.capabilities.verdicts != Support::Unsupported,
        waits: !waiting.is_empty(),
        glass: facts.glass.is_some(),
        requested: requested(facts, identity),
    }
}

/// Somebody asks for this identity's review, and it posted nothing since.
fn requested(facts: &Facts<'_>, identity: &Login) -> bool {
    let snapshot = facts.snapshot;
    let answered_at = snapshot
        .reviews
        .iter()
        .filter(|review| review.is_by(identity) && review.verdict().is_some())
        .map(|review| review.at)
        .max();
    snapshot
        .pull
        .requests
        .iter()
        .any(|request| request.of == *identity && answered_at.is_some_and(|answered| answered < request.at))
}

pub(super) fn voice(facts: &Facts<'_>, judgement: &Judgement<'_>) -> Voice {
    let standing = judgement.role.standing;
    Voice {
        own: judgement.own,
        blocks: judgement.role.role.blocks,
        current: judgement.current,
        standing: standing.map(|standing| Held { form: standing.form, weight: weight(facts, standing) }),
        unread: standing.is_some_and(|standing| unread(facts, judgement, standing)),
    }
}

pub(super) fn weight(facts: &Facts<'_>, standing: Standing<'_>) -> Weight {
    let review = standing.review;
    if standing.form == Verdict::Comment {
        return Weight::Weightless;
    }
    match &review.counts {
        Counts::Yes => Weight::Counts,
        Counts::Replaced => Weight::Replaced,
        Counts::Requested => Weight::Lost,
        Counts::No => Weight::Weightless,
        Counts::Dismissed { at, .. } => {
            let at_this_change =
                standing.mark.patch == facts.snapshot.changes.patch || facts.snapshot.pull.head_since <= *at;
            let rightly = lifted_rightly(facts.snapshot, review);
            if rightly && at_this_change { Weight::Respected } else { Weight::Lost }
        }
    }
}

/// An own approval of another change that this one was not read for: the report here failed or is incomplete
/// (PUB-6), or the head moved before the approval landed (PUB-15).
fn unread(facts: &Facts<'_>, judgement: &Judgement<'_>, standing: Standing<'_>) -> bool {
    let other_change = standing.mark.patch != facts.snapshot.changes.patch;
    let landed_here = facts.snapshot.pull.head_since <= standing.review.at;
    let unreadable = matches!(judgement.fresh, Fresh::Failed { .. } | Fresh::Incomplete { .. });
    standing.form == Verdict::Approve && other_change && !judgement.current && (landed_here || unreadable)
}

/// Approve is success, request changes failure; a comment waits, unless the role may not block (PUB-19).
pub(super) fn status(judgement: &Judgement<'_>, row: &Row) -> CheckState {
    match row.enforced {
        Verdict::Approve => CheckState::Pass,
        Verdict::RequestChanges => CheckState::Fail,
        Verdict::Comment if judgement.role.role.blocks => CheckState::Pending,
        Verdict::Comment => CheckState::Pass,
    }
}
