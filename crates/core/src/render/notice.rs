//! An edit notifies nobody, so a change of what blocks is said once more, in short (PUB-18).

use super::Line;
use super::phrase::{ids, place, title};
use crate::model::{FindingId, Sha};
use crate::sanitise::{Page, SafeText};

/// How the set of blocking findings changed.
#[derive(Clone, Debug)]
pub struct Notice<'a> {
    /// At which head.
    pub head: &'a Sha,
    /// Findings that block now and did not before.
    pub new: Vec<Line<'a>>,
    /// Findings that blocked before and do not now.
    pub gone: Vec<FindingId>,
    /// How many block now, the new ones among them.
    pub blocking: usize,
    /// The review's page.
    pub url: &'a str,
}

/// The words of a notice: which are new, which are gone, and where the review is.
pub fn notice(notice: &Notice<'_>) -> SafeText {
    let mut page = Page::new();
    if notice.blocking == 0 {
        page.lit("**Nothing blocking any more**");
    } else {
        page.lit("**Blocking findings changed** · ").num(notice.blocking).lit(" blocking");
    }
    page.lit(" · ").code(notice.head.short());
    if !notice.gone.is_empty() {
        page.lit(" · gone: ");
        ids(&mut page, notice.gone.iter().copied());
    }
    if !notice.url.is_empty() {
        page.lit(" · ").link_lit("the review", notice.url);
    }
    for (at, line) in notice.new.iter().take(NEW).enumerate() {
        page.lit(if at == 0 { "\n" } else { "" }).lit("\n- new: ");
        page.finding(line.id);
        page.lit(" ").safe(&title(line.title)).lit(" · ");
        place(&mut page, line.path, line.line, line.url);
    }
    let more = notice.new.len().saturating_sub(NEW);
    if more > 0 {
        page.lit("\n- new: ").num(more).lit(" more");
    }
    page.finish()
}

const NEW: usize = 5;
