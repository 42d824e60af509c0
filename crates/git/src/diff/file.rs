//! One file of a patch.

use referee_core::track::{ChangeKind, Content, FileDiff, Hunk, HunkRange};

use super::DiffError;
use super::header::{self, Header};
use super::path::{names_of_header, side, unquoted};
use super::reader::Reader;

/// Reads a file, from its `diff --git` line to the next one.
pub(super) fn take<'a>(reader: &mut Reader<'a>) -> Result<FileDiff<'a>, DiffError> {
    let Some(names) = reader.next_after(b"diff --git ")? else {
        let line = reader.next()?;
        return Err(reader.odd(line));
    };
    let header = header::take(reader)?;
    let mut sides = None;
    let content = if reader.sees(b"--- ") {
        let old = reader.next_after(b"--- ")?.unwrap_or(b"");
        let new = reader.next_after(b"+++ ")?.ok_or_else(|| reader.cut())?;
        sides = Some((side(old, b"a/"), side(new, b"b/")));
        Content::Text(take_hunks(reader)?)
    } else if reader.next_after(b"Binary files ")?.is_some() {
        Content::Binary(b"")
    } else if reader.sees(b"GIT binary patch") {
        Content::Binary(take_binary(reader)?)
    } else if header.stands_alone() {
        Content::Text(Vec::new())
    } else if reader.at_end() {
        return Err(reader.cut());
    } else {
        let line = reader.next()?;
        return Err(reader.odd(line));
    };
    named(names, header, sides, content).ok_or_else(|| reader.odd(names))
}

pub(super) fn is_binary(file: &FileDiff<'_>) -> bool {
    matches!(file.content, Content::Binary(_))
}

/// Puts the names together from the line that is surest of them.
fn named<'a>(
    names: &[u8],
    header: Header<'a>,
    sides: Option<(Option<String>, Option<String>)>,
    content: Content<'a>,
) -> Option<FileDiff<'a>> {
    let from = header.renamed_from.or(header.copied_from).map(unquoted);
    let to = header.renamed_to.or(header.copied_to).map(unquoted);
    let (old, new) = sides.unwrap_or_default();
    let kind = match (header.added.is_some() || header.copied_from.is_some(), header.deleted, &from) {
        (true, _, _) => ChangeKind::Added,
        (_, Some(_), _) => ChangeKind::Deleted,
        (_, _, Some(_)) => ChangeKind::Renamed,
        _ => ChangeKind::Modified,
    };
    let path = to.or(new).or(old).or_else(|| names_of_header(names))?;
    let (old_blob, new_blob) = header.index.unzip();
    let known = |name: &&str| name.bytes().any(|byte| byte != b'0');
    Some(FileDiff {
        path,
        old_path: from,
        kind,
        old_mode: header.deleted.or(header.old_mode),
        new_mode: header.added.or(header.new_mode),
        old_blob: old_blob.filter(known),
        new_blob: new_blob.filter(known),
        content,
    })
}

fn take_hunks<'a>(reader: &mut Reader<'a>) -> Result<Vec<Hunk<'a>>, DiffError> {
    let mut hunks = Vec::new();
    while let Some(line) = reader.next_after(b"@@ -")? {
        let range = range(line).ok_or_else(|| reader.odd(line))?;
        hunks.push(Hunk { range, body: take_body(reader, range)? });
    }
    if hunks.is_empty() {
        return Err(reader.cut());
    }
    Ok(hunks)
}

/// Takes as many lines as the range says, whatever they look like: a removed line may begin with `--`.
fn take_body<'a>(reader: &mut Reader<'a>, range: HunkRange) -> Result<&'a [u8], DiffError> {
    let start = reader.rest();
    let (mut old_left, mut new_left) = (range.old_lines, range.new_lines);
    while old_left > 0 || new_left > 0 {
        let line = reader.next()?;
        let (old, new) = match line.first() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b' ') | None => (1, 1),
            Some(b'\\') => (0, 0),
            _ => return Err(reader.odd(line)),
        };
        old_left = old_left.checked_sub(old).ok_or_else(|| reader.odd(line))?;
        new_left = new_left.checked_sub(new).ok_or_else(|| reader.odd(line))?;
    }
    if reader.sees(b"\\") {
        reader.next()?;
    }
    Ok(&start[..start.len() - reader.rest().len()])
}

/// `a[,b] +c[,d] @@…`, after `@@ -`.
fn range(line: &[u8]) -> Option<HunkRange> {
    let end = line.windows(3).position(|window| window == b" @@")?;
    let text = std::str::from_utf8(line.get(..end)?).ok()?;
    let (old, new) = text.split_once(" +")?;
    let side = |side: &str| match side.split_once(',') {
        Some((start, lines)) => Some((number(start)?, number(lines)?)),
        None => Some((number(side)?, 1)),
    };
    let ((old_start, old_lines), (new_start, new_lines)) = (side(old)?, side(new)?);
    Some(HunkRange { old_start, old_lines, new_start, new_lines })
}

/// Digits alone: `parse` would also take a sign.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Both directions of a binary patch; each ends with an empty line.
fn take_binary<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], DiffError> {
    reader.next()?;
    let start = reader.rest();
    for _ in 0..2 {
        while !reader.next()?.is_empty() {}
    }
    Ok(&start[..start.len() - reader.rest().len()])
}
