//! What the reviewing side says in its own threads. Each is said once, in a line or two, and none claims that the
//! thread is resolved: that shows once it is.

use super::phrase::{name, place, severity};
use crate::model::{Login, Severity, Sha};
use crate::sanitise::{Page, SafeText};

/// It was fixed in that commit (INC-2).
pub fn fixed(commit: &Sha) -> SafeText {
    let mut page = Page::new();
    page.lit("Fixed in ").code(commit.short()).lit(".");
    page.finish()
}

/// Somebody who may said that it stays (INC-6).
pub fn accepted(by: &Login) -> SafeText {
    let mut page = Page::new();
    page.lit("No longer counts: accepted by ");
    name(&mut page, by.as_str());
    page.lit(".");
    page.finish()
}

/// The person who argued is right (INC-7).
pub fn conceded(words: &str) -> SafeText {
    said("Withdrawn: the objection holds.", words)
}

/// The person who argued is not right, and here is why: once (D11).
pub fn rebuttal(words: &str) -> SafeText {
    let mut page = Page::new();
    page.safe(&said("This stands.", words));
    page.blank_line().lit("It is not argued again at this head: a person decides.");
    page.finish()
}

/// A claim of "fixed" does not hold, and this is where that shows (INC-8).
pub fn contest(path: &str, line: Option<u32>, words: &str) -> SafeText {
    let mut page = Page::new();
    page.lit("Not fixed at this head, see ");
    place(&mut page, path, line, "");
    page.lit(".");
    add(&mut page, words);
    page.finish()
}

/// It is graver now (INC-4).
pub fn worsened(now: Severity, words: &str) -> SafeText {
    let mut page = Page::new();
    page.lit("Worse at this head, now **").lit(severity(now)).lit("**.");
    add(&mut page, words);
    page.finish()
}

/// Where a forge cannot resolve: why an own thread needs nothing more (FIX-12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled<'a> {
    /// Fixed in that commit.
    Fixed(&'a Sha),
    /// Fixed, nobody said where.
    AlreadyFixed,
    /// It no longer applies.
    Stale,
    /// Somebody who may said that it stays.
    Accepted(&'a Login),
    /// The reviewer was wrong.
    Withdrawn,
}

/// An own root with one line more, for forges that cannot resolve; a line from before is replaced.
pub fn settled(root: &str, how: Settled<'_>) -> SafeText {
    let visible = crate::mark::visible(root);
    let before = visible.trim_end();
    let before = match before.rsplit_once('\n') {
        Some((above, last)) if last.starts_with(SETTLED) => above,
        _ => before,
    };
    let mut page = Page::new();
    page.safe(&SafeText::block(before, ROOT)).blank_line().lit(SETTLED);
    match how {
        Settled::Fixed(commit) => page.lit("fixed in ").code(commit.short()),
        Settled::AlreadyFixed => page.lit("fixed"),
        Settled::Stale => page.lit("it no longer applies"),
        Settled::Accepted(by) => {
            page.lit("accepted by ");
            name(&mut page, by.as_str());
            &mut page
        }
        Settled::Withdrawn => page.lit("withdrawn"),
    };
    page.finish()
}

fn said(consequence: &'static str, words: &str) -> SafeText {
    let mut page = Page::new();
    page.lit(consequence);
    add(&mut page, words);
    page.finish()
}

fn add(page: &mut Page, words: &str) {
    let words = words.trim();
    if !words.is_empty() {
        page.blank_line().safe(&SafeText::block(words, WORDS));
    }
}

const SETTLED: &str = "**Settled** · ";
const WORDS: usize = 4_000;
const ROOT: usize = 20_000;
