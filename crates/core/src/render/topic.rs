//! Top-level comments about work and hand-over: one per topic, edited in place (D13).

use super::phrase::{coded, ids, kind, name};
use super::worker::told;
use crate::model::snapshot::WorkOutcome;
use crate::model::{FindingId, Login, Sha};
use crate::plan::JobKind;
use crate::sanitise::{Page, SafeText};

/// Rule 10: a person may take over (DSP-10).
#[derive(Clone, Debug)]
pub struct Ready<'a> {
    /// At which head.
    pub head: &'a Sha,
    /// Who gets it.
    pub assign: Option<&'a Login>,
    /// Open findings that do not block.
    pub open: Vec<FindingId>,
}

/// The words of a hand-over.
pub fn ready(ready: &Ready<'_>) -> SafeText {
    let mut page = Page::new();
    page.lit("**Ready** · ").code(ready.head.short()).lit(" · nothing blocks");
    if let Some(who) = ready.assign {
        page.lit(" · assigned to ");
        name(&mut page, who.as_str());
    }
    if !ready.open.is_empty() {
        page.lit(" · open, not blocking: ");
        ids(&mut page, ready.open.iter().copied());
    }
    page.blank_line().lit("Merging is a person's act. A new change takes this back.");
    page.finish()
}

/// That somebody broke the glass (D25, INC-13).
#[derive(Clone, Debug)]
pub struct GlassNote<'a> {
    /// Who.
    pub by: &'a str,
    /// Why; tainted.
    pub reason: &'a str,
    /// At which head.
    pub head: &'a Sha,
    /// Findings that would block.
    pub blocking: Vec<FindingId>,
}

/// The words of the audit.
pub fn glass(note: &GlassNote<'_>) -> SafeText {
    let mut page = Page::new();
    page.lit("**Glass broken** · by ");
    name(&mut page, note.by);
    page.lit(" · ").code(note.head.short()).lit(" · until the next change");
    page.blank_line().lit("Reason given: ").safe(&SafeText::line(note.reason, 300));
    if !note.blocking.is_empty() {
        page.blank_line().lit("Not enforced: ");
        ids(&mut page, note.blocking.iter().copied());
    }
    page.blank_line();
    page.lit("No reviewer and no worker starts here, and own blocks are lifted. A person's block still counts.");
    page.finish()
}

/// A worker on this pull or issue (DSP-16).
#[derive(Clone, Debug)]
pub struct JobNote<'a> {
    /// Which type.
    pub kind: JobKind,
    /// What it answers.
    pub cause: &'a str,
    /// At which head; `impl` has none.
    pub head: Option<&'a Sha>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<WorkOutcome>,
    /// It left no outcome the first time.
    pub retried: bool,
    /// What it says of it; tainted.
    pub summary: &'a str,
}

/// The words of a job's comment: type, cause, head, outcome.
pub fn job(note: &JobNote<'_>) -> SafeText {
    let mut page = Page::new();
    page.lit(match note.outcome {
        None if note.retried => "**Worker started again**",
        None => "**Worker started**",
        Some(WorkOutcome::Done) => "**Worker done**",
        Some(WorkOutcome::NothingToDo) => "**Worker found nothing to do**",
        Some(WorkOutcome::NeedsHuman) => "**Worker asks for a person's decision**",
        Some(WorkOutcome::Failed) => "**Worker failed**",
    });
    page.lit(" · ").code(kind(note.kind));
    if let Some(head) = note.head {
        page.lit(" · ").code(head.short());
    }
    if !note.cause.is_empty() {
        page.lit(" · cause ");
        coded(&mut page, note.cause);
    }
    told(&mut page, note.summary);
    page.finish()
}
