//! Where lines come from.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use referee_core::model::Sha;

use crate::program::{full, shortened};
use crate::{Git, GitError};

/// Where a line comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blamed {
    /// The line, counted from 1 in the file that was asked for.
    pub line: u32,
    /// The commit that brought it.
    pub commit: Sha,
    /// What the file was called there.
    pub path: String,
    /// Which line it was there.
    pub line_then: u32,
    /// Who wrote that commit.
    pub author_name: String,
    /// The author's address.
    pub author_email: String,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
}

const NAME: &str = "blame";

impl Git {
    /// Where lines of a file come from, in their order. What lies behind the last line is left out. In a shallow clone the
    /// first commit seems to have brought everything. Commits that the user told git to ignore are ignored.
    pub fn blame(&self, at: &Sha, path: &str, lines: RangeInclusive<u32>) -> Result<Vec<Blamed>, GitError> {
        let range = format!("-L{},{}", lines.start(), lines.end());
        let pinned = ["--porcelain", "--no-progress", "--no-textconv", &range];
        let answer = self.ask(NAME, &[&pinned[..], &[full(at)?, "--", path]].concat());
        let answer = answer.map_err(|error| self.unless_missing(&[at], error))?;
        let odd = || GitError::Answer { command: NAME, answer: shortened(&answer) };
        take_apart(&answer).ok_or_else(odd)
    }
}

/// `<commit> <line then> <line>[ <count>]`, what is known of the commit when it comes for the first time, `\t<text>`.
fn take_apart(answer: &[u8]) -> Option<Vec<Blamed>> {
    let mut known: HashMap<String, Blamed> = HashMap::new();
    let mut blamed = Vec::new();
    let mut lines = answer.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    while let Some(first) = lines.next() {
        let first = String::from_utf8_lossy(first);
        let mut fields = first.split(' ');
        let commit = fields.next()?.to_owned();
        let (line_then, line) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let entry = known.entry(commit.clone()).or_insert_with(|| nothing_known(commit));
        for line in lines.by_ref().take_while(|line| !line.starts_with(b"\t")) {
            learn(entry, line)?;
        }
        blamed.push(Blamed { line, line_then, ..entry.clone() });
    }
    Some(blamed)
}

fn nothing_known(commit: String) -> Blamed {
    let (path, author_name, author_email) = Default::default();
    Blamed { line: 0, commit: Sha(commit), path, line_then: 0, author_name, author_email, time: 0 }
}

fn learn(entry: &mut Blamed, line: &[u8]) -> Option<()> {
    let key = line.split(|byte| *byte == b' ').next()?;
    let value = line.get(key.len() + 1..).unwrap_or_default();
    let text = || String::from_utf8_lossy(value).into_owned();
    match key {
        b"author" => entry.author_name = text(),
        b"author-mail" => entry.author_email = text().trim_matches(['<', '>']).to_owned(),
        b"committer-time" => entry.time = text().parse().ok()?,
        b"filename" => entry.path = crate::diff::unquoted(value),
        _ => {}
    }
    Some(())
}
