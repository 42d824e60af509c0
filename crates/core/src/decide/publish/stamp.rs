//! The Mark as it should be: what stood, carried to this head, with what a fresh report says.

use std::borrow::Cow;

use super::super::judged::{Fresh, Judged, Judgement, Moved, Remark};
use super::compose::blocking;
use super::table::Row;
use super::why;
use crate::facts::Facts;
use crate::mark::{Evaluation, Mark};
use crate::model::{FindingId, Report, Verdict};
use crate::render;

/// The Mark as it should be: what stood, carried to this head, with what a fresh report says. In most turns it is the
/// one that stands, and is not made anew.
pub(super) fn mark<'a>(facts: &Facts<'_>, judgement: &Judgement<'a>, row: &Row) -> Cow<'a, Mark> {
    let snapshot = facts.snapshot;
    let mut mark = match judgement.role.standing {
        Some(standing) => Cow::Borrowed(standing.mark),
        None => Cow::Owned(blank(facts, judgement)),
    };
    if mark.complete && mark.patch == snapshot.changes.patch && mark.head != snapshot.pull.head {
        carry(facts, mark.to_mut());
    }
    if let Some(report) = judgement.role.report.filter(|_| !is_told(facts, judgement)) {
        evaluate(facts, judgement, report, mark.to_mut());
    }
    let own = judgement.verdict(mark.complete);
    let restored = why::restored(facts, judgement, row);
    let highest = judgement.findings.iter().map(|it| it.id).max().unwrap_or_default().max(mark.highest);
    let rewrote = rewrote(judgement);
    let same = mark.own == own
        && mark.enforced == row.enforced
        && mark.superseded.is_none()
        && mark.restored.as_deref() == restored
        && mark.blocking.iter().copied().eq(blocking(facts, judgement))
        && mark.highest == highest
        && (rewrote.is_none() || mark.rewrote.as_ref() == rewrote);
    if same && matches!(mark, Cow::Borrowed(_)) {
        return mark;
    }
    let mut mark = mark.into_owned();
    mark.own = own;
    mark.enforced = row.enforced;
    mark.superseded = None;
    mark.restored = restored.map(str::to_owned);
    mark.blocking = blocking(facts, judgement).collect();
    mark.highest = highest;
    mark.rewrote = rewrote.cloned().or(mark.rewrote);
    Cow::Owned(mark.fitted())
}

fn blank(facts: &Facts<'_>, judgement: &Judgement<'_>) -> Mark {
    Mark {
        role: judgement.name().clone(),
        own: Verdict::Comment,
        enforced: Verdict::Comment,
        head: facts.snapshot.pull.head.clone(),
        base: facts.snapshot.changes.merge_base.clone(),
        patch: facts.snapshot.changes.patch.clone(),
        complete: false,
        reviewed: None,
        rounds: Vec::new(),
        reopened: facts.snapshot.pull.reopened_at(),
        attempts: 0,
        tried_at: None,
        report: None,
        asked: None,
        restored: None,
        superseded: None,
        blocking: Vec::new(),
        inputs: Default::default(),
        words: Default::default(),
        rewrote: None,
        evaluation: Evaluation::default(),
        spent: Default::default(),
        highest: FindingId::default(),
    }
}

/// The same change under another name: text and Mark are stamped anew, nothing else (INC-16).
fn carry(facts: &Facts<'_>, mark: &mut Mark) {
    mark.head = facts.snapshot.pull.head.clone();
    mark.base = facts.snapshot.changes.merge_base.clone();
    mark.reviewed = Some(mark.head.clone());
}

/// Whether the standing Mark tells of the report that is here: it is the very same, handed in twice, or a second
/// complete one of this change that says nothing new and that nobody asked for (PUB-2).
pub(in crate::decide) fn is_told(facts: &Facts<'_>, judgement: &Judgement<'_>) -> bool {
    let (Some(report), Some(standing)) = (judgement.role.report, judgement.role.standing) else { return false };
    let mark = standing.mark;
    let same_change = mark.complete && mark.patch == facts.snapshot.changes.patch;
    let says_nothing_new = judgement.fresh == Fresh::Complete
        && judgement.findings.iter().all(|it| it.moved == Moved::No)
        && facts.asked_review() <= mark.asked;
    mark.report.as_ref() == Some(&report.digest) || (same_change && says_nothing_new)
}

