//! Where the hidden comments of our namespace are in a text.

use std::borrow::Cow;

const COMMENT_OPEN: &str = "<!-- referee:";
const COMMENT_CLOSE: &str = "-->";
const COMMENT_KINDS: [&str; 3] = ["mark", "block", "tag"];

/// One hidden comment, still in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HiddenComment<'a> {
    /// `mark`, `block` or `tag`.
    pub(super) kind: &'static str,
    /// `v1`.
    pub(super) version: &'a str,
    /// Fields, and a seal where the kind has one.
    pub(super) content: &'a str,
    start: usize,
    end: usize,
}

/// The hidden memory of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextTrailer<'a> {
    /// A Mark or Tag.
    pub(super) last: HiddenComment<'a>,
    /// The Block right before a Mark.
    pub(super) block: Option<HiddenComment<'a>>,
}

/// What a text holds of our namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TrailerSearch<'a> {
    /// What counts, if anything.
    pub(super) trailer: Option<TextTrailer<'a>>,
    /// Something that does not.
    pub(super) has_strays: bool,
}

/// A text without the hidden comments of our namespace.
pub fn strip_hidden_comments(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut from = 0;
    for found in find_hidden_comments(text) {
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
pub(super) fn find_trailer(text: &str) -> TrailerSearch<'_> {
    let found: Vec<HiddenComment<'_>> = find_hidden_comments(text).collect();
    let begins_line =
        |it: &HiddenComment<'_>| text.get(..it.start).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
    let adjoin = |a: &HiddenComment<'_>, b: &HiddenComment<'_>| {
        text.get(a.end..b.start).is_some_and(|between| between.trim().is_empty())
    };
    let (trailing, counted) = match *found.as_slice() {
        [] => return TrailerSearch::default(),
        [.., block, last] if block.kind == "block" && last.kind == "mark" && adjoin(&block, &last) => {
            (TextTrailer { last, block: Some(block) }, 2)
        }
        [.., last] => (TextTrailer { last, block: None }, 1),
    };
    if trailing.last.kind == "block" || !begins_line(&trailing.last) {
        return TrailerSearch { trailer: None, has_strays: true };
    }
    TrailerSearch { trailer: Some(trailing), has_strays: found.len() > counted }
}

/// All hidden comments of our namespace, in order.
fn find_hidden_comments(text: &str) -> impl Iterator<Item = HiddenComment<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text.get(from..)?.find(COMMENT_OPEN)?;
            let inside = start + COMMENT_OPEN.len();
            from = inside;
            let body = text.get(inside..)?;
            let Some(kind) = COMMENT_KINDS.into_iter().find(|kind| body.starts_with(kind)) else { continue };
            let Some(rest) = body.get(kind.len()..).filter(|rest| rest.starts_with(" v")) else { continue };
            let length = rest.find(COMMENT_CLOSE)?;
            let inner = rest.get(1..length)?.trim_end();
            let (version, rest) = inner.split_once(' ').unwrap_or((inner, ""));
            let end = inside + kind.len() + length + COMMENT_CLOSE.len();
            from = end;
            return Some(HiddenComment { kind, version, content: rest, start, end });
        }
    })
}
