//! Builds the Mark of the next summary from the standing Mark, this head and a fresh report.

use std::borrow::Cow;

use super::super::judgement::{FindingChange, FindingRemark, JudgedFinding, ReportStatus, RoleJudgement};
use super::compose::blocking_finding_ids;
use super::explanation;
use super::table::PublishDecision;
use crate::facts::Facts;
use crate::mark::{Evaluation, Mark};
use crate::model::{FindingId, Overflow, Report, Verdict};
use crate::render;

/// Builds the Mark of the next summary: the standing one, moved to this head, updated by a fresh report. In most turns
/// nothing changes, and the standing one is borrowed.
pub(super) fn build_mark<'a>(facts: &Facts<'_>, judgement: &RoleJudgement<'a>, row: &PublishDecision) -> Cow<'a, Mark> {
    let snapshot = facts.snapshot;
    let mut mark = match judgement.role.standing {
        Some(standing) => Cow::Borrowed(standing.mark),
        None => Cow::Owned(new_mark(facts, judgement)),
    };
    if mark.complete && mark.patch == snapshot.changes.patch && mark.head != snapshot.pull.head {
        carry_to_head(facts, mark.to_mut());
    }
    if let Some(report) = judgement.role.report.filter(|_| !is_report_recorded(facts, judgement)) {
        record_report(facts, judgement, report, mark.to_mut());
    }
    let own = judgement.compute_verdict(mark.complete);
    let restored = explanation::find_restored_by(facts, judgement, row);
    let highest = judgement.findings.iter().map(|it| it.id).max().unwrap_or_default().max(mark.highest);
    let rewrote = find_foreign_edit(judgement);
    let same = mark.own == own
        && mark.overflow == judgement.overflow
        && mark.enforced == row.enforced
        && mark.superseded.is_none()
        && mark.restored.as_deref() == restored
        && mark.blocking.iter().copied().eq(blocking_finding_ids(facts, judgement))
        && mark.highest == highest
        && (rewrote.is_none() || mark.rewrote.as_ref() == rewrote);
    if same && matches!(mark, Cow::Borrowed(_)) {
        return mark;
    }
    let mut mark = mark.into_owned();
    mark.own = own;
    mark.overflow = judgement.overflow;
    mark.enforced = row.enforced;
    mark.superseded = None;
    mark.restored = restored.map(str::to_owned);
    mark.blocking = blocking_finding_ids(facts, judgement).collect();
    mark.highest = highest;
    mark.rewrote = rewrote.cloned().or(mark.rewrote);
    Cow::Owned(mark.truncate_to_limits())
}

fn new_mark(facts: &Facts<'_>, judgement: &RoleJudgement<'_>) -> Mark {
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
        overflow: Overflow::default(),
        configured: None,
        tool: None,
        highest: FindingId::default(),
    }
}

/// Moves the Mark to a head with the same change (INC-16); only head and base are updated.
fn carry_to_head(facts: &Facts<'_>, mark: &mut Mark) {
    mark.head = facts.snapshot.pull.head.clone();
    mark.base = facts.snapshot.changes.merge_base.clone();
    mark.reviewed = Some(mark.head.clone());
}

/// Returns whether the standing Mark already records this report: it is the same report, submitted twice, or a second
/// complete report of this change that has no news and that nobody asked for (PUB-2).
pub(in crate::decide) fn is_report_recorded(facts: &Facts<'_>, judgement: &RoleJudgement<'_>) -> bool {
    let (Some(report), Some(standing)) = (judgement.role.report, judgement.role.standing) else { return false };
    let mark = standing.mark;
    let same_change = mark.complete && mark.patch == facts.snapshot.changes.patch;
    let has_no_news = judgement.report_status == ReportStatus::Complete
        && judgement.findings.iter().all(|it| it.change == FindingChange::Unchanged)
        && judgement.overflow == mark.overflow
        && facts.review_requested_at() <= mark.asked;
    mark.report.as_ref() == Some(&report.digest) || (same_change && has_no_news)
}

