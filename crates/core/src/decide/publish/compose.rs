//! Composes a role's summary and Mark, and compares them with the standing review.

use std::borrow::Cow;
use std::ptr;

use super::super::judgement::{FindingRemark, JudgedFinding, RoleJudgement};
use super::explanation;
use super::mark_update;
use super::table::{IdentityContext, PublishAction, PublishDecision};
use crate::facts::{Facts, KnownFinding, StandingReview};
use crate::mark::{Block, BlockEntry, Evaluation, MAX_PRE_EXISTING, Mark, Trust};
use crate::model::{FindingId, FindingState, PreExisting, Review, Severity, Verdict};
use crate::plan::{Action, Gate, Precondition, Reason, Step, TextDraft, Trailer};
use crate::render::{self, Summary, SummaryFinding, SummaryNote};
use crate::track::CodeLocation;

/// The summary and Mark that a role should have.
#[derive(Debug)]
pub(super) struct ComposedReview<'a> {
    facts: &'a Facts<'a>,
    judgement: &'a RoleJudgement<'a>,
    posted_as: Verdict,
    mark: Cow<'a, Mark>,
    why: Vec<SummaryNote<'a>>,
    open: Vec<SummaryFinding<'a>>,
    accepted: Vec<SummaryFinding<'a>>,
    evicted: u32,
    pre_existing: Cow<'a, [PreExisting]>,
    report_summary: Cow<'a, str>,
}

pub(super) fn compose_review<'a>(
    facts: &'a Facts<'a>,
    judged: &'a [RoleJudgement<'a>],
    judgement: &'a RoleJudgement<'a>,
    row: &PublishDecision,
    context: &IdentityContext,
    waiting: &[&'a str],
) -> ComposedReview<'a> {
    let standing = judgement.role.standing;
    let form = match row.action {
        PublishAction::Post(form) | PublishAction::PostAndSupersede(form) => form,
        PublishAction::Keep | PublishAction::Silent => standing.map_or(Verdict::Comment, |standing| standing.posted_as),
    };
    let block = standing.and_then(|standing| standing.review.text.reading.block.as_deref());
    let lowest = lowest_blocking_severity(facts, judgement);
    let mark = mark_update::build_mark(facts, judgement, row);
    let mut composed = ComposedReview {
        posted_as: form,
        why: explanation::explain_verdict(facts, judged, judgement, row, context, waiting),
        open: judgement
            .counting_findings()
            .into_iter()
            .map(|it| build_summary_line(it, lowest, &mark.evaluation))
            .collect(),
        accepted: judgement
            .findings
            .iter()
            .filter(|it| it.state == FindingState::Accepted)
            .map(|it| build_summary_line(it, None, &mark.evaluation))
            .collect(),
        evicted: block.map_or(0, |block| block.evicted),
        pre_existing: collect_pre_existing(facts, judgement),
        report_summary: choose_report_summary(facts, judgement),
        mark,
        facts,
        judgement,
    };
    let inputs = composed.summary().hash_inputs();
    if composed.mark.inputs != inputs {
        composed.mark.to_mut().inputs = inputs;
    }
    composed
}

/// Builds a finding's line in the summary. Remarks come from the evaluation in the Mark, so that a later turn renders
/// the same text. A new finding has no link: its thread opens with the post, and adding the link would take an edit.
fn build_summary_line<'a>(
    it: &'a JudgedFinding<'a>,
    lowest_blocking: Option<Severity>,
    evaluation: &Evaluation,
) -> SummaryFinding<'a> {
    let Evaluation { new, claimed, back, .. } = evaluation;
    SummaryFinding {
        id: it.id,
        severity: it.severity,
        title: it.title,
        path: it.path,
        line: it.line,
        detail: it.detail,
        rule: it.rule,
        has_thread: it.thread.is_some() || it.opens_thread,
        blocking: lowest_blocking.is_some_and(|lowest| lowest <= it.severity),
        thread_url: if new.contains(&it.id) { "" } else { it.thread_url },
        remark: match it.remark {
            FindingRemark::ResolvedBy(by) => FindingRemark::ResolvedBy(by),
            _ if claimed.contains(&it.id) => FindingRemark::ClaimedFixed,
            _ if back.contains(&it.id) => FindingRemark::ReopenedIn(it.head),
            _ => FindingRemark::None,
        },
        accepted_by: it.accepted_by,
    }
}

/// Returns the findings outside the change: those of a report that the Mark does not record yet, otherwise those of the
///  standing Block.
fn collect_pre_existing<'a>(facts: &Facts<'_>, judgement: &RoleJudgement<'a>) -> Cow<'a, [PreExisting]> {
    let block = judgement.role.standing.and_then(|standing| standing.review.text.reading.block.as_deref());
    match judgement.role.report.filter(|_| !mark_update::is_report_recorded(facts, judgement)) {
        Some(report) => Cow::Borrowed(report.pre_existing.get(..MAX_PRE_EXISTING).unwrap_or(&report.pre_existing)),
        None => Cow::Borrowed(block.map_or(&[], |block| &block.pre_existing)),
    }
}

