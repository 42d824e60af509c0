//! Renders top-level comments about work and handoff: one per topic, edited in place (D13).

use super::phrase::{job_kind_name, write_code, write_finding_ids, write_name};
use super::worker::write_worker_text;
use crate::model::snapshot::WorkOutcome;
use crate::model::{FindingId, Login, Sha};
use crate::plan::JobKind;
use crate::sanitise::{MarkdownBuilder, SafeText};

/// Rule 10: a person can take over (DSP-10).
#[derive(Clone, Debug)]
pub struct ReadyNote<'a> {
    pub head: &'a Sha,
    pub assignee: Option<&'a Login>,
    /// Open findings that do not block.
    pub open_findings: Vec<FindingId>,
}

/// Renders the handoff comment.
pub fn render_ready_note(ready: &ReadyNote<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("**Ready** · ").code_span(ready.head.short()).literal(" · nothing blocks");
    if let Some(who) = ready.assignee {
        page.literal(" · assigned to ");
        write_name(&mut page, who.as_str());
    }
    if !ready.open_findings.is_empty() {
        page.literal(" · open, not blocking: ");
        write_finding_ids(&mut page, ready.open_findings.iter().copied());
    }
    page.blank_line().literal("A person merges. A new change revokes this.");
    page.finish()
}

/// The use of break-glass (D25, INC-13).
#[derive(Clone, Debug)]
pub struct BreakGlassNote<'a> {
    pub by: &'a str,
    /// The reason that the person gave; untrusted.
    pub reason: &'a str,
    pub head: &'a Sha,
    /// Findings that would block otherwise.
    pub blocking: Vec<FindingId>,
}

/// Renders the audit comment of a break-glass.
pub fn render_break_glass_note(note: &BreakGlassNote<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("**Glass broken** · by ");
    write_name(&mut page, note.by);
    page.literal(" · ").code_span(note.head.short()).literal(" · until the next change");
    page.blank_line().literal("Reason given: ").safe_text(&SafeText::sanitise_line(note.reason, 300));
    if !note.blocking.is_empty() {
        page.blank_line().literal("Not enforced: ");
        write_finding_ids(&mut page, note.blocking.iter().copied());
    }
    page.blank_line();
    page.literal("No reviewer and no worker starts here, and own blocks are lifted. A person's block still counts.");
    page.finish()
}

/// The record of a worker on a pull or issue (DSP-16).
#[derive(Clone, Debug)]
pub struct JobNote<'a> {
    pub kind: JobKind,
    pub cause: &'a str,
    /// The head that the job works on. An `impl` job has no pull yet.
    pub head: Option<&'a Sha>,
    /// `None` while it runs.
    pub outcome: Option<WorkOutcome>,
    /// It is the second start.
    pub retried: bool,
    /// The worker's own summary; untrusted.
    pub summary: &'a str,
}

/// Renders the record of a job: type, cause, head, outcome.
pub fn render_job_note(note: &JobNote<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal(match note.outcome {
        None if note.retried => "**Worker started again**",
        None => "**Worker started**",
        Some(WorkOutcome::Done) => "**Worker done**",
        Some(WorkOutcome::NothingToDo) => "**Worker found nothing to do**",
        Some(WorkOutcome::NeedsHuman) => "**Worker asks for a person's decision**",
        Some(WorkOutcome::Failed) => "**Worker failed**",
    });
    page.literal(" · ").code_span(job_kind_name(note.kind));
    if let Some(head) = note.head {
        page.literal(" · ").code_span(head.short());
    }
    if !note.cause.is_empty() {
        page.literal(" · cause ");
        write_code(&mut page, note.cause);
    }
    write_worker_text(&mut page, note.summary);
    page.finish()
}
