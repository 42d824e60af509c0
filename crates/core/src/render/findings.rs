//! The findings of a summary: one table, and folds for what nobody has to act on.
//!
//! | finding | where it is told | when room is short |
//! |---|---|---|
//! | blocking | the table, first | by its id below the table; never left out |
//! | critical or warning, not blocking | the table, while it has less than ten rows | in the fold |
//! | any other | the fold | counted |
//! | accepted | a fold of its own | counted |
//! | pre-existing, outside the change | a fold of its own, the last | counted |

use super::headline::severities;
use super::phrase::{place, severity, title};
use super::{Line, Summary};
use crate::decide::Remark;
use crate::model::Severity;
use crate::sanitise::Page;

/// Writes table and folds of a summary; the words end below `limit` bytes.
pub(super) fn findings(page: &mut Page, summary: &Summary<'_>, limit: usize) {
    let lines = summary.open;
    let (blocking, others): (Vec<&Line<'_>>, Vec<&Line<'_>>) = lines.iter().partition(|line| line.blocking);
    let beside = others.iter().take_while(|line| line.severity > Severity::Suggestion).count();
    let beside = beside.min(ROWS.saturating_sub(blocking.len()));
    let (shown, folded) = others.split_at(beside);
    if !blocking.is_empty() || !shown.is_empty() {
        page.blank_line().lit(HEAD);
        block(page, &blocking, limit);
        rows(page, shown, limit);
    }
    if !folded.is_empty() {
        page.blank_line().lit("<details><summary>");
        tally(page, folded);
        page.lit("</summary>\n\n").lit(HEAD);
        rows(page, folded, limit);
        page.blank_line().lit("</details>");
    }
}

/// Writes the fold of accepted findings; the words end below `limit` bytes.
pub(super) fn accepted(page: &mut Page, summary: &Summary<'_>, limit: usize) {
    if summary.accepted.is_empty() {
        return;
    }
    let lines: Vec<&Line<'_>> = summary.accepted.iter().collect();
    page.blank_line().lit("<details><summary>").num(lines.len()).lit(" accepted</summary>\n\n").lit(HEAD);
    rows(page, &lines, limit);
    page.blank_line().lit("</details>");
}

/// Writes the fold of findings outside the change; the words end below `limit` bytes.
pub(super) fn pre_existing(page: &mut Page, summary: &Summary<'_>, limit: usize) {
    let count = summary.evaluation.pre_existing as usize;
    if count == 0 {
        return;
    }
    page.blank_line().lit("<details><summary>").num(count).lit(" pre-existing, outside this change</summary>\n\n");
    let mut shown = 0;
    for it in summary.pre_existing {
        if page.len() + cost(&it.title, &it.path, "") > limit {
            break;
        }
        page.lit(if shown == 0 { "| Finding | Where |\n|---|---|\n| " } else { "\n| " });
        page.safe(&title(&it.title)).lit(" | ");
        place(page, &it.path, it.line, "");
        page.lit(" |");
        shown += 1;
    }
    if shown < count {
        page.blank_line().num(count - shown).lit(" more");
    }
    page.blank_line().lit("</details>");
}

/// Blocking ones: rows while there is room for all that follow, then ids.
fn block(page: &mut Page, lines: &[&Line<'_>], limit: usize) {
    let mut left: usize = lines.iter().map(|line| digits(line.id.0) + 3).sum();
    let mut rest = lines.iter();
    while let Some(line) = rest.as_slice().first() {
        left = left.saturating_sub(digits(line.id.0) + 3);
        if page.len() + cost(line.title, line.path, line.url) + left > limit {
            break;
        }
        row(page, line);
        rest.next();
    }
    let rest = rest.as_slice();
    for (at, line) in rest.iter().enumerate() {
        if page.len() + digits(line.id.0) + ROOM_TO_COUNT > limit {
            page.lit(" and ").num(rest.len() - at).lit(" more");
            break;
        }
        if at == 0 {
            page.blank_line().lit("Also blocking: ");
        } else {
            page.lit(", ");
        }
        page.finding(line.id);
    }
}

/// Others: rows while there is room, then a count.
fn rows(page: &mut Page, lines: &[&Line<'_>], limit: usize) {
    for (at, line) in lines.iter().enumerate() {
        if page.len() + cost(line.title, line.path, line.url) > limit {
            page.blank_line().num(lines.len() - at).lit(" more");
            return;
        }
        row(page, line);
    }
}

fn row(page: &mut Page, line: &Line<'_>) {
    page.lit("\n| **").lit(severity(line.severity)).lit("** ");
    page.finding(line.id);
    page.lit(" | ");
    if line.title.is_empty() {
        page.lit("told in its thread");
    } else {
        page.safe(&title(line.title));
    }
    remark(page, line);
    page.lit(" | ");
    place(page, line.path, line.line, line.url);
    page.lit(" |");
}

fn remark(page: &mut Page, line: &Line<'_>) {
    match line.remark {
        Remark::None => {}
        Remark::ResolvedBy(who) => {
            page.lit(" · resolved by ");
            super::phrase::name(page, who);
            page.lit(", still open");
        }
        Remark::ClaimedFixed => {
            page.lit(" · said to be fixed, but its code did not change");
        }
        Remark::ReopenedIn(sha) => {
            page.lit(" · reopened in ").code(sha.short());
        }
    }
    if let Some(by) = line.by {
        page.lit(" · accepted by ");
        super::phrase::name(page, by.as_str());
    }
}

/// `2 warnings, 3 suggestions`.
fn tally(page: &mut Page, lines: &[&Line<'_>]) {
    let mut glue = "";
    for grave in [Severity::Critical, Severity::Warning, Severity::Suggestion] {
        let n = lines.iter().filter(|line| line.severity == grave).count();
        if n > 0 {
            page.lit(glue);
            severities(page, n, grave);
            glue = ", ";
        }
    }
}

/// More than a row takes: what is safe or encoded may be longer than what it was made from.
fn cost(title: &str, path: &str, url: &str) -> usize {
    let title = title.len().min(4 * 80) * 6;
    let place = path.len().min(4 * 100) * 2 + url.len().min(500) * 3;
    title + place + 400
}

fn digits(n: u64) -> usize {
    n.checked_ilog10().map_or(1, |log| log as usize + 1)
}

const HEAD: &str = "| Severity | Finding | Where |\n|---|---|---|";
const ROWS: usize = 10;
const ROOM_TO_COUNT: usize = 64;
