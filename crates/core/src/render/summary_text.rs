//! Renders a role's summary, from its first line to its footer.
//!
//! ```text
//! first line                       `headline`: the verdict, in a fixed grammar
//! Evaluated against <short sha>    also for tools of the dispatch source (PUB-22)
//! Since <sha>: …                   changes of the findings since the last evaluation
//! notes                            why own, enforced and posted verdict differ
//! The report says: …               what the reviewer says as a whole
//! | Severity | Finding | Where |   blocking ones first, never cut
//! folds                            suggestions, accepted and pre-existing findings, coverage and cost
//! footer                           commands for people
//! ```

use super::accounting::write_overflow;
use super::coverage::write_coverage;
use super::findings::{write_accepted, write_details, write_findings, write_pre_existing};
use super::headline::write_headline;
use super::phrase::{render_report_summary, write_command, write_finding_ids, write_first_ids, write_name};
use super::{Summary, SummaryFinding, SummaryNote};
use crate::model::{FindingId, Login};
use crate::sanitise::{MarkdownBuilder, SafeText};

/// Renders the summary. Equal inputs give equal texts, and a clean review is reported too (PUB-17).
pub fn render_summary(summary: &Summary<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    write_headline(&mut page, summary);
    page.blank_line().literal("Evaluated against ").short_sha(summary.head).literal(" by ");
    write_name(&mut page, summary.role.as_str());
    if summary.ad_hoc {
        page.literal(", an ad hoc role that never blocks");
    }
    write_changes_since(&mut page, summary);
    for why in summary.notes {
        write_note(&mut page, why);
    }
    write_report_summary(&mut page, summary.report_summary);
    write_findings(&mut page, summary, FINDINGS_LIMIT_BYTES);
    write_overflow(&mut page, &summary.overflow);
    write_details(&mut page, summary, DETAILS_LIMIT_BYTES);
    write_accepted(&mut page, summary, ACCEPTED_LIMIT_BYTES);
    write_pre_existing(&mut page, summary, PRE_EXISTING_LIMIT_BYTES);
    write_coverage(&mut page, summary);
    write_footer(&mut page, summary);
    page.finish()
}

/// Writes `Since 41d0e77: 3 fixed (F1, F3, F5), 1 still open (F4), 1 new (F6), 1 accepted by bob (F2)`.
fn write_changes_since(page: &mut MarkdownBuilder, summary: &Summary<'_>) {
    let evaluation = summary.evaluation;
    let raised = |line: &&SummaryFinding<'_>| evaluation.new.contains(&line.id);
    let fixed = (evaluation.fixed.as_slice(), evaluation.fixed_count as usize);
    let still: Vec<FindingId> = summary.open_findings.iter().filter(|line| !raised(line)).map(|line| line.id).collect();
    let new: Vec<FindingId> = summary.open_findings.iter().filter(raised).map(|line| line.id).collect();
    let Some(before) = &evaluation.since else {
        if fixed.1 > 0 || !summary.accepted_findings.is_empty() {
            page.blank_line().literal("So far: ");
            write_finding_changes(page, fixed, &[], &[], summary.accepted_findings);
        }
        return;
    };
    page.blank_line().literal("Since ").code_span(before.short()).literal(": ");
    if fixed.1 == 0 && still.is_empty() && new.is_empty() && summary.accepted_findings.is_empty() {
        page.literal("nothing found, nothing was open");
    } else {
        write_finding_changes(page, fixed, &still, &new, summary.accepted_findings);
    }
}

fn write_finding_changes(
    page: &mut MarkdownBuilder,
    (fixed, fixed_count): (&[FindingId], usize),
    still: &[FindingId],
    new: &[FindingId],
    accepted: &[SummaryFinding<'_>],
) {
    let mut glue = "";
    for (which, count, word) in
        [(fixed, fixed_count, " fixed ("), (still, still.len(), " still open ("), (new, new.len(), " new (")]
    {
        if !which.is_empty() {
            page.literal(glue).number(count).literal(word);
            write_first_ids(page, which.iter().copied(), count);
            page.literal(")");
            glue = ", ";
        }
    }
    let mut people: Vec<Option<&Login>> = accepted.iter().map(|line| line.accepted_by).collect();
    people.sort_unstable();
    people.dedup();
    for by in people.into_iter().take(MAX_ACCEPTING_PEOPLE) {
        let theirs: Vec<FindingId> =
            accepted.iter().filter(|line| line.accepted_by == by).map(|line| line.id).collect();
        page.literal(glue).number(theirs.len()).literal(" accepted");
        if let Some(by) = by {
            page.literal(" by ");
            write_name(page, by.as_str());
        }
        page.literal(" (");
        write_finding_ids(page, theirs.into_iter());
        page.literal(")");
        glue = ", ";
    }
}

/// Writes a note that is not in the first line.
fn write_note(page: &mut MarkdownBuilder, why: &SummaryNote<'_>) {
    match why {
        SummaryNote::GlassBroken { reason, .. } => {
            page.blank_line().literal("Reason given: ").safe_text(&SafeText::sanitise_line(reason, 300));
            page.blank_line()
                .literal("Until the next change no reviewer and no worker starts here. A person's block still counts.");
        }
        SummaryNote::Restored { by } => {
            page.blank_line().literal("Posted again without a new review: the verdict had lost its weight through ");
            write_name(page, by);
            page.literal(".");
        }
        SummaryNote::PostedAsComment { because } => {
            page.blank_line()
                .literal("Posted as a comment: ")
                .literal(because)
                .literal(". The status carries the verdict.");
        }
        SummaryNote::Dismissed { by } => {
            page.blank_line().literal("Dismissed by ");
            write_name(page, by);
            page.literal(": respected, it is not posted again for this change.");
        }
        SummaryNote::Escalated { .. }
        | SummaryNote::Waiting { .. }
        | SummaryNote::BlockStays
        | SummaryNote::HeadUnread
        | SummaryNote::RolesNotAsked { .. } => {}
    }
}

/// Writes the reviewer's own words, below a line that says whose they are. Writes nothing if there are none.
fn write_report_summary(page: &mut MarkdownBuilder, report_summary: &str) {
    let words = render_report_summary(report_summary);
    if !words.is_empty() {
        page.blank_line().literal("The report says:").blank_line().safe_text(&words);
    }
}

fn write_footer(page: &mut MarkdownBuilder, summary: &Summary<'_>) {
    page.blank_line().literal("<sub>");
    write_command(page, summary.bot, "explain");
    if let Some(first) = summary.open_findings.first() {
        page.literal(" · ");
        write_command(page, summary.bot, &format!("dismiss {} <reason>", first.id));
    }
    page.literal(" · ");
    write_command(page, summary.bot, "help");
    page.literal("</sub>");
}

/// Of the 60 kB that every forge accepts, Mark and Block take 14 kB; comment markers, folds and footer take the rest.
const FINDINGS_LIMIT_BYTES: usize = 24_000;
const DETAILS_LIMIT_BYTES: usize = 36_000;
const ACCEPTED_LIMIT_BYTES: usize = 38_000;
const PRE_EXISTING_LIMIT_BYTES: usize = 40_000;
const MAX_ACCEPTING_PEOPLE: usize = 10;
