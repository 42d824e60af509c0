//! Renders the findings of a summary: one table, and folds for findings that need no action.
//!
//! | finding | listed in | if there is no room |
//! |---|---|---|
//! | blocking | the table, first | its id below the table; never left out |
//! | critical or warning, not blocking | the table, up to ten rows | in the fold |
//! | any other | the fold | counted |
//! | any without a thread | its text, in its own fold | counted |
//! | accepted | its own fold | counted |
//! | pre-existing, outside the change | its own fold, the last one | counted |

use super::headline::write_severity_count;
use super::phrase::{render_title, severity_name, write_location};
use super::{Summary, SummaryFinding};
use crate::decide::FindingRemark;
use crate::model::Severity;
use crate::sanitise::{MarkdownBuilder, SafeText};

/// Writes table and folds of a summary; the text stays below `limit` bytes.
pub(super) fn write_findings(page: &mut MarkdownBuilder, summary: &Summary<'_>, limit: usize) {
    let lines = summary.open_findings;
    let (blocking, others): (Vec<&SummaryFinding<'_>>, Vec<&SummaryFinding<'_>>) =
        lines.iter().partition(|line| line.blocking);
    let beside = others.iter().take_while(|line| line.severity > Severity::Suggestion).count();
    let beside = beside.min(MAX_TABLE_ROWS.saturating_sub(blocking.len()));
    let (shown, folded) = others.split_at(beside);
    if !blocking.is_empty() || !shown.is_empty() {
        page.blank_line().literal(TABLE_HEADER);
        write_blocking_rows(page, &blocking, limit);
        write_rows(page, shown, limit);
    }
    if !folded.is_empty() {
        page.blank_line().literal("<details><summary>");
        write_counts_by_severity(page, folded);
        page.literal("</summary>\n\n").literal(TABLE_HEADER);
        write_rows(page, folded, limit);
        page.blank_line().literal("</details>");
    }
}

/// Writes the fold with the whole text of open findings that have no thread (PUB-24); the text stays below `limit` bytes.
pub(super) fn write_details(page: &mut MarkdownBuilder, summary: &Summary<'_>, limit: usize) {
    let is_told = |line: &&SummaryFinding<'_>| !line.has_thread && has_more_than_its_row(line);
    let lines: Vec<&SummaryFinding<'_>> = summary.open_findings.iter().filter(is_told).collect();
    if lines.is_empty() {
        return;
    }
    page.blank_line().literal("<details><summary>Details of findings without a thread</summary>");
    for (at, line) in lines.iter().enumerate() {
        let title = SafeText::sanitise_line(line.title, MAX_DETAIL_BYTES);
        let body = SafeText::sanitise_block(line.detail.body.trim(), MAX_DETAIL_BYTES);
        if page.len() + title.len() + body.len() + DETAIL_FRAME_BYTES > limit {
            page.blank_line().number(lines.len() - at).literal(" more");
            break;
        }
        page.blank_line().literal("**");
        page.finding(line.id);
        page.literal("** ").safe_text(&title);
        if !body.is_empty() {
            page.blank_line().safe_text(&body);
        }
        if let Some((rule, help)) = line.rule.zip(line.detail.help.filter(|help| help.len() <= MAX_HELP_BYTES)) {
            page.blank_line().literal("Rule: ");
            write_location(page, rule, None, help);
        }
    }
    page.blank_line().literal("</details>");
}

/// Returns whether the row of a finding in the table does not show all of it.
fn has_more_than_its_row(line: &SummaryFinding<'_>) -> bool {
    !line.detail.body.trim().is_empty()
        || line.detail.help.is_some()
        || line.title.chars().count() > MAX_ROW_TITLE_CHARS
}

/// Writes the fold of accepted findings; the text stays below `limit` bytes.
pub(super) fn write_accepted(page: &mut MarkdownBuilder, summary: &Summary<'_>, limit: usize) {
    if summary.accepted_findings.is_empty() {
        return;
    }
    let lines: Vec<&SummaryFinding<'_>> = summary.accepted_findings.iter().collect();
    page.blank_line()
        .literal("<details><summary>")
        .number(lines.len())
        .literal(" accepted</summary>\n\n")
        .literal(TABLE_HEADER);
    write_rows(page, &lines, limit);
    page.blank_line().literal("</details>");
}

