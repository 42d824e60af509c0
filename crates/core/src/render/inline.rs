//! The root of a thread: one finding, at its place.

use super::phrase::{name, severity, title};
use crate::model::{FindingId, RoleName, Severity, Sha};
use crate::sanitise::{Page, SafeText, is_verbatim};

/// What the root of a thread is made from.
#[derive(Clone, Debug)]
pub struct Root<'a> {
    /// Its id.
    pub id: FindingId,
    /// How grave.
    pub severity: Severity,
    /// Who says so.
    pub role: &'a RoleName,
    /// In a line; tainted.
    pub title: &'a str,
    /// Why it matters; tainted.
    pub body: &'a str,
    /// Replacement text; tainted.
    pub suggestion: Option<&'a str>,
    /// Who reads it can take the suggestion over by a click: the forge knows suggestion blocks, and the replaced
    /// lines are those the thread is on.
    pub one_click: bool,
    /// The page of the resolved thread in which the finding was told before it got worse (D12).
    pub cites: Option<&'a str>,
    /// It was fixed, and is broken again in that commit (INC-10).
    pub reopened: Option<&'a Sha>,
    /// The thread is on the file, since the line is not in the diff (PUB-13).
    pub at_file: bool,
    /// The line it is about.
    pub line: Option<u32>,
}

/// The words of a thread's root: `**critical** F4 · security`, then title, body and suggestion.
pub fn inline(root: &Root<'_>) -> SafeText {
    let mut page = Page::new();
    page.lit("**").lit(severity(root.severity)).lit("** ");
    page.finding(root.id);
    page.lit(" · ");
    name(&mut page, root.role.as_str());
    if let Some(sha) = root.reopened {
        page.lit(" · reopened in ").code(sha.short());
    }
    if let (true, Some(line)) = (root.at_file, root.line) {
        page.lit(" · line ").num(line).lit(", outside the diff");
    }
    if !root.title.trim().is_empty() {
        page.blank_line().safe(&title(root.title));
    }
    let body = root.body.trim();
    if !body.is_empty() && body != root.title.trim() {
        page.blank_line().safe(&SafeText::block(body, BODY));
    }
    if let Some(suggestion) = root.suggestion {
        suggest(&mut page, suggestion, root);
    }
    if let Some(url) = root.cites {
        page.blank_line().lit("It is back: it was settled in ").link_lit("the earlier thread", url).lit(".");
    }
    page.finish()
}

/// A suggestion is told whole or not at all: half of one would still be taken over by a click.
fn suggest(page: &mut Page, suggestion: &str, root: &Root<'_>) {
    let lines = suggestion.lines().count();
    if suggestion.len() > SUGGESTION || lines > SUGGESTED_LINES {
        page.blank_line().lit("A suggestion of ").num(lines).lit(" lines is too long to be shown.");
        return;
    }
    let as_is = is_verbatim(suggestion) && !suggestion.lines().any(reads_as_command);
    if as_is && root.one_click && !root.at_file {
        page.fence("suggestion", suggestion, SUGGESTED_LINES);
        return;
    }
    let mut added = String::with_capacity(suggestion.len() + lines);
    for line in suggestion.lines() {
        added.push('+');
        added.push_str(line);
        added.push('\n');
    }
    page.fence("diff", &added, SUGGESTED_LINES);
}

/// Bots read lines of code too: such a suggestion is shown as a diff, whose lines begin with a plus.
fn reads_as_command(line: &str) -> bool {
    line.trim_start().starts_with(['/', '@'])
}

const BODY: usize = 8_000;
const SUGGESTION: usize = 4_000;
const SUGGESTED_LINES: usize = 60;
