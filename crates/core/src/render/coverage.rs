//! The last fold of a summary: what was read, what was held back, and what it took.

use super::phrase::{count, name, names, place};
use super::{Summary, Why};
use crate::model::Figures;
use crate::sanitise::Page;

/// Writes the fold. Figures are those of the run that made the verdict (PUB-2).
pub(super) fn coverage(page: &mut Page, summary: &Summary<'_>) {
    let evaluation = summary.evaluation;
    page.blank_line().lit("<details><summary>Coverage, cost</summary>\n\n");
    if evaluation.of == 0 {
        page.lit("Nothing was read");
    } else {
        page.lit("Read ").num(evaluation.read).lit(" of ").num(evaluation.of).lit(" files");
    }
    if let Some(since) = &evaluation.since {
        page.lit(", only what changed since ").code(since.short());
    }
    if !evaluation.skipped.is_empty() {
        page.lit("; not read: ");
        let named = evaluation.skipped.len().min(SKIPPED);
        for (at, path) in evaluation.skipped.iter().take(named).enumerate() {
            if at > 0 {
                page.lit(", ");
            }
            place(page, path, None, "");
        }
        let unread = usize::try_from(evaluation.of.saturating_sub(evaluation.read)).unwrap_or(usize::MAX);
        let more = evaluation.skipped.len().max(unread) - named;
        if more > 0 {
            page.lit(" and ").num(more).lit(" more");
        }
    }
    page.lit(".");
    if let Some(roles) = not_asked(summary) {
        page.lit("\nNot asked, since nothing of theirs is touched: ");
        names(page, roles.iter().copied());
        page.lit(".");
    }
    if evaluation.held_back > 0 {
        page.lit("\nHeld back: ");
        count(page, usize::try_from(evaluation.held_back).unwrap_or(usize::MAX), "finding");
        page.lit(" below this round's floor, outside what changed, or settled before.");
    }
    if summary.evicted > 0 {
        page.lit("\nForgotten for want of room: ");
        count(page, usize::try_from(summary.evicted).unwrap_or(usize::MAX), "finding");
        page.lit(".");
    }
    page.lit("\nThis run: ");
    figures(page, evaluation.figures);
    page.lit(". All runs of ");
    name(page, summary.role.as_str());
    page.lit(" here: ");
    usd(page, summary.spent.micro_usd);
    page.lit(" of the pull's ");
    usd(page, summary.budget);
    page.lit(" USD.\n\n</details>");
}

fn not_asked<'s>(summary: &'s Summary<'_>) -> Option<&'s [&'s str]> {
    summary.why.iter().find_map(|why| match why {
        Why::NotAsked { roles } if !roles.is_empty() => Some(roles.as_slice()),
        _ => None,
    })
}

/// `212 k tokens, 0.46 USD, 3 min 2 s`.
fn figures(page: &mut Page, figures: Figures) {
    if figures.tokens >= 10_000 {
        page.num(figures.tokens.saturating_add(500) / 1000).lit(" k tokens, ");
    } else {
        page.num(figures.tokens).lit(" tokens, ");
    }
    usd(page, figures.micro_usd);
    page.lit(" USD, ");
    time(page, figures.seconds);
}

/// `3 min 2 s`.
pub(super) fn time(page: &mut Page, seconds: u64) {
    if seconds >= 60 {
        page.num(seconds / 60).lit(" min ");
    }
    page.num(seconds % 60).lit(" s");
}

/// Millionths of a dollar with two decimals, rounded.
pub(super) fn usd(page: &mut Page, micro: u64) {
    let cents = micro.saturating_add(5_000) / 10_000;
    page.num(cents / 100).lit(if cents % 100 < 10 { ".0" } else { "." }).num(cents % 100);
}

const SKIPPED: usize = 5;
