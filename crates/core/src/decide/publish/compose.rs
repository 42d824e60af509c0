//! A role's summary and Mark as they should be, and whether that differs from what stands.

use std::borrow::Cow;
use std::ptr;

use super::super::judged::{Judged, Judgement, Remark};
use super::stamp;
use super::table::{Act, Bearing, Row};
use super::why;
use crate::facts::{Facts, Known, Standing};
use crate::mark::{Block, Entry, Evaluation, Mark, PRE_EXISTING_MAX, Trust};
use crate::model::{FindingId, FindingState, PreExisting, Severity, Verdict};
use crate::plan::{Action, Draft, Expect, Gate, Reason, Step, Trailer};
use crate::render::{self, Line, Summary, Why};
use crate::track::Spot;

/// A role's summary and Mark as they should be.
#[derive(Debug)]
pub(super) struct Composed<'a> {
    facts: &'a Facts<'a>,
    judgement: &'a Judgement<'a>,
    form: Verdict,
    mark: Cow<'a, Mark>,
    why: Vec<Why<'a>>,
    open: Vec<Line<'a>>,
    accepted: Vec<Line<'a>>,
    evicted: u32,
    pre_existing: Cow<'a, [PreExisting]>,
}

pub(super) fn compose<'a>(
    facts: &'a Facts<'a>,
    judged: &'a [Judgement<'a>],
    judgement: &'a Judgement<'a>,
    row: &Row,
    bearing: &Bearing,
    waiting: &[&'a str],
) -> Composed<'a> {
    let standing = judgement.role.standing;
    let form = match row.act {
        Act::Post(form) | Act::PostAndSupersede(form) => form,
        Act::Keep | Act::Silent => standing.map_or(Verdict::Comment, |standing| standing.form),
    };
    let block = standing.and_then(|standing| standing.review.text.reading.block.as_deref());
    let lowest = lowest_blocking(facts, judgement);
    let mark = stamp::mark(facts, judgement, row);
    let mut composed = Composed {
        form,
        why: why::why(facts, judged, judgement, row, bearing, waiting),
        open: judgement.counting().into_iter().map(|it| line(it, lowest, &mark.evaluation)).collect(),
        accepted: judgement
            .findings
            .iter()
            .filter(|it| it.state == FindingState::Accepted)
            .map(|it| line(it, None, &mark.evaluation))
            .collect(),
        evicted: block.map_or(0, |block| block.evicted),
        pre_existing: pre_existing(facts, judgement),
        mark,
        facts,
        judgement,
    };
    let inputs = composed.summary().inputs();
    if composed.mark.inputs != inputs {
        composed.mark.to_mut().inputs = inputs;
    }
    composed
}

/// A finding as the summary tells it: what the evaluation said of it, so that a later turn says the same. One that was
/// raised has no link, since its thread opens with the post and a link would cost an edit.
fn line<'a>(it: &'a Judged<'a>, lowest_blocking: Option<Severity>, evaluation: &Evaluation) -> Line<'a> {
    let Evaluation { new, claimed, back, .. } = evaluation;
    Line {
        id: it.id,
        severity: it.severity,
        title: &it.title,
        path: it.path,
        line: it.line,
        blocking: lowest_blocking.is_some_and(|lowest| lowest <= it.severity),
        url: if new.contains(&it.id) { "" } else { it.url },
        remark: match it.remark {
            Remark::ResolvedBy(by) => Remark::ResolvedBy(by),
            _ if claimed.contains(&it.id) => Remark::ClaimedFixed,
            _ if back.contains(&it.id) => Remark::ReopenedIn(it.head),
            _ => Remark::None,
        },
        by: it.by,
    }
}

/// Findings outside the change: those of a report that the Mark does not tell of yet, else those of the standing Block.
fn pre_existing<'a>(facts: &Facts<'_>, judgement: &Judgement<'a>) -> Cow<'a, [PreExisting]> {
    let safe = |it: &PreExisting| PreExisting { title: render::title(&it.title).into_string(), ..it.clone() };
    let block = judgement.role.standing.and_then(|standing| standing.review.text.reading.block.as_deref());
    match judgement.role.report.filter(|_| !stamp::is_told(facts, judgement)) {
        Some(report) => report.pre_existing.iter().take(PRE_EXISTING_MAX).map(safe).collect(),
        None => Cow::Borrowed(block.map_or(&[], |block| &block.pre_existing)),
    }
}

