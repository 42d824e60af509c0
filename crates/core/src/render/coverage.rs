//! Renders the last fold of a summary: files read, findings held back, cost.

use super::accounting::write_accounting;
use super::phrase::{write_count, write_location, write_name, write_names};
use super::{Summary, SummaryNote};
use crate::model::RunCost;
use crate::sanitise::MarkdownBuilder;

/// Writes the fold. The figures are those of the run that made the verdict (PUB-2).
pub(super) fn write_coverage(page: &mut MarkdownBuilder, summary: &Summary<'_>) {
    let evaluation = summary.evaluation;
    page.blank_line().literal("<details><summary>Coverage, cost</summary>\n\n");
    if evaluation.of == 0 {
        page.literal("Nothing was read");
    } else {
        page.literal("Read ").number(evaluation.read).literal(" of ").number(evaluation.of).literal(" files");
    }
    if let Some(since) = &evaluation.since {
        page.literal(", only what changed since ").code_span(since.short());
    }
    if !evaluation.skipped.is_empty() {
        page.literal("; not read: ");
        let named = evaluation.skipped.len().min(MAX_SKIPPED_PATHS);
        for (at, path) in evaluation.skipped.iter().take(named).enumerate() {
            if at > 0 {
                page.literal(", ");
            }
            write_location(page, path, None, "");
        }
        let unread = usize::try_from(evaluation.of.saturating_sub(evaluation.read)).unwrap_or(usize::MAX);
        let more = evaluation.skipped.len().max(unread) - named;
        if more > 0 {
            page.literal(" and ").number(more).literal(" more");
        }
    }
    page.literal(".");
    if let Some(roles) = find_unasked_roles(summary) {
        page.literal("\nNot asked, because this change has no files of theirs: ");
        write_names(page, roles.iter().copied());
        page.literal(".");
    }
    write_accounting(page, &evaluation.accounting);
    if summary.evicted_count > 0 {
        page.literal("\nDropped for lack of space: ");
        write_count(page, usize::try_from(summary.evicted_count).unwrap_or(usize::MAX), "finding");
        page.literal(".");
    }
    page.literal("\nThis run: ");
    write_figures(page, evaluation.figures);
    page.literal(". All runs of ");
    write_name(page, summary.role.as_str());
    page.literal(" here: ");
    write_usd(page, summary.spent.micro_usd);
    page.literal(" of the pull's ");
    write_usd(page, summary.budget_micro_usd);
    page.literal(" USD.\n\n</details>");
}

fn find_unasked_roles<'s>(summary: &'s Summary<'_>) -> Option<&'s [&'s str]> {
    summary.notes.iter().find_map(|why| match why {
        SummaryNote::RolesNotAsked { roles } if !roles.is_empty() => Some(roles.as_slice()),
        _ => None,
    })
}

/// Writes `212 k tokens, 0.46 USD, 3 min 2 s`.
fn write_figures(page: &mut MarkdownBuilder, figures: RunCost) {
    if figures.tokens >= 10_000 {
        page.number(figures.tokens.saturating_add(500) / 1000).literal(" k tokens, ");
    } else {
        page.number(figures.tokens).literal(" tokens, ");
    }
    write_usd(page, figures.micro_usd);
    page.literal(" USD, ");
    write_duration(page, figures.seconds);
}

/// Writes `3 min 2 s`.
pub(super) fn write_duration(page: &mut MarkdownBuilder, seconds: u64) {
    if seconds >= 60 {
        page.number(seconds / 60).literal(" min ");
    }
    page.number(seconds % 60).literal(" s");
}

/// Writes millionths of a dollar with two decimals, rounded.
pub(super) fn write_usd(page: &mut MarkdownBuilder, micro: u64) {
    let cents = micro.saturating_add(5_000) / 10_000;
    page.number(cents / 100).literal(if cents % 100 < 10 { ".0" } else { "." }).number(cents % 100);
}

const MAX_SKIPPED_PATHS: usize = 5;
