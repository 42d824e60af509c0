//! Builds the input of the publishing table from facts.

use super::super::judgement::{ReportStatus, RoleJudgement};
use super::table::{IdentityContext, PublishDecision, PublishInput, StandingVerdict, StandingWeight};
use crate::facts::people::is_validly_dismissed;
use crate::facts::{Facts, StandingReview};
use crate::model::{CheckState, Login, ReviewWeight, Support, Verdict};

/// Lists whom an approval waits for (D19): blocking roles that apply and have no complete verdict for this change,
/// whatever their identity, and people whose block stands.
pub(super) fn list_awaited<'a>(facts: &'a Facts<'a>, judged: &'a [RoleJudgement<'a>]) -> Vec<&'a str> {
    let roles = judged
        .iter()
        .filter(|it| it.role.role.blocks && it.is_involved() && !it.is_current)
        .map(|it| it.name().as_str());
    roles.chain(facts.external_blocks.iter().map(|block| block.review.author.display_name())).collect()
}

pub(super) fn build_identity_context(facts: &Facts<'_>, identity: &Login, waiting: &[&str]) -> IdentityContext {
    let pull = &facts.snapshot.pull;
    IdentityContext {
        newest_verdict: facts.newest_counted_verdict(identity),
        approve: facts.policy.approve,
        can_post_verdicts: !pull.author.has_login(identity)
            && facts.snapshot.capabilities.verdicts != Support::Unsupported,
        must_wait: !waiting.is_empty(),
        glass_broken: facts.break_glass.is_some(),
        review_requested: is_review_requested(facts, identity),
    }
}

/// Returns whether the identity's review was requested after its last verdict.
fn is_review_requested(facts: &Facts<'_>, identity: &Login) -> bool {
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

pub(super) fn build_publish_input(facts: &Facts<'_>, judgement: &RoleJudgement<'_>) -> PublishInput {
    let standing = judgement.role.standing;
    PublishInput {
        own_verdict: judgement.own_verdict,
        may_block: judgement.role.role.blocks,
        is_current: judgement.is_current,
        standing: standing
            .map(|standing| StandingVerdict { posted_as: standing.posted_as, weight: weigh_review(facts, standing) }),
        has_unread_approval: standing.is_some_and(|standing| is_unread_approval(facts, judgement, standing)),
    }
}

pub(super) fn weigh_review(facts: &Facts<'_>, standing: StandingReview<'_>) -> StandingWeight {
    let review = standing.review;
    if standing.posted_as == Verdict::Comment {
        return StandingWeight::NeverCounted;
    }
    match &review.counts {
        ReviewWeight::Yes => StandingWeight::Counts,
        ReviewWeight::Replaced => StandingWeight::Replaced,
        ReviewWeight::Requested => StandingWeight::Lost,
        ReviewWeight::No => StandingWeight::NeverCounted,
        ReviewWeight::Dismissed { at, .. } => {
            let at_this_change =
                standing.mark.patch == facts.snapshot.changes.patch || facts.snapshot.pull.head_since <= *at;
            let is_valid = is_validly_dismissed(facts.snapshot, review);
            if is_valid && at_this_change { StandingWeight::DismissalRespected } else { StandingWeight::Lost }
        }
    }
}

/// Returns whether a standing approval covers a change that was not read: the report here failed or is incomplete
/// (PUB-6), or the head moved before the approval was posted (PUB-15).
fn is_unread_approval(facts: &Facts<'_>, judgement: &RoleJudgement<'_>, standing: StandingReview<'_>) -> bool {
    let other_change = standing.mark.patch != facts.snapshot.changes.patch;
    let landed_here = facts.snapshot.pull.head_since <= standing.review.at;
    let not_read = matches!(judgement.report_status, ReportStatus::Failed { .. } | ReportStatus::Incomplete { .. });
    standing.posted_as == Verdict::Approve && other_change && !judgement.is_current && (landed_here || not_read)
}

/// Maps a verdict to a commit status: approve is success, request changes is failure, a comment is pending, or success
/// if the role may not block (PUB-19).
pub(super) fn choose_status(judgement: &RoleJudgement<'_>, row: &PublishDecision) -> CheckState {
    match row.enforced {
        Verdict::Approve => CheckState::Pass,
        Verdict::RequestChanges => CheckState::Fail,
        Verdict::Comment if judgement.role.role.blocks => CheckState::Pending,
        Verdict::Comment => CheckState::Pass,
    }
}
