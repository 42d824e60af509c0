//! The parts of speech that several texts share.

use std::fmt::Write as _;

use crate::model::{FindingId, Login, Severity};
use crate::plan::JobKind;
use crate::sanitise::{Page, SafeText};

/// A finding's title as every text tells it. A summary keeps it in this form, so that the next turn, which has only
/// what was kept, writes the same words (PUB-2).
pub fn title(tainted: &str) -> SafeText {
    SafeText::line(tainted, 80)
}

/// Why a run failed or is incomplete, as a summary tells and keeps it.
pub fn failure(tainted: &str) -> SafeText {
    SafeText::line(tainted, 120)
}

/// Somebody's name, or a role's; it calls nobody.
pub(super) fn name(page: &mut Page, name: &str) {
    page.safe(&SafeText::line(name, LONGEST_NAME));
}

/// Names, the first ten of them.
pub(super) fn names<'a>(page: &mut Page, all: impl ExactSizeIterator<Item = &'a str>) {
    let more = all.len().saturating_sub(MOST);
    for (at, one) in all.take(MOST).enumerate() {
        comma(page, at);
        name(page, one);
    }
    and_more(page, more);
}

/// `F4, F6`, the first ten of them.
pub(super) fn ids(page: &mut Page, all: impl Iterator<Item = FindingId> + Clone) {
    let more = all.clone().skip(MOST).count();
    for (at, one) in all.take(MOST).enumerate() {
        comma(page, at);
        page.finding(one);
    }
    and_more(page, more);
}

/// `1 warning`, `2 warnings`.
pub(super) fn count(page: &mut Page, n: usize, thing: &'static str) {
    page.num(n).lit(" ").lit(thing);
    if n != 1 {
        page.lit("s");
    }
}

/// `src/auth.rs:88`, linked where there is something to link to.
pub(super) fn place(page: &mut Page, path: &str, line: Option<u32>, url: &str) {
    if path.is_empty() {
        page.link_lit("the pull", url);
        return;
    }
    let mut text = String::with_capacity(path.len().min(4 * LONGEST_PATH) + 16);
    text.push_str(tail(path));
    if let Some(line) = line {
        let _ = write!(text, ":{line}");
    }
    if url.is_empty() || url.len() > LONGEST_LINK {
        page.code(&text)
    } else {
        page.link(&text, url)
    };
}

/// `` `@referee dismiss F4` ``: as code, so that it calls nobody and commands nothing.
pub(super) fn command(page: &mut Page, bot: &Login, words: &str) {
    let named = |it: &char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | '[' | ']');
    let bot: String = bot.as_str().chars().filter(named).take(LONGEST_NAME).collect();
    page.code(&format!("@{bot} {words}"));
}

/// The start of a tainted word, as code.
pub(super) fn coded(page: &mut Page, tainted: &str) {
    let end = tainted.char_indices().nth(LONGEST_WORD).map_or(tainted.len(), |(at, _)| at);
    page.code(tainted.get(..end).unwrap_or_default());
}

/// The word for a severity.
pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Suggestion => "suggestion",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

/// The word for a type of worker.
pub(super) fn kind(kind: JobKind) -> &'static str {
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

/// Between the members of a list.
pub(super) fn comma(page: &mut Page, at: usize) {
    if at > 0 {
        page.lit(", ");
    }
}

fn and_more(page: &mut Page, more: usize) {
    if more > 0 {
        page.lit(" and ").num(more).lit(" more");
    }
}

/// The end of a path: the file's name says more than the folder's.
fn tail(path: &str) -> &str {
    let skip = path.chars().count().saturating_sub(LONGEST_PATH);
    path.char_indices().nth(skip).and_then(|(at, _)| path.get(at..)).unwrap_or_default()
}

const MOST: usize = 10;
const LONGEST_NAME: usize = 40;
const LONGEST_WORD: usize = 80;
const LONGEST_PATH: usize = 100;
const LONGEST_LINK: usize = 500;
