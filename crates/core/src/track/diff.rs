//! A parsed diff with its text. It exists only during `gather`; a snapshot keeps [`ChangedFile`].

use super::{ChangeKind, ChangedFile, HunkRange};

/// A file of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff<'a> {
    /// The new path. For a deleted file, the old one.
    pub path: String,
    /// The old path, if it differs. For an added file, the path it was copied from.
    pub old_path: Option<String>,
    pub kind: ChangeKind,
    /// Git's file mode (`100644`, `100755`, `120000`, `160000`), if the diff has it.
    pub old_mode: Option<u32>,
    pub new_mode: Option<u32>,
    /// Blob id, possibly abbreviated.
    pub old_blob: Option<&'a str>,
    pub new_blob: Option<&'a str>,
    pub content: DiffContent<'a>,
}

/// The change of a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffContent<'a> {
    /// Empty if only the path or the mode changed.
    Text(Vec<Hunk<'a>>),
    /// The binary patch, if the diff has one.
    Binary(&'a [u8]),
}

/// Changed lines with context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'a> {
    pub range: HunkRange,
    /// The lines of the diff, each with its sign.
    pub body: &'a [u8],
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLine<'a> {
    pub kind: LineKind,
    /// Without the line feed, but with a carriage return.
    pub text: &'a [u8],
    /// `false` only for a last line without a line feed.
    pub ends_with_newline: bool,
}

/// Whether a line is on both sides or on one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    Context,
    Removed,
    Added,
}

/// The mode of a submodule.
const GITLINK_MODE: u32 = 0o160_000;

impl<'a> FileDiff<'a> {
    /// Returns the hunks. Empty for a binary file.
    pub fn hunks(&self) -> &[Hunk<'a>] {
        match &self.content {
            DiffContent::Text(hunks) => hunks,
            DiffContent::Binary(_) => &[],
        }
    }

    /// Converts to what a snapshot keeps. The caller counts the lengths with [`count_lines`] if it has the texts.
    pub fn to_changed_file(&self, old_len: Option<u32>, new_len: Option<u32>) -> ChangedFile {
        let is_submodule = self.old_mode == Some(GITLINK_MODE) || self.new_mode == Some(GITLINK_MODE);
        let hunks = if is_submodule { &[] } else { self.hunks() };
        ChangedFile {
            path: self.path.clone(),
            old_path: self.old_path.clone(),
            kind: self.kind,
            hunks: hunks.iter().map(|hunk| hunk.range).collect(),
            old_len,
            new_len,
        }
    }
}

impl<'a> Hunk<'a> {
    /// Returns the lines in the order of the diff.
    pub fn lines(&self) -> impl Iterator<Item = DiffLine<'a>> {
        let mut rest = self.body;
        std::iter::from_fn(move || {
            let (line, after) = split_first_line(rest)?;
            let mut line =
                DiffLine { kind: parse_line_kind(line), text: line.get(1..).unwrap_or(b""), ends_with_newline: true };
            rest = after;
            if let Some((note, after)) = split_first_line(rest)
                && note.first() == Some(&b'\\')
            {
                line.ends_with_newline = false;
                rest = after;
            }
            Some(line)
        })
    }
}

/// Counts the lines of a text, including a last line without a line feed.
pub fn count_lines(text: &[u8]) -> u32 {
    let line_feeds = text.iter().filter(|byte| **byte == b'\n').count();
    let unterminated = usize::from(text.last().is_some_and(|byte| *byte != b'\n'));
    u32::try_from(line_feeds + unterminated).unwrap_or(u32::MAX)
}

fn parse_line_kind(line: &[u8]) -> LineKind {
    match line.first() {
        Some(b'+') => LineKind::Added,
        Some(b'-') => LineKind::Removed,
        // With `diff.suppressBlankEmpty`, git omits the space before an empty context line.
        _ => LineKind::Context,
    }
}

/// Returns the first line without its line feed, and the rest. `None` at the end.
fn split_first_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if text.is_empty() {
        return None;
    }
    Some(match text.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    })
}
