//! Renders an approval that was superseded by a block (PUB-5).

use crate::sanitise::{MarkdownBuilder, SafeText};

/// Renders `Superseded by <link>` with the old text folded below. The local forge has no addresses, only references such
/// as `L1#r2`. The old text is sanitised again, because others could edit it.
pub fn render_superseded(by_url: &str, old: &str) -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal("Superseded by ");
    let is_reference = (1..=MAX_REFERENCE_BYTES).contains(&by_url.len()) && !by_url.contains("://");
    if is_reference {
        page.literal("review ").code_span(by_url);
    } else {
        page.link_literal("a newer review", by_url);
    }
    let old = SafeText::sanitise_block(
        &convert_tables_to_lists(&crate::mark::strip_hidden_comments(old)),
        MAX_OLD_TEXT_BYTES,
    );
    if !old.is_empty() {
        page.blank_line().literal("<details><summary>What it said</summary>").blank_line().safe_text(&old);
        page.blank_line().literal("</details>");
    }
    page.finish()
}

/// Turns table rows into list items: sanitised text has no tables.
fn convert_tables_to_lists(old: &str) -> String {
    let mut listed = String::with_capacity(old.len());
    let mut lines = old.lines().peekable();
    while let Some(line) = lines.next() {
        if lines.next_if(|next| next.starts_with("|---")).is_some() {
            continue;
        }
        match line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |")) {
            Some(row) => {
                listed.push_str("- ");
                listed.push_str(&row.replace(" | ", " · "));
            }
            None => listed.push_str(line),
        }
        listed.push('\n');
    }
    listed
}

/// A longer text is not a reference of the local forge.
const MAX_REFERENCE_BYTES: usize = 40;
const MAX_OLD_TEXT_BYTES: usize = 30_000;