/// Writes the fold of findings outside the change; the text stays below `limit` bytes.
pub(super) fn write_pre_existing(page: &mut MarkdownBuilder, summary: &Summary<'_>, limit: usize) {
    let count = summary.evaluation.accounting.pre_existing as usize;
    if count == 0 {
        return;
    }
    page.blank_line()
        .literal("<details><summary>")
        .number(count)
        .literal(" pre-existing, outside this change</summary>\n\n");
    let mut shown = 0;
    for it in summary.pre_existing {
        if page.len() + estimate_row_bytes(&it.title, &it.path, "") > limit {
            break;
        }
        page.literal(if shown == 0 { "| Finding | Where |\n|---|---|\n| " } else { "\n| " });
        page.safe_text(&render_title(&it.title)).literal(" | ");
        write_location(page, &it.path, it.line, "");
        page.literal(" |");
        shown += 1;
    }
    if shown < count {
        page.blank_line().number(count - shown).literal(" more");
    }
    page.blank_line().literal("</details>");
}

/// Writes blocking findings: rows while there is room for the ids of the rest, then ids.
fn write_blocking_rows(page: &mut MarkdownBuilder, lines: &[&SummaryFinding<'_>], limit: usize) {
    let mut left: usize = lines.iter().map(|line| count_digits(line.id.0) + 3).sum();
    let mut rest = lines.iter();
    while let Some(line) = rest.as_slice().first() {
        left = left.saturating_sub(count_digits(line.id.0) + 3);
        if page.len() + estimate_row_bytes(line.title, line.path, line.thread_url) + left > limit {
            break;
        }
        write_row(page, line);
        rest.next();
    }
    let rest = rest.as_slice();
    for (at, line) in rest.iter().enumerate() {
        if page.len() + count_digits(line.id.0) + COUNT_SUFFIX_BYTES > limit {
            page.literal(" and ").number(rest.len() - at).literal(" more");
            break;
        }
        if at == 0 {
            page.blank_line().literal("Also blocking: ");
        } else {
            page.literal(", ");
        }
        page.finding(line.id);
    }
}

/// Writes other findings: rows while there is room, then a count.
fn write_rows(page: &mut MarkdownBuilder, lines: &[&SummaryFinding<'_>], limit: usize) {
    for (at, line) in lines.iter().enumerate() {
        if page.len() + estimate_row_bytes(line.title, line.path, line.thread_url) > limit {
            page.blank_line().number(lines.len() - at).literal(" more");
            return;
        }
        write_row(page, line);
    }
}

fn write_row(page: &mut MarkdownBuilder, line: &SummaryFinding<'_>) {
    page.literal("\n| **").literal(severity_name(line.severity)).literal("** ");
    page.finding(line.id);
    page.literal(" | ");
    if line.title.is_empty() {
        page.literal("see its thread");
    } else {
        page.safe_text(&render_title(line.title));
    }
    write_remark(page, line);
    page.literal(" | ");
    write_location(page, line.path, line.line, line.thread_url);
    page.literal(" |");
}

fn write_remark(page: &mut MarkdownBuilder, line: &SummaryFinding<'_>) {
    match line.remark {
        FindingRemark::None => {}
        FindingRemark::ResolvedBy(who) => {
            page.literal(" · resolved by ");
            super::phrase::write_name(page, who);
            page.literal(", still open");
        }
        FindingRemark::ClaimedFixed => {
            page.literal(" · said to be fixed, but its code did not change");
        }
        FindingRemark::ReopenedIn(sha) => {
            page.literal(" · reopened in ").code_span(sha.short());
        }
    }
    if let Some(by) = line.accepted_by {
        page.literal(" · accepted by ");
        super::phrase::write_name(page, by.as_str());
    }
}

/// Writes `2 warnings, 3 suggestions`.
fn write_counts_by_severity(page: &mut MarkdownBuilder, lines: &[&SummaryFinding<'_>]) {
    let mut glue = "";
    for grave in [Severity::Critical, Severity::Warning, Severity::Suggestion] {
        let n = lines.iter().filter(|line| line.severity == grave).count();
        if n > 0 {
            page.literal(glue);
            write_severity_count(page, n, grave);
            glue = ", ";
        }
    }
}

/// Returns an upper bound of a row's size: sanitising and encoding may lengthen its texts.
fn estimate_row_bytes(title: &str, path: &str, url: &str) -> usize {
    let title = title.len().min(4 * 80) * 6;
    let place = path.len().min(4 * 100) * 2 + url.len().min(500) * 3;
    title + place + 400
}

fn count_digits(n: u64) -> usize {
    n.checked_ilog10().map_or(1, |log| log as usize + 1)
}

const TABLE_HEADER: &str = "| Severity | Finding | Where |\n|---|---|---|";
/// A longer title is cut in the table.
const MAX_ROW_TITLE_CHARS: usize = 80;
const MAX_DETAIL_BYTES: usize = 8_000;
const MAX_HELP_BYTES: usize = 500;
/// Id, rule and link of one finding.
const DETAIL_FRAME_BYTES: usize = 2_200;
const MAX_TABLE_ROWS: usize = 10;
const COUNT_SUFFIX_BYTES: usize = 64;
