//! Input of the rules in `known_findings`: a finding, its thread, and the report's position on it.

use super::settled::{find_last_person_notes, own_reply_kinds};
use super::{JudgedFinding, ReportStatus};
use crate::decide::judgement::{FindingChange, FindingRemark};
use crate::facts::{Facts, KnownFinding, RoleFacts, UserCommand};
use crate::mark::ReplyKind;
use crate::model::{FindingPosition, FindingState, Note, Position, RaisedFinding, Severity, Stance, Thread, Time};
use crate::plan::{Refusal, Step};
use crate::track::PatchId;

/// The decision about a finding, with the steps in its thread.
pub(super) struct FindingRuling<'a> {
    pub(super) finding: JudgedFinding<'a>,
    pub(super) steps: Vec<Step>,
    pub(super) refused: Option<Refusal>,
}

impl<'a> From<JudgedFinding<'a>> for FindingRuling<'a> {
    fn from(finding: JudgedFinding<'a>) -> Self {
        Self { finding, steps: Vec::new(), refused: None }
    }
}

/// A known finding with everything the rules need.
pub(super) struct FindingContext<'a> {
    pub(super) facts: &'a Facts<'a>,
    pub(super) role: &'a RoleFacts<'a>,
    pub(super) report: ReportStatus<'a>,
    pub(super) known: &'a KnownFinding<'a>,
    pub(super) reported: ReportedPosition<'a>,
    /// The last `dismiss` or `reopen` of this finding by somebody who may.
    pub(super) command: Option<&'a UserCommand<'a>>,
    /// The last `reopen`: of a command, or as the Block records it if that command was edited or deleted since (D40).
    pub(super) reopened_at: Option<Time>,
}

/// The report's position on a prior finding.
pub(super) struct ReportedPosition<'a> {
    pub(super) position: Option<Position>,
    pub(super) statement: Option<&'a FindingPosition>,
    /// The finding, if the report raises it again.
    pub(super) raised: Option<&'a RaisedFinding>,
    /// The higher of the known and the reported severity.
    pub(super) severity: Severity,
}

/// The last notes of people in the finding's thread.
pub(super) struct Discussion<'a> {
    /// The last note of a person, whenever it was written.
    pub(super) person: Option<&'a Note>,
    /// The same, if it was written after the last `reopen`.
    pub(super) last: Option<&'a Note>,
    /// The last note since `reopen` of a person with write access or the right to accept.
    pub(super) decisive: Option<&'a Note>,
}

impl<'a> Discussion<'a> {
    pub(super) fn read(context: &FindingContext<'a>) -> Self {
        let [person, decisive] = find_last_person_notes(context.facts, context.known);
        let recent = |note: &&Note| context.is_after_reopening(Some(note.at));
        Self { person, last: person.filter(recent), decisive: decisive.filter(recent) }
    }
}

impl<'a> FindingContext<'a> {
    pub(super) fn new(
        facts: &'a Facts<'a>,
        role: &'a RoleFacts<'a>,
        report: ReportStatus<'a>,
        known: &'a KnownFinding<'a>,
    ) -> Self {
        let command = facts.find_last_command_on_finding(&role.role.name, known.id);
        let reopened_at = command.and_then(UserCommand::reopened_at).max(known.reopened_at);
        let reported = read_position(role, report, known, &facts.snapshot.changes.patch);
        Self { facts, role, report, known, reported, command, reopened_at }
    }

    /// Returns whether something happened after the last `reopen`.
    pub(super) fn is_after_reopening(&self, at: Option<Time>) -> bool {
        self.reopened_at.is_none_or(|reopened_at| Some(reopened_at) < at)
    }

    /// Returns whether referee already argued in the thread at this head: it does so once (D11).
    pub(super) fn is_answered_at_head(&self, thread: &Thread) -> bool {
        let is_answer = |kind| matches!(kind, ReplyKind::Rebuttal | ReplyKind::Contest);
        own_reply_kinds(self.role, thread).any(|(kind, at)| is_answer(kind) && *at == self.facts.snapshot.pull.head)
    }