/// A finding as the notice tells it.
pub(super) fn blocking_line<'a>(it: &'a Judged<'a>) -> Line<'a> {
    line(it, Some(it.severity), &Evaluation::default())
}

/// Findings that make the own verdict block, by id.
pub(in crate::decide) fn blocking(facts: &Facts<'_>, judgement: &Judgement<'_>) -> impl Iterator<Item = FindingId> {
    let lowest = lowest_blocking(facts, judgement);
    let blocks = move |it: &&Judged<'_>| it.counts && lowest.is_some_and(|lowest| lowest <= it.severity);
    judgement.findings.iter().filter(blocks).map(|it| it.id)
}

/// The mildest severity that the own verdict blocks for, if it may block at all.
pub(super) fn lowest_blocking(facts: &Facts<'_>, judgement: &Judgement<'_>) -> Option<Severity> {
    let warnings = judgement.findings.iter().filter(|it| it.counts && it.severity == Severity::Warning).count();
    let enough = 0 < facts.policy.risk_warnings && facts.policy.risk_warnings <= warnings;
    judgement.role.role.blocks.then_some(if enough { Severity::Warning } else { Severity::Critical })
}

impl<'a> Composed<'a> {
    /// What the text is made from.
    pub(super) fn summary(&self) -> Summary<'_> {
        Summary {
            role: self.judgement.name(),
            ad_hoc: self.judgement.role.role.ad_hoc,
            own: self.mark.own,
            enforced: self.mark.enforced,
            form: self.form,
            why: &self.why,
            head: &self.mark.head,
            complete: self.mark.complete,
            attempts: self.mark.attempts,
            round: u32::try_from(self.mark.rounds.len()).unwrap_or(u32::MAX),
            rounds: self.facts.rounds_allowed(),
            evaluation: &self.mark.evaluation,
            spent: self.mark.spent,
            budget: self.facts.policy.budget.micro_usd,
            open: &self.open,
            accepted: &self.accepted,
            evicted: self.evicted,
            pre_existing: &self.pre_existing,
            bot: self.judgement.role.identity,
        }
    }

    /// Why the standing summary must be edited, if it must (PUB-2, PUB-3, D28).
    pub(super) fn differs(&self) -> Option<&'static str> {
        let standing = self.judgement.role.standing?;
        let (now, before) = (&self.mark, standing.mark);
        let edited = standing.review.text.hash != before.words;
        if edited && before.rewrote.as_ref() != Some(&standing.review.text.hash) {
            return Some("somebody edited it");
        }
        let adopted = standing.review.text.reading.mark.as_ref().is_some_and(|mark| mark.trust == Trust::Adopted);
        if adopted {
            return Some("its Mark is to be sealed");
        }
        let same = matches!(now, Cow::Borrowed(_)) || **now == *before;
        (!same || !self.remembers()).then_some("its text or Mark would differ")
    }

    /// Whether the standing Block says what this one would say.
    fn remembers(&self) -> bool {
        let block = self.judgement.role.standing.and_then(|it| it.review.text.reading.block.as_deref());
        let entries = block.map_or(&[][..], |block| block.entries.as_slice());
        let mut kept = 0;
        for it in &self.judgement.findings {
            // As a rule they are in the same order.
            let next = entries.get(kept).filter(|entry| entry.id == it.id);
            match next.or_else(|| entries.iter().find(|entry| entry.id == it.id)) {
                Some(entry) if !same_entry(entry, it) => return false,
                Some(_) => kept += 1,
                None if it.state.settled() => {}
                None => return block.is_some_and(|block| 0 < block.evicted) && it.thread.is_some(),
            }
        }
        kept == entries.len()
    }

    /// The text to be sent, not sealed yet.
    pub(super) fn draft(&self) -> Draft {
        let entries = self.judgement.findings.iter().map(|it| self.entry(it)).collect();
        let pre_existing = self.pre_existing.to_vec();
        let block = Block { entries, evicted: self.evicted, pre_existing }.fitted();
        // What finds no room is told, by the count that the next turn reads back.
        let summary = Summary { evicted: block.evicted, pre_existing: &block.pre_existing, ..self.summary() };
        let mark = Mark { inputs: summary.inputs(), ..self.mark.clone().into_owned() };
        let words = render::summary(&summary);
        Draft { words, trailer: Trailer::Mark(Box::new(mark), Box::new(block)) }
    }

    fn entry(&self, it: &Judged<'_>) -> Entry {
        let mut rounds = it.known.map_or_else(Vec::new, |known| known.rounds.to_vec());
        let round = u32::try_from(self.mark.rounds.len()).unwrap_or(u32::MAX);
        if self.mark.blocking.contains(&it.id) && !rounds.contains(&round) && 0 < round {
            rounds.push(round);
        }
        let origin = it.known.filter(|known| known.head == it.head);
        Entry {
            id: it.id,
            severity: it.severity,
            state: remembered(it.state),
            title: it.title.clone().into_owned(),
            path: origin.map_or(it.path, |known| known.path).to_owned(),
            line: origin.map_or(it.line, |known| known.line),
            now: origin.and_then(|known| moved_to(known, it)),
            rule: it.rule.map(str::to_owned),
            fingerprint: it.fingerprint.clone(),
            head: it.head.clone(),
            rounds,
            threaded: it.thread.is_some() || it.opens,
            by: it.by.cloned(),
            reopened: it.reopened,
        }
    }

    /// The old approval as it reads once something took its place (PUB-5).
    pub(super) fn supersede(&self, standing: &Standing<'_>, reason: Reason) -> Option<Step> {
        let edit = standing.review.edit.clone()?;
        let mut mark = standing.mark.clone();
        mark.superseded = Some(standing.review.id.clone());
        let block = standing.review.text.reading.block.as_deref().cloned().unwrap_or_default();
        Some(Step {
            action: Action::Supersede {
                review: standing.review.id.clone(),
                edit: edit.clone(),
                text: Draft {
                    words: render::superseded(&self.facts.snapshot.pull.url, standing.review.text.words()),
                    trailer: Trailer::Mark(Box::new(mark), Box::new(block)),
                },
            },
            by: self.judgement.role.identity.clone(),
            gate: Gate::Review,
            approves: false,
            reason: reason.fact(format!("review {} no longer holds", standing.review.id)),
            expect: Expect::OwnText { edit, seen: standing.review.text.hash.clone() },
        })
    }
}

