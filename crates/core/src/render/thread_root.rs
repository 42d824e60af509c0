//! Renders the root note of a thread: one finding at its location.

use super::phrase::{severity_name, write_name};
use super::thread::SETTLED_PREFIX;
use crate::model::{FindingId, RoleName, Severity, Sha};
use crate::sanitise::{MarkdownBuilder, SafeText, is_verbatim};

/// The input of a thread's root note.
#[derive(Clone, Debug)]
pub struct ThreadRoot<'a> {
    pub id: FindingId,
    pub severity: Severity,
    pub role: &'a RoleName,
    /// The reviewer's title; untrusted.
    pub title: &'a str,
    /// The reviewer's explanation in Markdown; untrusted.
    pub body: &'a str,
    /// Replacement text; untrusted.
    pub suggestion: Option<&'a str>,
    /// The suggestion can be applied with a click: the forge has suggestion blocks, and the replaced lines are those of
    /// the thread.
    pub one_click: bool,
    /// The address of the resolved thread of this finding before it got worse (D12).
    pub earlier_thread_url: Option<&'a str>,
    /// The commit in which a fixed finding broke again (INC-10).
    pub reopened_in: Option<&'a Sha>,
    /// The thread is on the file because the line is not in the diff (PUB-13).
    pub at_file: bool,
    pub line: Option<u32>,
}

/// Renders `**critical** F4 · security`, then title, body and suggestion.
pub fn render_thread_root(root: &ThreadRoot<'_>) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("**").literal(severity_name(root.severity)).literal("** ");
    page.finding(root.id);
    page.literal(" · ");
    write_name(&mut page, root.role.as_str());
    if let Some(sha) = root.reopened_in {
        page.literal(" · reopened in ").code_span(sha.short());
    }
    if let (true, Some(line)) = (root.at_file, root.line) {
        page.literal(" · line ").number(line).literal(", outside the diff");
    }
    if !root.title.trim().is_empty() {
        page.blank_line().safe_text(&SafeText::sanitise_line(root.title, MAX_TITLE_CHARS));
    }
    let body = root.body.trim();
    if !body.is_empty() && body != root.title.trim() {
        page.blank_line().safe_text(&SafeText::sanitise_block(body, MAX_BODY_BYTES));
    }
    if let Some(suggestion) = root.suggestion {
        write_suggestion(&mut page, suggestion, root);
    }
    if let Some(url) = root.earlier_thread_url {
        page.blank_line()
            .literal("It is back: it was settled in ")
            .link_literal("the earlier thread", url)
            .literal(".");
    }
    page.finish()
}

/// Title and body of a finding, as the root of its thread shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootWords<'a> {
    pub title: &'a str,
    pub body: &'a str,
}

/// Reads title and body back from a root that [`render_thread_root`] wrote. `None` for any other text.
pub fn split_thread_root(root: &str) -> Option<RootWords<'_>> {
    let visible = root.split("\n<!-- referee:").next()?.trim_end();
    let visible = match visible.rsplit_once('\n') {
        Some((above, last)) if last.starts_with(SETTLED_PREFIX) => above.trim_end(),
        _ => visible,
    };
    let (headline, words) = visible.split_once("\n\n")?;
    let (title, body) = words.split_once("\n\n").unwrap_or((words, ""));
    headline.starts_with("**").then_some(RootWords { title, body })
}

/// Writes the whole suggestion or none: half of one could still be applied with a click.
fn write_suggestion(page: &mut MarkdownBuilder, suggestion: &str, root: &ThreadRoot<'_>) {
    let lines = suggestion.lines().count();
    if suggestion.len() > MAX_SUGGESTION_BYTES || lines > MAX_SUGGESTION_LINES {
        page.blank_line().literal("A suggestion of ").number(lines).literal(" lines is too long to be shown.");
        return;
    }
    let as_is = is_verbatim(suggestion) && !suggestion.lines().any(reads_as_command);
    if as_is && root.one_click && !root.at_file {
        page.code_block("suggestion", suggestion, MAX_SUGGESTION_LINES);
        return;
    }
    let mut added = String::with_capacity(suggestion.len() + lines);
    for line in suggestion.lines() {
        added.push('+');
        added.push_str(line);
        added.push('\n');
    }
    page.code_block("diff", &added, MAX_SUGGESTION_LINES);
}

/// Returns whether a bot could read the line as a command. Such a suggestion is shown as a diff, whose lines start with
///  a plus.
fn reads_as_command(line: &str) -> bool {
    line.trim_start().starts_with(['/', '@'])
}

/// Longer titles are cut with `…`.
const MAX_TITLE_CHARS: usize = 1_000;
const MAX_BODY_BYTES: usize = 24_000;
const MAX_SUGGESTION_BYTES: usize = 4_000;
const MAX_SUGGESTION_LINES: usize = 60;
