//! Which notes accept a finding, and the hint for those that seem to (D39, D40).
//!
//! | note of a person who may accept the finding | effect |
//! |---|---|
//! | `won't fix: <reason>`, `accepted risk: <reason>` | accepts |
//! | another acceptance, of a finding that is not critical | accepts |
//! | another acceptance, of a critical finding | hint |
//! | an acceptance phrase that does not count: inside the note, before a demand, or edited | hint |
//!
//! The hint is one reply per thread. It is not sent if referee wrote after the note.

use super::finding_context::{Discussion, FindingContext};
use super::settled::own_reply_kinds;
use crate::facts::may_accept;
use crate::mark::ReplyKind;
use crate::model::{Note, Severity, Stance, Thread};
use crate::render::HintReason;

/// A hint that is due.
pub(super) struct AcceptanceHint<'a> {
    pub(super) thread: &'a Thread,
    pub(super) reason: HintReason,
}

/// The meaning of an acceptance for one finding.
pub(super) enum Acceptance {
    Counts,
    /// The person has no right to accept the finding (D10).
    NotPermitted,
    /// A critical finding needs other words.
    TooInformal,
}

impl<'a> FindingContext<'a> {
    /// Returns the meaning of a note; `None` if it does not accept the finding.
    pub(super) fn read_acceptance(&self, note: &Note) -> Option<Acceptance> {
        let is_formal = match note.text.reading.stance {
            Stance::AcceptedWithReason => true,
            Stance::Accepted => false,
            Stance::Silent | Stance::Asked | Stance::Disputed | Stance::ClaimedFixed => return None,
        };
        Some(match (self.may_be_accepted_by(note), is_formal || self.known.severity < Severity::Critical) {
            (false, _) => Acceptance::NotPermitted,
            (true, true) => Acceptance::Counts,
            (true, false) => Acceptance::TooInformal,
        })
    }

    pub(super) fn may_be_accepted_by(&self, note: &Note) -> bool {
        may_accept(self.facts.snapshot, self.facts.policy, &note.author, self.known.severity)
    }

    /// Returns the hint about the last note that may decide, if one is due.
    pub(super) fn find_hint(&self, discussion: &Discussion<'a>) -> Option<AcceptanceHint<'a>> {
        let note = discussion.decisive.filter(|note| self.may_be_accepted_by(note))?;
        let reason = match self.read_acceptance(note) {
            Some(Acceptance::TooInformal) => HintReason::Critical,
            _ if note.text.reading.unclear && note.edited => HintReason::Edited,
            _ if note.text.reading.unclear => HintReason::Unclear,
            _ => return None,
        };
        self.hint_about(note, reason)
    }

    /// Returns a hint about a note, unless the thread has one or referee wrote after the note.
    pub(super) fn hint_about(&self, note: &Note, reason: HintReason) -> Option<AcceptanceHint<'a>> {
        let thread = self.open_thread()?;
        let mut later = thread.notes.iter().rev().take_while(|later| later.id != note.id);
        let is_answered = later.any(|later| self.facts.is_own_author(&later.author));
        let is_hinted = own_reply_kinds(self.role, thread).any(|(kind, _)| kind == ReplyKind::Hint);
        (!is_answered && !is_hinted).then_some(AcceptanceHint { thread, reason })
    }
}