fn evaluate(facts: &Facts<'_>, judgement: &Judgement<'_>, report: &Report, mark: &mut Mark) {
    let snapshot = facts.snapshot;
    let same_change = mark.patch == snapshot.changes.patch;
    let since = mark.reviewed.clone();
    if mark.reopened != snapshot.pull.reopened_at() {
        mark.reopened = snapshot.pull.reopened_at();
        mark.rounds.clear();
    }
    if !same_change {
        mark.attempts = 0;
    }
    mark.complete = judgement.current;
    mark.head = report.head.clone();
    mark.patch = snapshot.changes.patch.clone();
    mark.base = snapshot.changes.merge_base.clone();
    mark.report = Some(report.digest.clone());
    mark.spent = mark.spent.plus(report.figures);
    mark.asked = facts.asked().max(mark.asked);
    mark.evaluation = evaluation(judgement, report, since);
    match judgement.fresh {
        Fresh::Failed { .. } => {
            mark.attempts = mark.attempts.saturating_add(1);
            mark.tried_at = Some(snapshot.taken_at);
            return;
        }
        Fresh::Complete => {
            mark.reviewed = Some(snapshot.pull.head.clone());
            mark.attempts = 0;
            mark.tried_at = None;
        }
        Fresh::Incomplete { .. } | Fresh::None => {
            mark.attempts = mark.attempts.saturating_add(1);
            mark.tried_at = Some(snapshot.taken_at);
        }
    }
    let of_this_change = report.head == snapshot.pull.head || mark.complete;
    let blocks = judgement.own == Some(Verdict::RequestChanges) && of_this_change;
    if blocks && !mark.rounds.contains(&mark.patch) {
        let patch = mark.patch.clone();
        mark.rounds.push(patch);
    }
}

fn evaluation(judgement: &Judgement<'_>, report: &Report, since: Option<crate::model::Sha>) -> Evaluation {
    let coverage = report.coverage();
    let (read, skipped) = coverage.map_or((0, 0), |it| (it.read.len(), it.skipped.len()));
    let of = |moved: Moved| judgement.findings.iter().filter(|it| it.moved == moved).map(|it| it.id).collect();
    let remarked = |which: &dyn Fn(&Judged<'_>) -> bool| {
        judgement.findings.iter().filter(|it| which(it)).map(|it| it.id).collect()
    };
    Evaluation {
        read: u32::try_from(read).unwrap_or(u32::MAX),
        of: u32::try_from(read.saturating_add(skipped)).unwrap_or(u32::MAX),
        skipped: coverage
            .map(|it| it.skipped.iter().take(3).map(|it| render::failure(&it.path).into_string()).collect())
            .unwrap_or_default(),
        since: since.filter(|since| *since != report.head),
        new: of(Moved::Raised),
        fixed: of(Moved::Fixed),
        claimed: remarked(&|it| it.remark == Remark::ClaimedFixed),
        back: remarked(&|it| matches!(it.remark, Remark::ReopenedIn(_))),
        pre_existing: u32::try_from(report.pre_existing.len()).unwrap_or(u32::MAX),
        held_back: u32::try_from(judgement.held_back).unwrap_or(u32::MAX),
        failure: match judgement.fresh {
            Fresh::Failed { reason } => Some(render::failure(reason).into_string()),
            Fresh::Incomplete { why } => Some(why.to_owned()),
            Fresh::Complete | Fresh::None => None,
        },
        figures: report.figures,
    }
}

/// The edit by somebody else that is about to be written over, once (D28).
fn rewrote<'a>(judgement: &Judgement<'a>) -> Option<&'a crate::hash::Hash> {
    let standing = judgement.role.standing?;
    (standing.review.text.hash != standing.mark.words).then_some(&standing.review.text.hash)
}
