//! Where the results of a report went, in one sentence (PUB-23).

use super::headline::write_severity_count;
use crate::model::{Accounting, Overflow, Severity};
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
    let labels = [
        "received",
        "new",
        "known",
        "the same as another result",
        "held back below the severity floor of this round",
        "held back on code that did not change since the last review",
        "held back because the finding is settled",
        "in a report that was not used",
        "pre-existing, outside this change",
        "without a file",
        "outside this repository",
        "switched off",
        "of a kind that is no finding",
    ];
    let counts = accounting.to_counts().into_iter().zip(labels);
    counts.enumerate().filter(|(index, (count, _))| *index == 0 || *count > 0).map(|(_, it)| it).collect()
}
