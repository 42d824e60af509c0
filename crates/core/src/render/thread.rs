//! Renders the replies of the reviewing side in its own threads. Each is one or two lines; none claims that the
//! thread is resolved, which the forge shows.

use super::phrase::{severity_name, write_command, write_location, write_name};
use crate::model::{FindingId, Login, Severity, Sha};
use crate::sanitise::{MarkdownBuilder, SafeText};

/// Renders: fixed in this commit (INC-2).
pub fn render_fixed_reply(commit: &Sha) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("Fixed in ").code_span(commit.short()).literal(".");
    page.finish()
}

/// Renders: accepted by a person who may (INC-6).
pub fn render_accepted_reply(by: &Login) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("No longer counts: accepted by ");
    write_name(&mut page, by.as_str());
    page.literal(".");
    page.finish()
}

/// Why words of acceptance do not accept a finding (D39, D40).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintReason {
    /// The note does not begin with them, or demands a fix.
    Unclear,
    /// A critical finding needs a reason in a fixed form.
    Critical,
    /// The note was edited.
    Edited,
    /// The reviewer withdrew a critical finding, which only a person can accept.
    Conceded,
}

/// Renders how to accept a finding, for a person whose words did not.
pub fn render_acceptance_hint(finding: FindingId, reason: HintReason, bot: &Login) -> SafeText {
    let mut page = MarkdownBuilder::new();
    let because = match reason {
        HintReason::Unclear => "This does not accept ",
        HintReason::Critical => "A critical finding needs a reason, so this does not accept ",
        HintReason::Edited => "An edited note does not count, so this does not accept ",
        HintReason::Conceded => "The reviewer agrees, and only a person accepts a critical finding. Still open: ",
    };
    page.literal(because).finding(finding).literal(".").blank_line().literal("To accept it, ");
    if reason != HintReason::Edited {
        page.literal("begin a note with ").code_span("won't fix:").literal(" or ").code_span("accepted risk:");
        page.literal(" and the reason, or ");
    }
    page.literal("write a new comment on the pull: ");
    write_command(&mut page, bot, &format!("dismiss {finding} <reason>"));
    page.finish()
}

/// Renders: the person who disputed the finding is right (INC-7).
pub fn render_concession(words: &str) -> SafeText {
    render_consequence("Withdrawn: the objection holds.", words)
}

/// Renders the one answer to a dispute that the reviewer rejects (D11).
pub fn render_rebuttal(words: &str) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.safe_text(&render_consequence("This stands.", words));
    page.blank_line().literal(LAST_ANSWER);
    page.finish()
}

/// Renders the one answer of a program of fixed rules (D30).
pub fn render_rule_reply(path: &str, line: Option<u32>, words: &str) -> SafeText {
    let mut page = start_with_location("The rule still matches at ", path, line, words);
    page.blank_line().literal(LAST_ANSWER);
    page.finish()
}

/// Renders: reported as fixed, but still found here (INC-8).
pub fn render_contest(path: &str, line: Option<u32>, words: &str) -> SafeText {
    start_with_location("Not fixed at this head, see ", path, line, words).finish()
}

/// Renders: more severe now (INC-4).
pub fn render_worsened_reply(now: Severity, words: &str) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("Worse at this head, now **").literal(severity_name(now)).literal("**.");
    write_paragraph(&mut page, words);
    page.finish()
}

/// Why a thread of referee is settled, where the forge cannot resolve it (FIX-12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettlementReason<'a> {
    /// Fixed in that commit.
    Fixed(&'a Sha),
    /// Fixed in an unknown commit.
    AlreadyFixed,
    /// It no longer applies.
    Stale,
    /// Accepted by a person who may.
    Accepted(&'a Login),
    /// Withdrawn by the reviewer.
    Withdrawn,
    /// Another thread is about the same finding (D42).
    PostedTwice,
}

/// Renders a root note with a line that says that it is settled; an older such line is replaced.
pub fn render_settled_root(root: &str, how: SettlementReason<'_>) -> SafeText {
    let visible = crate::mark::strip_hidden_comments(root);
    let before = visible.trim_end();
    let before = match before.rsplit_once('\n') {
        Some((above, last)) if last.starts_with(SETTLED_PREFIX) => above,
        _ => before,
    };
    let mut page = MarkdownBuilder::new();
    page.safe_text(&SafeText::sanitise_block(before, MAX_ROOT_BYTES)).blank_line().literal(SETTLED_PREFIX);
    match how {
        SettlementReason::Fixed(commit) => page.literal("fixed in ").code_span(commit.short()),
        SettlementReason::AlreadyFixed => page.literal("fixed"),
        SettlementReason::Stale => page.literal("it no longer applies"),
        SettlementReason::Accepted(by) => {
            page.literal("accepted by ");
            write_name(&mut page, by.as_str());
            &mut page
        }
        SettlementReason::Withdrawn => page.literal("withdrawn"),
        SettlementReason::PostedTwice => page.literal("posted twice, see the other thread"),
    };
    page.finish()
}

fn start_with_location(lead: &'static str, path: &str, line: Option<u32>, words: &str) -> MarkdownBuilder {
    let mut page = MarkdownBuilder::new();
    page.literal(lead);
    write_location(&mut page, path, line, "");
    page.literal(".");
    write_paragraph(&mut page, words);
    page
}

fn render_consequence(consequence: &'static str, words: &str) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal(consequence);
    write_paragraph(&mut page, words);
    page.finish()
}

fn write_paragraph(page: &mut MarkdownBuilder, words: &str) {
    let words = words.trim();
    if !words.is_empty() {
        page.blank_line().safe_text(&SafeText::sanitise_block(words, MAX_PARAGRAPH_BYTES));
    }
}

pub(super) const SETTLED_PREFIX: &str = "**Settled** · ";
const LAST_ANSWER: &str = "It is not argued again at this head: a person decides.";
const MAX_PARAGRAPH_BYTES: usize = 4_000;
const MAX_ROOT_BYTES: usize = 36_000;
