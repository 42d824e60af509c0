//! Where the hidden comments of our namespace are in a text.

use std::borrow::Cow;

const OPEN: &str = "<!-- referee:";
const CLOSE: &str = "-->";
const KINDS: [&str; 3] = ["mark", "block", "tag"];

/// One hidden comment, still in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found<'a> {
    /// `mark`, `block` or `tag`.
    pub(super) kind: &'static str,
    /// `v1`.
    pub(super) version: &'a str,
    /// Fields, and a seal where the kind has one.
    pub(super) rest: &'a str,
    start: usize,
    end: usize,
}

/// The hidden memory of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailing<'a> {
    /// A Mark or Tag.
    pub(super) last: Found<'a>,
    /// The Block right before a Mark.
    pub(super) block: Option<Found<'a>>,
}

/// What a text holds of our namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Search<'a> {
    /// What counts, if anything.
    pub(super) trailing: Option<Trailing<'a>>,
    /// Something that does not.
    pub(super) strays: bool,
}

/// A text without the hidden comments of our namespace.
pub fn visible(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut from = 0;
    for found in comments(text) {
        kept.push_str(text.get(from..found.start).unwrap_or_default());
        from = found.end;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(kept)
}

/// Looks for the memory of a text: the last comment of ours counts if it begins its line. Words behind it are somebody's
/// edit, which the hash of the words tells (D28); a quoted one does not begin its line.
pub(super) fn search(text: &str) -> Search<'_> {
    let found: Vec<Found<'_>> = comments(text).collect();
    let begins_line =
        |it: &Found<'_>| text.get(..it.start).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
    let adjoin =
        |a: &Found<'_>, b: &Found<'_>| text.get(a.end..b.start).is_some_and(|between| between.trim().is_empty());
    let (trailing, counted) = match *found.as_slice() {
        [] => return Search::default(),
        [.., block, last] if block.kind == "block" && last.kind == "mark" && adjoin(&block, &last) => {
            (Trailing { last, block: Some(block) }, 2)
        }
        [.., last] => (Trailing { last, block: None }, 1),
    };
    if trailing.last.kind == "block" || !begins_line(&trailing.last) {
        return Search { trailing: None, strays: true };
    }
    Search { trailing: Some(trailing), strays: found.len() > counted }
}

/// All hidden comments of our namespace, in order.
fn comments(text: &str) -> impl Iterator<Item = Found<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text.get(from..)?.find(OPEN)?;
            let inside = start + OPEN.len();
            from = inside;
            let body = text.get(inside..)?;
            let Some(kind) = KINDS.into_iter().find(|kind| body.starts_with(kind)) else { continue };
            let Some(rest) = body.get(kind.len()..).filter(|rest| rest.starts_with(" v")) else { continue };
            let length = rest.find(CLOSE)?;
            let inner = rest.get(1..length)?.trim_end();
            let (version, rest) = inner.split_once(' ').unwrap_or((inner, ""));
            let end = inside + kind.len() + length + CLOSE.len();
            from = end;
            return Some(Found { kind, version, rest, start, end });
        }
    })
}