    /// Returns the finding's thread while it is open.
    pub(super) fn open_thread(&self) -> Option<&'a Thread> {
        self.known.thread.filter(|thread| thread.resolved.is_none())
    }

    /// Returns the finding before any rule is applied: open and counting. Its location refers to the head that the
    /// summary is about: where tracking found the code if this head is evaluated, otherwise the location of the last
    /// evaluation.
    pub(super) fn finding(&self) -> JudgedFinding<'a> {
        let known = self.known;
        let evaluated = matches!(self.report, ReportStatus::Complete | ReportStatus::Incomplete { .. })
            || self.role.is_current_for(&self.facts.snapshot.changes.patch);
        let tracked = || known.track.and_then(|tracked| tracked.track.location());
        let spot = if evaluated { tracked().or(known.moved_to) } else { known.moved_to };
        let mut finding = JudgedFinding {
            id: known.id,
            severity: known.severity,
            state: FindingState::Open,
            counts: true,
            title: known.title,
            path: spot.map_or(known.path, |spot| spot.path.as_str()),
            // A finding on a whole file has no line, wherever the file goes.
            line: known.line.map(|line| spot.map_or(line, |spot| spot.line)),
            rule: known.rule,
            detail: known.detail,
            fingerprint: known.fingerprint,
            head: known.head,
            thread: known.thread.map(|thread| &thread.id),
            thread_url: known.thread.map_or("", |thread| thread.url.as_str()),
            opens_thread: false,
            accepted_by: known.accepted_by,
            reopened_at: self.reopened_at,
            remark: FindingRemark::None,
            known: Some(known),
            needs_human_reason: None,
            change: FindingChange::Unchanged,
        };
        if let Some(raised) = self.interrupted() {
            (finding.title, finding.detail) = (&raised.title, raised.detail());
            finding.rule = raised.rule.as_deref();
            (finding.state, finding.change) = (FindingState::New, FindingChange::Raised);
        }
        finding
    }

    /// Returns the report's finding if only a thread that was opened at this head mentions it: the turn that raised it
    /// ended before its summary was written, so it still counts as new.
    fn interrupted(&self) -> Option<&'a RaisedFinding> {
        let unwritten = !self.known.in_block && *self.known.head == self.facts.snapshot.pull.head;
        let report = self.role.report.filter(|_| unwritten && !matches!(self.report, ReportStatus::Failed { .. }))?;
        report.find_reraised(self.known.id)
    }

    /// Adds the state that the open thread shows: disputed or answered. It is read from the thread, not from a report,
    /// so that a turn without a report sees the same.
    pub(super) fn read_discussion(&self, finding: JudgedFinding<'a>, person: Option<&Note>) -> JudgedFinding<'a> {
        let facts = self.facts;
        let Some(thread) = self.open_thread() else { return finding };
        if person.is_some_and(|note| note.text.reading.stance == Stance::Disputed) {
            let disputed_again = facts.find_unanswered_note(thread).is_some();
            let undecided =
                (self.is_answered_at_head(thread) && disputed_again).then_some("the dispute goes on after one answer");
            let needs_human_reason = undecided.or(finding.needs_human_reason);
            return JudgedFinding { state: FindingState::Disputed, needs_human_reason, ..finding };
        }
        if facts.is_answered(thread) && thread.last().is_some_and(|note| facts.is_fixing_side(&note.author)) {
            return JudgedFinding { state: FindingState::Answered, ..finding };
        }
        finding
    }
}

impl JudgedFinding<'_> {
    pub(super) fn settle(self, state: FindingState, change: FindingChange) -> Self {
        Self { state, counts: false, change, remark: FindingRemark::None, ..self }
    }
}

/// Reads the report's position on a finding. An explicit position wins over a re-raised match, unless it would settle a
/// finding that the same report raises. A match that is more severe than before is worse. For a deterministic reviewer,
/// absence from a complete run means fixed (D9).
fn read_position<'a>(
    role: &RoleFacts<'a>,
    status: ReportStatus<'a>,
    known: &KnownFinding<'a>,
    patch: &PatchId,
) -> ReportedPosition<'a> {
    let Some(report) = role.report.filter(|_| !matches!(status, ReportStatus::Failed { .. })) else {
        // A program of fixed rules would report the same again (D30).
        let stands = status == ReportStatus::Absent && role.is_deterministic() && role.is_current_for(patch);
        let position = stands.then_some(Position::StillThere);
        return ReportedPosition { position, statement: None, raised: None, severity: known.severity };
    };
    let raised = report.find_reraised(known.id);
    let severity = raised.map_or(known.severity, |raised| raised.severity);
    let statement = report.position(known.id);
    let settles = |statement: &FindingPosition| matches!(statement.position, Position::Fixed | Position::Conceded);
    let position = match (statement.filter(|said| raised.is_none() || !settles(said)), raised) {
        (Some(said), _) => Some(said.position),
        (None, Some(_)) if known.severity < severity => Some(Position::Worsened),
        (None, Some(_)) => Some(Position::StillThere),
        (None, None) if report.deterministic && status == ReportStatus::Complete => Some(Position::Fixed),
        (None, None) => None,
    };
    ReportedPosition { position, statement, raised, severity: severity.max(known.severity) }
}
