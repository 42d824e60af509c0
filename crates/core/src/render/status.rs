//! Renders the text of a commit status (PUB-19).

use super::Summary;
use super::headline::{HeadlineState, write_counts, write_reason};
use super::phrase::{write_finding_ids, write_name};
use crate::sanitise::{MarkdownBuilder, SafeText};

/// Renders at most 140 characters, for example `changes requested: F4, F6 · round 2/3`.
pub fn render_status(summary: &Summary<'_>) -> SafeText {
    let state = HeadlineState::from_summary(summary);
    let mut page = MarkdownBuilder::new();
    match state {
        HeadlineState::Blocks => {
            page.literal("changes requested");
            let blocking = summary.open_findings.iter().filter(|it| it.blocking).map(|it| it.id);
            if blocking.clone().next().is_some() {
                page.literal(": ");
                write_finding_ids(&mut page, blocking);
            }
            page.literal(" · round ").number(summary.round).literal("/").number(summary.max_rounds);
        }
        HeadlineState::HeadUnread => {
            page.literal(HEAD_UNREAD);
        }
        HeadlineState::BlockStays => {
            page.literal("nothing blocking any more, the block stays until this review approves");
        }
        HeadlineState::GlassBroken { by, reason } => {
            page.literal("glass broken by ");
            write_name(&mut page, by);
            page.literal(": ").safe_text(&SafeText::sanitise_line(reason, 80));
        }
        HeadlineState::HeldBySibling { .. } => write_state(&mut page, summary, state, "changes requested"),
        HeadlineState::Failed => write_state(&mut page, summary, state, "not reviewed"),
        HeadlineState::Incomplete => write_state(&mut page, summary, state, "not fully reviewed"),
        HeadlineState::Approved => write_state(&mut page, summary, state, "approved"),
        HeadlineState::NothingBlocking => write_state(&mut page, summary, state, "nothing blocking"),
    }
    // The parts are sanitised already; only a text that is too long is processed again.
    let text = page.finish();
    if text.len() <= MAX_STATUS_CHARS { text } else { SafeText::sanitise_line(text.as_str(), MAX_STATUS_CHARS) }
}

/// Renders the status of a head that could not be read whole (D43).
pub fn render_unread_status() -> SafeText {
    let mut page = MarkdownBuilder::new();
    page.literal(HEAD_UNREAD);
    page.finish()
}

const HEAD_UNREAD: &str = "not reviewed at this head";
const MAX_STATUS_CHARS: usize = 140;

fn write_state(page: &mut MarkdownBuilder, summary: &Summary<'_>, state: HeadlineState<'_>, word: &'static str) {
    page.literal(word);
    write_reason(page, summary, state);
    write_counts(page, summary, state);
}