/// Returns what the report says as a whole, by the same rule as [`collect_pre_existing`].
fn choose_report_summary<'a>(facts: &Facts<'_>, judgement: &RoleJudgement<'a>) -> Cow<'a, str> {
    let block = judgement.role.standing.and_then(|standing| standing.review.text.reading.block.as_deref());
    match judgement.role.report.filter(|_| !mark_update::is_report_recorded(facts, judgement)) {
        Some(report) => Cow::Owned(render::render_report_summary(&report.summary).into_string()),
        None => Cow::Borrowed(block.map_or("", |block| &block.report_summary)),
    }
}

/// Builds a finding's line in the notice.
pub(super) fn build_blocking_line<'a>(it: &'a JudgedFinding<'a>) -> SummaryFinding<'a> {
    build_summary_line(it, Some(it.severity), &Evaluation::default())
}

/// Returns the findings that make the role's own verdict block, by id.
pub(in crate::decide) fn blocking_finding_ids(
    facts: &Facts<'_>,
    judgement: &RoleJudgement<'_>,
) -> impl Iterator<Item = FindingId> {
    let lowest = lowest_blocking_severity(facts, judgement);
    let blocks = move |it: &&JudgedFinding<'_>| it.counts && lowest.is_some_and(|lowest| lowest <= it.severity);
    judgement.findings.iter().filter(blocks).map(|it| it.id)
}

/// Returns the lowest severity for which the role's own verdict blocks; `None` if the role may not block.
pub(super) fn lowest_blocking_severity(facts: &Facts<'_>, judgement: &RoleJudgement<'_>) -> Option<Severity> {
    let warnings = judgement.findings.iter().filter(|it| it.counts && it.severity == Severity::Warning).count()
        + judgement.overflow.warning as usize;
    let enough = 0 < facts.policy.risk_warnings && facts.policy.risk_warnings <= warnings;
    judgement.role.role.blocks.then_some(if enough { Severity::Warning } else { Severity::Critical })
}

impl<'a> ComposedReview<'a> {
    /// Returns the input of the renderer.
    pub(super) fn summary(&self) -> Summary<'_> {
        Summary {
            role: self.judgement.name(),
            ad_hoc: self.judgement.role.role.ad_hoc,
            own_verdict: self.mark.own,
            enforced_verdict: self.mark.enforced,
            posted_verdict: self.posted_as,
            notes: &self.why,
            head: &self.mark.head,
            complete: self.mark.complete,
            attempts: self.mark.attempts,
            round: u32::try_from(self.mark.rounds.len()).unwrap_or(u32::MAX),
            max_rounds: self.facts.rounds_allowed(),
            evaluation: &self.mark.evaluation,
            spent: self.mark.spent,
            budget_micro_usd: self.facts.policy.budget.micro_usd,
            open_findings: &self.open,
            accepted_findings: &self.accepted,
            evicted_count: self.evicted,
            overflow: self.mark.overflow,
            pre_existing: &self.pre_existing,
            report_summary: &self.report_summary,
            bot: self.judgement.role.identity,
        }
    }

    /// Returns why the standing summary must be edited (PUB-2, PUB-3, D28); `None` if it need not.
    pub(super) fn find_edit_reason(&self) -> Option<&'static str> {
        let standing = self.judgement.role.standing?;
        let (now, before) = (&self.mark, standing.mark);
        let edited = standing.review.text.hash != before.words;
        if edited && before.rewrote.as_ref() != Some(&standing.review.text.hash) {
            return Some("somebody edited it");
        }
        let adopted = standing.review.text.reading.mark.as_ref().is_some_and(|mark| mark.trust == Trust::Adopted);
        if adopted {
            return Some("its Mark has no MAC yet");
        }
        let same = matches!(now, Cow::Borrowed(_)) || **now == *before;
        (!same || !self.matches_standing_block()).then_some("its text or Mark would differ")
    }

    /// Returns whether the standing Block has the same content.
    fn matches_standing_block(&self) -> bool {
        let block = self.judgement.role.standing.and_then(|it| it.review.text.reading.block.as_deref());
        let entries = block.map_or(&[][..], |block| block.entries.as_slice());
        let mut kept = 0;
        for it in &self.judgement.findings {
            // Usually both lists have the same order.
            let next = entries.get(kept).filter(|entry| entry.id == it.id);
            match next.or_else(|| entries.iter().find(|entry| entry.id == it.id)) {
                Some(entry) if !is_same_entry(entry, it) => return false,
                Some(_) => kept += 1,
                None if it.state.is_settled() => {}
                None => return block.is_some_and(|block| 0 < block.evicted) && it.thread.is_some(),
            }
        }
        kept == entries.len()
    }

    /// Builds the text to send; `apply` signs it.
    pub(super) fn to_draft(&self) -> TextDraft {
        let round = u32::try_from(self.mark.rounds.len()).unwrap_or(u32::MAX);
        let blocking = |it: &JudgedFinding<'_>| self.mark.blocking.contains(&it.id) && 0 < round;
        let entries = self.judgement.findings.iter();
        let entries = entries.map(|it| build_entry(it, blocking(it).then_some(round))).collect();
        let pre_existing = self.pre_existing.to_vec();
        let report_summary = self.report_summary.clone().into_owned();
        let block = Block { entries, evicted: self.evicted, pre_existing, report_summary }
            .truncate_to_limits(self.facts.snapshot.capabilities.max_block);
        // Count what the limits cut off: the next turn reads the count back from the Block.
        let summary = Summary {
            evicted_count: block.evicted,
            pre_existing: &block.pre_existing,
            report_summary: &block.report_summary,
            ..self.summary()
        };
        let mark = Mark { inputs: summary.hash_inputs(), ..self.mark.clone().into_owned() };
        let words = render::render_summary(&summary);
        TextDraft { words, trailer: Trailer::Mark(Box::new(mark), Box::new(block)) }
    }

    /// Plans the edit that marks the old approval as superseded and links its successor (PUB-5).
    pub(super) fn plan_supersede(
        &self,
        standing: &StandingReview<'_>,
        successor: Option<&Review>,
        reason: Reason,
    ) -> Option<Step> {
        let edit = standing.review.edit.clone()?;
        let mut mark = standing.mark.clone();
        mark.superseded = Some(successor.unwrap_or(standing.review).id.clone());
        let block = standing.review.text.reading.block.as_deref().cloned().unwrap_or_default();
        let block = block.truncate_to_limits(self.facts.snapshot.capabilities.max_block);
        Some(Step {
            action: Action::Supersede {
                review: standing.review.id.clone(),
                successor: successor.map(|review| review.id.clone()),
                edit: edit.clone(),
                text: TextDraft {
                    words: render::render_superseded(
                        successor.map_or("", |review| &review.url),
                        standing.review.text.body_or_empty(),
                    ),
                    trailer: Trailer::Mark(Box::new(mark), Box::new(block)),
                },
            },
            by: self.judgement.role.identity.clone(),
            gate: Gate::Review,
            approves: false,
            reason: reason.with_fact(format!("review {} no longer holds", standing.review.id)),
            expect: Precondition::OwnText { edit, seen: standing.review.text.hash.clone() },
        })
    }
}

