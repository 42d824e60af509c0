//! A pull that is opened for a worker's branch (DSP-18).

use super::worker::write_worker_text;
use crate::model::IssueNumber;
use crate::sanitise::{MarkdownBuilder, SafeText};

/// What a pull's title and text are made from.
#[derive(Clone, Debug)]
pub struct PullDescription<'a> {
    /// The issue it answers, linked in the text.
    pub issue: IssueNumber,
    /// Tainted; may be empty.
    pub title: &'a str,
    /// Tainted; may be empty.
    pub body: &'a str,
}

/// The title and text of the pull. The issue is linked, and is closed by nobody but a person.
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

/// Words in which no number names an issue: a worker's "closes #4" would close it with the merge.
fn strip_issue_references(words: &str) -> String {
    let mut told = String::with_capacity(words.len());
    let mut chars = words.chars().peekable();
    while let Some(char) = chars.next() {
        if char == '#' && chars.peek().is_some_and(char::is_ascii_digit) {
            told.push_str("no. ");
        } else {
            told.push(char);
        }
    }
    told
}
