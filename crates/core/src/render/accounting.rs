//! Where the results of a report went, in one sentence (PUB-23).

use super::headline::write_severity_count;
use crate::model::{Accounting, HeldBack, Overflow, Severity};
use crate::sanitise::MarkdownBuilder;

/// Writes the sentence into the last fold of a summary. Writes nothing without a report.
pub(super) fn write_accounting(page: &mut MarkdownBuilder, accounting: &Accounting) {
    if accounting.received == 0 {
        return;
    }
    page.literal("\nResults: ");
    for (index, (count, words)) in list_counts(accounting).into_iter().enumerate() {
        page.literal(if index == 0 { "" } else { ", " }).number(count).literal(" ").literal(words);
    }
    page.literal(".");
}

/// Renders the counts for the terminal: `34 received, 25 new, 2 the same as another result`.
pub fn render_accounting(accounting: &Accounting) -> String {
    let counts = list_counts(accounting).into_iter().map(|(count, words)| format!("{count} {words}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// Writes the findings that fit nowhere on the pull into a summary (D33). Writes nothing if there are none.
pub(super) fn write_overflow(page: &mut MarkdownBuilder, overflow: &Overflow) {
    if overflow.is_empty() {
        return;
    }
    page.blank_line().literal("**");
    let mut glue = "";
    for severity in [Severity::Critical, Severity::Warning, Severity::Suggestion] {
        let count = overflow.count(severity);
        if count > 0 {
            page.literal(glue);
            write_severity_count(page, count as usize, severity);
            glue = ", ";
        }
    }
    page.literal(" more** are open and fit nowhere on this pull. The next review reads everything again.");
}

/// Renders the findings that fit nowhere on the pull, for the terminal.
pub fn render_overflow(overflow: &Overflow) -> String {
    let counts = [Severity::Critical, Severity::Warning, Severity::Suggestion].into_iter().filter_map(|severity| {
        let count = overflow.count(severity);
        (count > 0).then(|| format!("{count} {severity}"))
    });
    let counts: Vec<String> = counts.collect();
    format!("{} more open findings fit nowhere on the pull ({})", overflow.total(), counts.join(", "))
}

/// Lists the received results and where they went, without zeros.
fn list_counts(accounting: &Accounting) -> Vec<(u32, &'static str)> {
    let Accounting {
        received,
        new,
        known,
        merged,
        held_back: HeldBack { below_floor, unchanged, settled, unused },
        pre_existing,
        without_place,
        outside,
        off,
        unsupported,
    } = *accounting;
    let counts = [
        (received, "received"),
        (new, "new"),
        (known, "known"),
        (merged, "the same as another result"),
        (below_floor, "held back below the severity floor of this round"),
        (unchanged, "held back on code that did not change since the last review"),
        (settled, "held back because the finding is settled"),
        (unused, "in a report that was not used"),
        (pre_existing, "pre-existing, outside this change"),
        (without_place, "without a file"),
        (outside, "outside this repository"),
        (off, "switched off"),
        (unsupported, "of a kind that is no finding"),
    ];
    counts.into_iter().enumerate().filter(|(index, (count, _))| *index == 0 || *count > 0).map(|(_, it)| it).collect()
}
