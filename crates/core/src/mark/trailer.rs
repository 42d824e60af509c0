//! Finds referee's hidden comments in a text.

use std::borrow::Cow;

const COMMENT_OPEN: &str = "<!-- referee:";
const COMMENT_CLOSE: &str = "-->";
const OWN_NAMESPACE: &str = "referee:";
const COMMENT_KINDS: [&str; 3] = ["mark", "block", "tag"];

/// A hidden comment, not decoded yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HiddenComment<'a> {
    /// `mark`, `block` or `tag`.
    pub(super) kind: &'static str,
    /// Such as `v1`.
    pub(super) version: &'a str,
    /// Fields, and the seal of a Mark or Tag.
    pub(super) content: &'a str,
    start: usize,
    end: usize,
}

/// The hidden comments at the end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextTrailer<'a> {
    /// A Mark or Tag.
    pub(super) last: HiddenComment<'a>,
    /// The Block immediately before a Mark.
    pub(super) block: Option<HiddenComment<'a>>,
}

/// The result of a search for hidden comments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TrailerSearch<'a> {
    pub(super) trailer: Option<TextTrailer<'a>>,
    /// Whether there are other hidden comments, which do not count.
    pub(super) has_strays: bool,
}

/// Returns the text without referee's hidden comments.
pub fn strip_hidden_comments(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut from = 0;
    for comment in find_hidden_comments(text) {
        kept.push_str(text.get(from..comment.start).unwrap_or_default());
        from = comment.end;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(kept)
}

/// Finds the trailer: the last hidden comment, if it starts a line. A quoted comment does not start a line. Text after
/// the trailer is another person's edit, which the hash of the visible text detects (D28).
pub(super) fn find_trailer(text: &str) -> TrailerSearch<'_> {
    let comments: Vec<HiddenComment<'_>> = find_hidden_comments(text).collect();
    let starts_line = |comment: &HiddenComment<'_>| {
        text.get(..comment.start).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
    };
    let are_adjacent = |a: &HiddenComment<'_>, b: &HiddenComment<'_>| {
        text.get(a.end..b.start).is_some_and(|between| between.trim().is_empty())
    };
    let (trailer, counted) = match *comments.as_slice() {
        [] => return TrailerSearch::default(),
        [.., block, last] if block.kind == "block" && last.kind == "mark" && are_adjacent(&block, &last) => {
            (TextTrailer { last, block: Some(block) }, 2)
        }
        [.., last] => (TextTrailer { last, block: None }, 1),
    };
    if trailer.last.kind == "block" || !starts_line(&trailer.last) {
        return TrailerSearch { trailer: None, has_strays: true };
    }
    TrailerSearch { trailer: Some(trailer), has_strays: comments.len() > counted }
}

/// Returns whether a text ends, outside a quote, in a hidden comment that looks like one of referee's, valid or not: it
/// was written by some referee, so its words are not its author's (D41).
pub(super) fn ends_like_own_text(text: &str) -> bool {
    let Some(start) = text.rfind("<!--") else { return false };
    let (before, comment) = text.split_at(start);
    let is_quoted =
        before.lines().next_back().is_some_and(|line| !before.ends_with('\n') && line.trim_start().starts_with('>'));
    let inside = comment.trim_start_matches("<!--").trim_start();
    let is_last = comment.split_once(COMMENT_CLOSE).is_none_or(|(_, after)| after.trim().is_empty());
    let namespace = inside.get(..OWN_NAMESPACE.len()).is_some_and(|start| start.eq_ignore_ascii_case(OWN_NAMESPACE));
    namespace && is_last && !is_quoted
}

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