/// Where a finding is now, if that differs from where it was raised.
fn moved_to(known: &Known<'_>, it: &Judged<'_>) -> Option<Spot> {
    let line = it.line.unwrap_or_default();
    (known.path != it.path || known.line != it.line).then(|| Spot { path: it.path.to_owned(), line, end_line: line })
}

/// A state as it is remembered. Who has the last word in a thread is read there, and no reason for an edit.
fn remembered(state: FindingState) -> FindingState {
    if state.settled() { state } else { FindingState::Open }
}

/// Whether an entry says what the finding now is.
fn same_entry(entry: &Entry, it: &Judged<'_>) -> bool {
    let Entry {
        id,
        severity,
        state,
        title: _,
        path,
        line,
        now,
        rule: _,
        fingerprint,
        head,
        rounds: _,
        threaded,
        by,
        reopened,
    } = entry;
    let (at, on) = now.as_ref().map_or((path, *line), |spot| (&spot.path, Some(spot.line)));
    let same_state = *state == remembered(it.state);
    *id == it.id
        && *severity == it.severity
        && same_state
        && at == it.path
        && on == it.line
        // As a rule the finding was read from this very entry.
        && (ptr::eq(fingerprint, it.fingerprint) || fingerprint == it.fingerprint)
        && (ptr::eq(head, it.head) || head == it.head)
        && *threaded == (it.thread.is_some() || it.opens)
        && by.as_ref() == it.by
        && *reopened == it.reopened
}
