//! The notes in a summary that explain its verdict. They depend only on the snapshot, so that the next turn renders the
//! same text.

use super::super::judgement::RoleJudgement;
use super::mark_update::is_report_recorded;
use super::table::{IdentityContext, PublishAction, PublishDecision, StandingWeight};
use super::table_input;
use crate::facts::Facts;
use crate::model::{ReviewWeight, Verdict};
use crate::policy::ApprovalMode;
use crate::render::SummaryNote;
use crate::rule::Rule;

pub(super) fn explain_verdict<'a>(
    facts: &'a Facts<'a>,
    judged: &'a [RoleJudgement<'a>],
    judgement: &'a RoleJudgement<'a>,
    row: &PublishDecision,
    context: &IdentityContext,
    waiting: &[&'a str],
) -> Vec<SummaryNote<'a>> {
    let mut why = Vec::new();
    let own = judgement.own_verdict.unwrap_or(Verdict::Comment);
    let sibling = judged.iter().find(|it| it.is_blocking() && it.role.identity == judgement.role.identity);
    if let Some(glass) = facts.break_glass {
        why.push(SummaryNote::GlassBroken { by: glass.by.display_name(), reason: glass.reason });
    } else if own != Verdict::RequestChanges {
        match sibling {
            Some(sibling) => why.push(SummaryNote::Escalated { by: sibling.name() }),
            None if row.enforced == Verdict::RequestChanges && !judgement.is_current => {
                why.push(SummaryNote::HeadUnread)
            }
            None if row.enforced == Verdict::RequestChanges => why.push(SummaryNote::BlockStays),
            None => {}
        }
        if own == Verdict::Approve && row.enforced != Verdict::Approve && !waiting.is_empty() {
            why.push(SummaryNote::Waiting { on: waiting.to_vec() });
        }
    }
    if row.enforced != Verdict::Comment && !context.can_post_verdicts {
        why.push(SummaryNote::PostedAsComment { because: "the pull is its own" });
    } else if row.enforced != Verdict::Comment && context.approve == ApprovalMode::Off {
        why.push(SummaryNote::PostedAsComment { because: "verdicts are switched off" });
    }
    if let Some(by) = find_restored_by(facts, judgement, row) {
        why.push(SummaryNote::Restored { by });
    }
    if let Some(by) = find_dismissed_by(facts, judgement)
        .filter(|_| row.action == PublishAction::Keep && row.enforced == Verdict::RequestChanges)
    {
        why.push(SummaryNote::Dismissed { by });
    }
    let not_asked: Vec<_> =
        judged.iter().filter(|it| it.role.role.blocks && !it.is_involved()).map(|it| it.name().as_str()).collect();
    if !not_asked.is_empty() {
        why.push(SummaryNote::RolesNotAsked { roles: not_asked });
    }
    why
}

/// Returns who took the weight of the review that is posted again, now or in an earlier turn (PUB-20).
pub(super) fn find_restored_by<'a>(
    facts: &Facts<'_>,
    judgement: &RoleJudgement<'a>,
    row: &PublishDecision,
) -> Option<&'a str> {
    let standing = judgement.role.standing?;
    let again = matches!(row.action, PublishAction::Post(form) if form == standing.posted_as);
    let recorded = judgement.role.report.is_none() || is_report_recorded(facts, judgement);
    match &standing.review.counts {
        ReviewWeight::Dismissed { by: Some(by), .. } if again => Some(by.display_name()),
        ReviewWeight::Requested if again => Some(RESTORED_BY_REQUEST),
        _ if row.rule == Rule::Answers => Some(RESTORED_BY_REQUEST),
        _ if recorded => standing.mark.restored.as_deref(),
        _ => None,
    }
}

const RESTORED_BY_REQUEST: &str = "a request for review";

/// Returns who dismissed the standing block, if that person may and the dismissal is respected at this change.
fn find_dismissed_by<'a>(facts: &Facts<'_>, judgement: &RoleJudgement<'a>) -> Option<&'a str> {
    let standing = judgement.role.standing.filter(|standing| standing.posted_as == Verdict::RequestChanges)?;
    match &standing.review.counts {
        ReviewWeight::Dismissed { by: Some(by), .. }
            if table_input::weigh_review(facts, standing) == StandingWeight::DismissalRespected =>
        {
            Some(by.display_name())
        }
        _ => None,
    }
}