fn record_report(facts: &Facts<'_>, judgement: &RoleJudgement<'_>, report: &Report, mark: &mut Mark) {
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
    mark.complete = judgement.is_current;
    mark.head = report.head.clone();
    mark.patch = snapshot.changes.patch.clone();
    mark.base = snapshot.changes.merge_base.clone();
    mark.report = Some(report.digest.clone());
    mark.spent = mark.spent.saturating_add(report.figures);
    mark.asked = facts.last_request_at().max(mark.asked);
    mark.evaluation = build_evaluation(judgement, report, since);
    match judgement.report_status {
        ReportStatus::Failed { .. } => {
            mark.attempts = mark.attempts.saturating_add(1);
            mark.tried_at = Some(snapshot.taken_at);
            return;
        }
        ReportStatus::Complete => {
            mark.reviewed = Some(snapshot.pull.head.clone());
            mark.configured.clone_from(&judgement.role.role.inputs);
            mark.tool.clone_from(&report.tool);
            mark.attempts = 0;
            mark.tried_at = None;
        }
        ReportStatus::Incomplete { .. } | ReportStatus::Absent => {
            mark.attempts = mark.attempts.saturating_add(1);
            mark.tried_at = Some(snapshot.taken_at);
        }
    }
    let of_this_change = report.head == snapshot.pull.head || mark.complete;
    let blocks = judgement.own_verdict == Some(Verdict::RequestChanges) && of_this_change;
    let mut used = judgement.role.rounds_used;
    if blocks && !mark.rounds.contains(&mark.patch) {
        let patch = mark.patch.clone();
        used = used.saturating_add(u32::from(!judgement.role.round_patches.contains(&&patch)));
        mark.rounds.push(patch);
    }
    mark.raise_round_count(used as usize);
}

fn build_evaluation(judgement: &RoleJudgement<'_>, report: &Report, since: Option<crate::model::Sha>) -> Evaluation {
    let coverage = report.coverage();
    let (read, skipped) = coverage.map_or((0, 0), |it| (it.read.len(), it.skipped.len()));
    let with_change = |change: FindingChange| -> Vec<FindingId> {
        judgement.findings.iter().filter(|it| it.change == change).map(|it| it.id).collect()
    };
    let remarked = |which: &dyn Fn(&JudgedFinding<'_>) -> bool| {
        judgement.findings.iter().filter(|it| which(it)).map(|it| it.id).collect()
    };
    Evaluation {
        read: u32::try_from(read).unwrap_or(u32::MAX),
        of: u32::try_from(read.saturating_add(skipped)).unwrap_or(u32::MAX),
        skipped: coverage
            .map(|it| it.skipped.iter().take(3).map(|it| render::render_failure(&it.path).into_string()).collect())
            .unwrap_or_default(),
        since: since.filter(|since| *since != report.head),
        new: with_change(FindingChange::Raised),
        fixed_count: u32::try_from(with_change(FindingChange::Fixed).len()).unwrap_or(u32::MAX),
        fixed: with_change(FindingChange::Fixed),
        claimed: remarked(&|it| it.remark == FindingRemark::ClaimedFixed),
        back: remarked(&|it| matches!(it.remark, FindingRemark::ReopenedIn(_))),
        accounting: judgement.accounting,
        failure: match judgement.report_status {
            ReportStatus::Failed { reason } => Some(render::render_failure(reason).into_string()),
            ReportStatus::Incomplete { why } => Some(why.to_owned()),
            ReportStatus::Complete | ReportStatus::Absent => None,
        },
        figures: report.figures,
    }
}

/// Returns the hash of somebody else's edit, which referee overwrites once (D28).
fn find_foreign_edit<'a>(judgement: &RoleJudgement<'a>) -> Option<&'a crate::hash::Hash> {
    let standing = judgement.role.standing?;
    (standing.review.text.hash != standing.mark.words).then_some(&standing.review.text.hash)
}
