//! What a commit status says of a verdict (PUB-19).

use super::Summary;
use super::headline::{State, counts, reason};
use super::phrase::{ids, name};
use crate::sanitise::{Page, SafeText};

/// At most 140 characters, of the same facts as the summary's first line: `changes requested: F4, F6 · round 2/3`.
pub fn status(summary: &Summary<'_>) -> SafeText {
    let state = State::of(summary);
    let mut page = Page::new();
    match state {
        State::Blocks => {
            page.lit("changes requested");
            let blocking = summary.open.iter().filter(|it| it.blocking).map(|it| it.id);
            if blocking.clone().next().is_some() {
                page.lit(": ");
                ids(&mut page, blocking);
            }
            page.lit(" · round ").num(summary.round).lit("/").num(summary.rounds);
        }
        State::Unread => {
            page.lit("not reviewed at this head");
        }
        State::BlockStays => {
            page.lit("nothing blocking any more, the block stays until this review approves");
        }
        State::Glass { by, reason } => {
            page.lit("glass broken by ");
            name(&mut page, by);
            page.lit(": ").safe(&SafeText::line(reason, 80));
        }
        State::Held { .. } => word(&mut page, summary, state, "changes requested"),
        State::Failed => word(&mut page, summary, state, "not reviewed"),
        State::Incomplete => word(&mut page, summary, state, "not fully reviewed"),
        State::Approved => word(&mut page, summary, state, "approved"),
        State::Clear => word(&mut page, summary, state, "nothing blocking"),
    }
    // Own words, made safe part by part: only what is too long is looked at again.
    let text = page.finish();
    if text.len() <= LONGEST { text } else { SafeText::line(text.as_str(), LONGEST) }
}

/// In characters.
const LONGEST: usize = 140;

fn word(page: &mut Page, summary: &Summary<'_>, state: State<'_>, word: &'static str) {
    page.lit(word);
    reason(page, summary, state);
    counts(page, summary, state);
}
