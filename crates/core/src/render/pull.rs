//! A pull that is opened for a worker's branch (DSP-18).

use super::worker::told;
use crate::model::IssueNumber;
use crate::sanitise::{Page, SafeText};

/// What a pull's title and text are made from.
#[derive(Clone, Debug)]
pub struct PullNote<'a> {
    /// The issue it answers, linked in the text.
    pub issue: IssueNumber,
    /// Tainted; may be empty.
    pub title: &'a str,
    /// Tainted; may be empty.
    pub body: &'a str,
}

/// The title and text of the pull. The issue is linked, and is closed by nobody but a person.
pub fn pull(note: &PullNote<'_>) -> (SafeText, SafeText) {
    let mut title = SafeText::line(&unnumbered(note.title), 120);
    if title.is_empty() {
        let mut untitled = Page::new();
        untitled.lit("Work on issue ").num(note.issue.0);
        title = untitled.finish();
    }
    let mut page = Page::new();
    page.lit("For issue #").num(note.issue.0).lit(".");
    told(&mut page, &unnumbered(note.body));
    (title, page.finish())
}

/// Words in which no number names an issue: a worker's "closes #4" would close it with the merge.
fn unnumbered(words: &str) -> String {
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
