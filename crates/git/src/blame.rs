//! Where lines come from.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use referee_core::model::Sha;

use crate::git::{redact_output, require_full_sha};
use crate::{Git, GitError};

/// Where a line comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameLine {
    /// The line, counted from 1 in the file that was asked for.
    pub line: u32,
    /// The commit that brought it.
    pub commit: Sha,
    /// What the file was called there.
    pub original_path: String,
    /// Which line it was there.
    pub original_line: u32,
    /// Who wrote that commit.
    pub author_name: String,
    /// The author's address.
    pub author_email: String,
    /// When it was committed, in seconds since 1970.
    pub committed_at: i64,
}

const BLAME: &str = "blame";

impl Git {
    /// Where lines of a file come from, in their order. What lies behind the last line is left out. In a shallow clone the
    /// first commit seems to have brought everything. Commits that the user told git to ignore are ignored.
    pub fn blame(&self, at: &Sha, path: &str, lines: RangeInclusive<u32>) -> Result<Vec<BlameLine>, GitError> {
        let range = format!("-L{},{}", lines.start(), lines.end());
        let pinned = ["--porcelain", "--no-progress", "--no-textconv", &range];
        let answer = self.run(BLAME, &[&pinned[..], &[require_full_sha(at)?, "--", path]].concat());
        let answer = answer.map_err(|error| self.map_missing_commit(&[at], error))?;
        let odd = || GitError::UnexpectedOutput { command: BLAME, answer: redact_output(&answer) };
        parse_blame(&answer).ok_or_else(odd)
    }
}

/// `<commit> <line then> <line>[ <count>]`, what is known of the commit when it comes for the first time, `\t<text>`.
fn parse_blame(answer: &[u8]) -> Option<Vec<BlameLine>> {
    let mut known: HashMap<String, BlameLine> = HashMap::new();
    let mut blamed = Vec::new();
    let mut lines = answer.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    while let Some(first) = lines.next() {
        let first = String::from_utf8_lossy(first);
        let mut fields = first.split(' ');
        let commit = fields.next()?.to_owned();
        let (line_then, line) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let entry = known.entry(commit.clone()).or_insert_with(|| empty_blame(commit));
        for line in lines.by_ref().take_while(|line| !line.starts_with(b"\t")) {
            apply_header(entry, line)?;
        }
        blamed.push(BlameLine { line, original_line: line_then, ..entry.clone() });
    }
    Some(blamed)
}

fn empty_blame(commit: String) -> BlameLine {
    let (path, author_name, author_email) = Default::default();
    BlameLine {
        line: 0,
        commit: Sha(commit),
        original_path: path,
        original_line: 0,
        author_name,
        author_email,
        committed_at: 0,
    }
}

fn apply_header(entry: &mut BlameLine, line: &[u8]) -> Option<()> {
    let key = line.split(|byte| *byte == b' ').next()?;
    let value = line.get(key.len() + 1..).unwrap_or_default();
    let text = || String::from_utf8_lossy(value).into_owned();
    match key {
        b"author" => entry.author_name = text(),
        b"author-mail" => entry.author_email = text().trim_matches(['<', '>']).to_owned(),
        b"committer-time" => entry.committed_at = text().parse().ok()?,
        b"filename" => entry.original_path = crate::diff::unquote_path(value),
        _ => {}
    }
    Some(())
}
