//! Renders title and text of a pull that is opened for a worker's branch (DSP-18).

use super::worker::write_worker_text;
use crate::model::IssueNumber;
use crate::sanitise::{MarkdownBuilder, SafeText};

/// Input for the title and text of a pull.
#[derive(Clone, Debug)]
pub struct PullDescription<'a> {
    /// The issue, linked in the text.
    pub issue: IssueNumber,
    /// Untrusted; may be empty.
    pub title: &'a str,
    /// Untrusted; may be empty.
    pub body: &'a str,
}

/// Renders title and text. The issue is linked, not closed: only a person closes it.
pub fn render_pull_description(note: &PullDescription<'_>) -> (SafeText, SafeText) {
    let mut title = SafeText::sanitise_line(&strip_issue_references(note.title), 120);
    if title.is_empty() {
        let mut untitled = MarkdownBuilder::new();
        untitled.literal("Work on issue ").number(note.issue.0);
        title = untitled.finish();
    }
    let mut page = MarkdownBuilder::new();
    page.literal("For issue #").number(note.issue.0).literal(".");
    write_worker_text(&mut page, &strip_issue_references(note.body));
    (title, page.finish())
}

/// Removes references to issues: a worker's "closes #4" would close the issue with the merge.
fn strip_issue_references(words: &str) -> String {
    let mut stripped = String::with_capacity(words.len());
    let mut chars = words.chars().peekable();
    while let Some(char) = chars.next() {
        if char == '#' && chars.peek().is_some_and(char::is_ascii_digit) {
            stripped.push_str("no. ");
        } else {
            stripped.push(char);
        }
    }
    stripped
}
