//! Phrases that several texts share.

use std::fmt::Write as _;

use crate::mark::MAX_REPORT_SUMMARY_BYTES;
use crate::model::{FindingId, Login, Severity};
use crate::plan::JobKind;
use crate::sanitise::{MarkdownBuilder, SafeText};

/// Renders a finding's title. The summary stores it in this form, so that the next turn, which only has the stored
/// form, renders the same text (PUB-2).
pub fn render_title(tainted: &str) -> SafeText {
    SafeText::sanitise_line(tainted, 80)
}

/// Renders what a report says as a whole; the Block stores it in this form.
pub fn render_report_summary(summary: &str) -> SafeText {
    SafeText::sanitise_block(summary.trim(), MAX_REPORT_SUMMARY_BYTES)
}

/// Renders why a run failed or is incomplete; the summary stores it in this form.
pub fn render_failure(tainted: &str) -> SafeText {
    SafeText::sanitise_line(tainted, 120)
}

/// Writes a login or role name without mentioning anybody.
pub(super) fn write_name(page: &mut MarkdownBuilder, name: &str) {
    page.safe_text(&SafeText::sanitise_line(name, MAX_NAME_CHARS));
}

/// Writes at most ten names.
pub(super) fn write_names<'a>(page: &mut MarkdownBuilder, all: impl ExactSizeIterator<Item = &'a str>) {
    let more = all.len().saturating_sub(MAX_LIST_ITEMS);
    for (at, one) in all.take(MAX_LIST_ITEMS).enumerate() {
        write_comma(page, at);
        write_name(page, one);
    }
    write_and_more(page, more);
}

/// Writes `F4, F6`, at most ten ids.
pub(super) fn write_finding_ids(page: &mut MarkdownBuilder, all: impl Iterator<Item = FindingId> + Clone) {
    let total = all.clone().count();
    write_first_ids(page, all, total);
}

/// The first ten ids of `total` findings, of which `all` may name fewer.
pub(super) fn write_first_ids(page: &mut MarkdownBuilder, all: impl Iterator<Item = FindingId> + Clone, total: usize) {
    let more = total.saturating_sub(all.clone().take(MAX_LIST_ITEMS).count());
    for (at, one) in all.take(MAX_LIST_ITEMS).enumerate() {
        write_comma(page, at);
        page.finding(one);
    }
    write_and_more(page, more);
}

/// Writes `1 warning` or `2 warnings`.
pub(super) fn write_count(page: &mut MarkdownBuilder, n: usize, thing: &'static str) {
    page.number(n).literal(" ").literal(thing);
    if n != 1 {
        page.literal("s");
    }
}

/// Writes `src/auth.rs:88`, as a link if there is an address.
pub(super) fn write_location(page: &mut MarkdownBuilder, path: &str, line: Option<u32>, url: &str) {
    if path.is_empty() {
        page.link_literal("the pull", url);
        return;
    }
    let mut text = String::with_capacity(path.len().min(4 * MAX_PATH_CHARS) + 16);
    text.push_str(path_tail(path));
    if let Some(line) = line {
        let _ = write!(text, ":{line}");
    }
    if url.is_empty() || url.len() > MAX_URL_BYTES {
        page.code_span(&text)
    } else {
        page.link(&text, url)
    };
}

/// Writes `` `@referee dismiss F4` ``, as code, so that it neither mentions anybody nor works as a command.
pub(super) fn write_command(page: &mut MarkdownBuilder, bot: &Login, words: &str) {
    let named = |it: &char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | '[' | ']');
    let bot: String = bot.as_str().chars().filter(named).take(MAX_NAME_CHARS).collect();
    page.code_span(&format!("@{bot} {words}"));
}

/// Writes the start of an untrusted text as code.
pub(super) fn write_code(page: &mut MarkdownBuilder, tainted: &str) {
    let end = tainted.char_indices().nth(MAX_CODE_CHARS).map_or(tainted.len(), |(at, _)| at);
    page.code_span(tainted.get(..end).unwrap_or_default());
}

pub(super) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Suggestion => "suggestion",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

pub(super) fn job_kind_name(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Findings => "findings",
        JobKind::Rebase => "rebase",
        JobKind::CiFix => "ci-fix",
        JobKind::SelfReview => "self-review",
        JobKind::SrFix => "sr-fix",
        JobKind::AddressFeedback => "address-feedback",
        JobKind::Impl => "impl",
    }
}

/// Writes the separator before every item but the first.
pub(super) fn write_comma(page: &mut MarkdownBuilder, at: usize) {
    if at > 0 {
        page.literal(", ");
    }
}

fn write_and_more(page: &mut MarkdownBuilder, more: usize) {
    if more > 0 {
        page.literal(" and ").number(more).literal(" more");
    }
}

/// Returns the end of a path, which says more than its start.
fn path_tail(path: &str) -> &str {
    let skip = path.chars().count().saturating_sub(MAX_PATH_CHARS);
    path.char_indices().nth(skip).and_then(|(at, _)| path.get(at..)).unwrap_or_default()
}

const MAX_LIST_ITEMS: usize = 10;
const MAX_NAME_CHARS: usize = 40;
const MAX_CODE_CHARS: usize = 80;
const MAX_PATH_CHARS: usize = 100;
const MAX_URL_BYTES: usize = 500;