/// Builds the entry of a finding, with the round in which it blocks, if it does.
pub(in crate::decide) fn build_entry(it: &JudgedFinding<'_>, blocking_round: Option<u32>) -> BlockEntry {
    let mut rounds = it.known.map_or_else(Vec::new, |known| known.rounds.to_vec());
    rounds.extend(blocking_round.filter(|round| !rounds.contains(round)));
    let origin = it.known.filter(|known| known.head == it.head);
    BlockEntry {
        id: it.id,
        severity: it.severity,
        state: to_stored_state(it.state),
        title: it.title.to_owned(),
        path: origin.map_or(it.path, |known| known.path).to_owned(),
        line: origin.map_or(it.line, |known| known.line),
        now: origin.and_then(|known| find_moved_spot(known, it)),
        rule: it.rule.map(str::to_owned),
        detail: it.detail.to_stored(),
        fingerprint: it.fingerprint.clone(),
        head: it.head.clone(),
        rounds,
        threaded: it.thread.is_some() || it.opens_thread,
        by: it.accepted_by.cloned(),
        reopened: it.reopened_at,
    }
}

/// Returns where a finding is now, if it moved since it was raised.
fn find_moved_spot(known: &KnownFinding<'_>, it: &JudgedFinding<'_>) -> Option<CodeLocation> {
    let line = it.line.unwrap_or_default();
    (known.path != it.path || known.line != it.line).then(|| CodeLocation {
        path: it.path.to_owned(),
        line,
        end_line: line,
    })
}

/// Maps a state to the one that is stored. Whose turn it is in a thread is read from the thread, so a change of it
/// causes no edit.
fn to_stored_state(state: FindingState) -> FindingState {
    if state.is_settled() { state } else { FindingState::Open }
}

/// Returns whether a stored entry equals the finding.
fn is_same_entry(entry: &BlockEntry, it: &JudgedFinding<'_>) -> bool {
    let BlockEntry {
        id,
        severity,
        state,
        title: _,
        path,
        line,
        now,
        rule: _,
        detail: _,
        fingerprint,
        head,
        rounds: _,
        threaded,
        by,
        reopened,
    } = entry;
    let (at, on) = now.as_ref().map_or((path, *line), |spot| (&spot.path, Some(spot.line)));
    let same_state = *state == to_stored_state(it.state);
    *id == it.id
        && *severity == it.severity
        && same_state
        && at == it.path
        && on == it.line
        // Usually the finding borrows from this very entry.
        && (ptr::eq(fingerprint, it.fingerprint) || fingerprint == it.fingerprint)
        && (ptr::eq(head, it.head) || head == it.head)
        && *threaded == (it.thread.is_some() || it.opens_thread)
        && by.as_ref() == it.accepted_by
        && *reopened == it.reopened_at
}
