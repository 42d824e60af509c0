//! What a summary says of how its verdict came about: all of it follows from the snapshot, so that the next turn says
//! the same.

use super::super::judged::Judgement;
use super::stamp::is_told;
use super::table::{Act, Bearing, Row, Rule, Weight};
use super::weigh;
use crate::facts::Facts;
use crate::model::{Counts, Verdict};
use crate::policy::Approve;
use crate::render::Why;

pub(super) fn why<'a>(
    facts: &'a Facts<'a>,
    judged: &'a [Judgement<'a>],
    judgement: &'a Judgement<'a>,
    row: &Row,
    bearing: &Bearing,
    waiting: &[&'a str],
) -> Vec<Why<'a>> {
    let mut why = Vec::new();
    let own = judgement.own.unwrap_or(Verdict::Comment);
    let sibling = judged.iter().find(|it| it.blocks() && it.role.identity == judgement.role.identity);
    if let Some(glass) = facts.glass {
        why.push(Why::Glass { by: glass.by.name(), reason: glass.reason });
    } else if own != Verdict::RequestChanges {
        match sibling {
            Some(sibling) => why.push(Why::Escalated { by: sibling.name() }),
            None if row.enforced == Verdict::RequestChanges && !judgement.current => why.push(Why::Unread),
            None if row.enforced == Verdict::RequestChanges => why.push(Why::BlockStays),
            None => {}
        }
        if own == Verdict::Approve && row.enforced != Verdict::Approve && !waiting.is_empty() {
            why.push(Why::Waiting { on: waiting.to_vec() });
        }
    }
    if row.enforced != Verdict::Comment && !bearing.verdicts {
        why.push(Why::AsComment { because: "the pull is its own" });
    } else if row.enforced != Verdict::Comment && bearing.approve == Approve::Off {
        why.push(Why::AsComment { because: "verdicts are switched off" });
    }
    if let Some(by) = restored(facts, judgement, row) {
        why.push(Why::Restored { by });
    }
    if let Some(by) =
        dismissed_by(facts, judgement).filter(|_| row.act == Act::Keep && row.enforced == Verdict::RequestChanges)
    {
        why.push(Why::Dismissed { by });
    }
    let not_asked: Vec<_> =
        judged.iter().filter(|it| it.role.role.blocks && !it.is_asked()).map(|it| it.name().as_str()).collect();
    if !not_asked.is_empty() {
        why.push(Why::NotAsked { roles: not_asked });
    }
    why
}

/// Who took the weight of the review that is posted again, or was posted again before (PUB-20).
pub(super) fn restored<'a>(facts: &Facts<'_>, judgement: &Judgement<'a>, row: &Row) -> Option<&'a str> {
    let standing = judgement.role.standing?;
    let again = matches!(row.act, Act::Post(form) if form == standing.form);
    let told = judgement.role.report.is_none() || is_told(facts, judgement);
    match &standing.review.counts {
        Counts::Dismissed { by: Some(by), .. } if again => Some(by.name()),
        Counts::Requested if again => Some(REQUEST),
        _ if row.rule == Rule::Answers => Some(REQUEST),
        _ if told => standing.mark.restored.as_deref(),
        _ => None,
    }
}

const REQUEST: &str = "a request for review";

/// Who dismissed the standing block, if they may and that is respected at this change.
fn dismissed_by<'a>(facts: &Facts<'_>, judgement: &Judgement<'a>) -> Option<&'a str> {
    let standing = judgement.role.standing.filter(|standing| standing.form == Verdict::RequestChanges)?;
    match &standing.review.counts {
        Counts::Dismissed { by: Some(by), .. } if weigh::weight(facts, standing) == Weight::Respected => {
            Some(by.name())
        }
        _ => None,
    }
}
