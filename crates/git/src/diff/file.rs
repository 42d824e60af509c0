//! Parses one file of a patch.

use referee_core::track::{ChangeKind, DiffContent, FileDiff, Hunk, HunkRange};

use super::DiffError;
use super::header::{self, ExtendedHeader};
use super::path::{parse_git_header_path, parse_side_path, unquote_path};
use super::reader::PatchReader;

/// Parses a file, from its `diff --git` line to the next one.
pub(super) fn parse_file<'a>(reader: &mut PatchReader<'a>) -> Result<FileDiff<'a>, DiffError> {
    let Some(names) = reader.next_line_after(b"diff --git ")? else {
        let line = reader.next_line()?;
        return Err(reader.malformed(line));
    };
    let header = header::parse_header(reader)?;
    let mut sides = None;
    let content = if reader.starts_with(b"--- ") {
        let old = reader.next_line_after(b"--- ")?.unwrap_or(b"");
        let new = reader.next_line_after(b"+++ ")?.ok_or_else(|| reader.truncated())?;
        sides = Some((parse_side_path(old, b"a/"), parse_side_path(new, b"b/")));
        DiffContent::Text(parse_hunks(reader)?)
    } else if reader.next_line_after(b"Binary files ")?.is_some() {
        DiffContent::Binary(b"")
    } else if reader.starts_with(b"GIT binary patch") {
        DiffContent::Binary(parse_binary(reader)?)
    } else if header.is_complete_without_body() {
        DiffContent::Text(Vec::new())
    } else if reader.is_at_end() {
        return Err(reader.truncated());
    } else {
        let line = reader.next_line()?;
        return Err(reader.malformed(line));
    };
    build_file_diff(names, header, sides, content).ok_or_else(|| reader.malformed(names))
}

pub(super) fn is_binary(file: &FileDiff<'_>) -> bool {
    matches!(file.content, DiffContent::Binary(_))
}

/// Takes the paths from the least ambiguous line: `rename`/`copy`, then `---`/`+++`, then `diff --git`.
fn build_file_diff<'a>(
    names: &[u8],
    header: ExtendedHeader<'a>,
    sides: Option<(Option<String>, Option<String>)>,
    content: DiffContent<'a>,
) -> Option<FileDiff<'a>> {
    let from = header.renamed_from.or(header.copied_from).map(unquote_path);
    let to = header.renamed_to.or(header.copied_to).map(unquote_path);
    let (old, new) = sides.unwrap_or_default();
    let kind = match (header.added_mode.is_some() || header.copied_from.is_some(), header.deleted_mode, &from) {
        (true, _, _) => ChangeKind::Added,
        (_, Some(_), _) => ChangeKind::Deleted,
        (_, _, Some(_)) => ChangeKind::Renamed,
        _ => ChangeKind::Modified,
    };
    let path = to.or(new).or(old).or_else(|| parse_git_header_path(names))?;
    let (old_blob, new_blob) = header.blobs.unzip();
    let is_not_null = |id: &&str| id.bytes().any(|byte| byte != b'0');
    Some(FileDiff {
        path,
        old_path: from,
        kind,
        old_mode: header.deleted_mode.or(header.old_mode),
        new_mode: header.added_mode.or(header.new_mode),
        old_blob: old_blob.filter(is_not_null),
        new_blob: new_blob.filter(is_not_null),
        content,
    })
}

fn parse_hunks<'a>(reader: &mut PatchReader<'a>) -> Result<Vec<Hunk<'a>>, DiffError> {
    let mut hunks = Vec::new();
    while let Some(line) = reader.next_line_after(b"@@ -")? {
        let range = parse_hunk_range(line).ok_or_else(|| reader.malformed(line))?;
        hunks.push(Hunk { range, body: parse_hunk_body(reader, range)? });
    }
    if hunks.is_empty() {
        return Err(reader.truncated());
    }
    Ok(hunks)
}

/// Consumes as many lines as the range says, whatever they look like: a removed line may start with `--`.
fn parse_hunk_body<'a>(reader: &mut PatchReader<'a>, range: HunkRange) -> Result<&'a [u8], DiffError> {
    let start = reader.rest();
    let (mut old_left, mut new_left) = (range.old_lines, range.new_lines);
    while old_left > 0 || new_left > 0 {
        let line = reader.next_line()?;
        let (old, new) = match line.first() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b' ') | None => (1, 1),
            Some(b'\\') => (0, 0),
            _ => return Err(reader.malformed(line)),
        };
        old_left = old_left.checked_sub(old).ok_or_else(|| reader.malformed(line))?;
        new_left = new_left.checked_sub(new).ok_or_else(|| reader.malformed(line))?;
    }
    if reader.starts_with(b"\\") {
        reader.next_line()?;
    }
    Ok(&start[..start.len() - reader.rest().len()])
}

/// Parses `a[,b] +c[,d] @@…`, the rest of a line after `@@ -`.
fn parse_hunk_range(line: &[u8]) -> Option<HunkRange> {
    let end = line.windows(3).position(|window| window == b" @@")?;
    let text = std::str::from_utf8(line.get(..end)?).ok()?;
    let (old, new) = text.split_once(" +")?;
    let side = |side: &str| match side.split_once(',') {
        Some((start, lines)) => Some((parse_number(start)?, parse_number(lines)?)),
        None => Some((parse_number(side)?, 1)),
    };
    let ((old_start, old_lines), (new_start, new_lines)) = (side(old)?, side(new)?);
    Some(HunkRange { old_start, old_lines, new_start, new_lines })
}

/// Accepts only digits: `str::parse` would also accept a sign.
fn parse_number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Consumes both directions of a binary patch. Each ends with an empty line.
fn parse_binary<'a>(reader: &mut PatchReader<'a>) -> Result<&'a [u8], DiffError> {
    reader.next_line()?;
    let start = reader.rest();
    for _ in 0..2 {
        while !reader.next_line()?.is_empty() {}
    }
    Ok(&start[..start.len() - reader.rest().len()])
}
