//! A diff as it was parsed, with its text. It lives for one gather; what stays is [`ChangedFile`].

use super::{ChangeKind, ChangedFile, HunkRange};

/// A file of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff<'a> {
    /// The name after; before, for a deleted one.
    pub path: String,
    /// The name before, where it differs. On an added file it is the one it was copied from.
    pub old_path: Option<String>,
    /// What happened.
    pub kind: ChangeKind,
    /// The kind of entry and its rights before (`100644`, `100755`, `120000`, `160000`), where the diff says.
    pub old_mode: Option<u32>,
    /// The same, after.
    pub new_mode: Option<u32>,
    /// The name that git gives the content before, as long as the diff writes it.
    pub old_blob: Option<&'a str>,
    /// The same, after.
    pub new_blob: Option<&'a str>,
    /// The change of its content.
    pub content: DiffContent<'a>,
}

/// The change of a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffContent<'a> {
    /// Lines; none when only the name or the mode changed.
    Text(Vec<Hunk<'a>>),
    /// What the diff says of a binary file.
    Binary(&'a [u8]),
}

/// A run of changed lines with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// Which lines.
    pub range: HunkRange,
    /// The lines as the diff writes them, each with its first character.
    pub body: &'a [u8],
}

/// A line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLine<'a> {
    /// What happened to it.
    pub kind: LineKind,
    /// Its bytes, without the line feed; a carriage return is part of it.
    pub text: &'a [u8],
    /// Whether a line feed ends it. Only a file's last line may lack one.
    pub ends_with_newline: bool,
}

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It is on both sides.
    Context,
    /// It went.
    Removed,
    /// It came.
    Added,
}

/// The mode of a submodule.
const GITLINK_MODE: u32 = 0o160_000;

impl<'a> FileDiff<'a> {
    /// The hunks; none for a binary file.
    pub fn hunks(&self) -> &[Hunk<'a>] {
        match &self.content {
            DiffContent::Text(hunks) => hunks,
            DiffContent::Binary(_) => &[],
        }
    }

    /// What a snapshot keeps of it. The lengths are counted by [`line_count`], where the texts are at hand.
    pub fn to_changed_file(&self, old_len: Option<u32>, new_len: Option<u32>) -> ChangedFile {
        let submodule = self.old_mode == Some(GITLINK_MODE) || self.new_mode == Some(GITLINK_MODE);
        let hunks = if submodule { &[] } else { self.hunks() };
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
    /// The lines, in the order of the diff.
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

/// How many lines a text has: a last line without a line feed counts.
pub fn count_lines(text: &[u8]) -> u32 {
    let feeds = text.iter().filter(|byte| **byte == b'\n').count();
    let open_end = usize::from(text.last().is_some_and(|byte| *byte != b'\n'));
    u32::try_from(feeds + open_end).unwrap_or(u32::MAX)
}

fn parse_line_kind(line: &[u8]) -> LineKind {
    match line.first() {
        Some(b'+') => LineKind::Added,
        Some(b'-') => LineKind::Removed,
        // Git can be told to leave out the blank before an empty line of context.
        _ => LineKind::Context,
    }
}

/// The first line without its line feed, and what follows; none at the end.
fn split_first_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if text.is_empty() {
        return None;
    }
    Some(match text.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    })
}
