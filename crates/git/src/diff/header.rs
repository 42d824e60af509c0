//! Parses the extended header: the lines between `diff --git` and the hunks.

use super::DiffError;
use super::reader::PatchReader;

#[derive(Default)]
pub(super) struct ExtendedHeader<'a> {
    pub(super) old_mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    pub(super) added_mode: Option<u32>,
    pub(super) deleted_mode: Option<u32>,
    pub(super) renamed_from: Option<&'a [u8]>,
    pub(super) renamed_to: Option<&'a [u8]>,
    pub(super) copied_from: Option<&'a [u8]>,
    pub(super) copied_to: Option<&'a [u8]>,
    pub(super) similarity: Option<u32>,
    pub(super) blobs: Option<(&'a str, &'a str)>,
}

pub(super) fn parse_header<'a>(reader: &mut PatchReader<'a>) -> Result<ExtendedHeader<'a>, DiffError> {
    let mut header = ExtendedHeader::default();
    loop {
        if let Some(mode) = reader.next_line_after(b"old mode ")? {
            header.old_mode = Some(parse_mode(mode, reader)?);
        } else if let Some(mode) = reader.next_line_after(b"new mode ")? {
            header.new_mode = Some(parse_mode(mode, reader)?);
        } else if let Some(mode) = reader.next_line_after(b"deleted file mode ")? {
            header.deleted_mode = Some(parse_mode(mode, reader)?);
        } else if let Some(mode) = reader.next_line_after(b"new file mode ")? {
            header.added_mode = Some(parse_mode(mode, reader)?);
        } else if let Some(path) = reader.next_line_after(b"rename from ")? {
            header.renamed_from = Some(path);
        } else if let Some(path) = reader.next_line_after(b"rename to ")? {
            header.renamed_to = Some(path);
        } else if let Some(path) = reader.next_line_after(b"copy from ")? {
            header.copied_from = Some(path);
        } else if let Some(path) = reader.next_line_after(b"copy to ")? {
            header.copied_to = Some(path);
        } else if let Some(percent) = reader.next_line_after(b"similarity index ")? {
            header.similarity = Some(parse_percent(percent, reader)?);
        } else if reader.next_line_after(b"dissimilarity index ")?.is_some() {
        } else if let Some(index) = reader.next_line_after(b"index ")? {
            let (blobs, mode) = parse_index_line(index).ok_or_else(|| reader.malformed(index))?;
            header.blobs = Some(blobs);
            if let Some(mode) = mode {
                let mode = parse_mode(mode, reader)?;
                (header.old_mode, header.new_mode) = (Some(mode), Some(mode));
            }
        } else {
            return Ok(header);
        }
    }
}

impl ExtendedHeader<'_> {
    /// Returns whether a change may consist of this header alone. If not, a missing body means a truncated diff.
    pub(super) fn is_complete_without_body(&self) -> bool {
        let pairs = [
            (self.old_mode.is_some(), self.new_mode.is_some()),
            (self.renamed_from.is_some(), self.renamed_to.is_some()),
            (self.copied_from.is_some(), self.copied_to.is_some()),
        ];
        if pairs.iter().any(|(old, new)| old != new) {
            return false;
        }
        match self.blobs {
            Some((old, new)) => is_empty_blob(old) && is_empty_blob(new),
            None if self.added_mode.is_some() || self.deleted_mode.is_some() => false,
            None if self.similarity.is_some() => {
                self.similarity == Some(100) && (self.renamed_to.is_some() || self.copied_to.is_some())
            }
            None => self.new_mode.is_some() || self.renamed_to.is_some(),
        }
    }
}

/// Returns whether an id, possibly abbreviated, is that of the empty blob or all zeros (no blob).
pub(super) fn is_empty_blob(id: &str) -> bool {
    const EMPTY_BLOBS: [&str; 2] = [
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    ];
    let is_null = id.bytes().all(|byte| byte == b'0');
    is_null || (id.len() >= 4 && EMPTY_BLOBS.iter().any(|empty| empty.starts_with(id)))
}

type IndexLine<'a> = ((&'a str, &'a str), Option<&'a [u8]>);

/// Parses `<old>..<new>[ <mode>]`.
fn parse_index_line(line: &[u8]) -> Option<IndexLine<'_>> {
    let text = std::str::from_utf8(line).ok()?;
    let (blobs, mode) = match text.split_once(' ') {
        Some((blobs, mode)) => (blobs, Some(mode.as_bytes())),
        None => (text, None),
    };
    let (old, new) = blobs.split_once("..")?;
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id(old) && is_id(new)).then_some(((old, new), mode))
}

fn parse_mode(mode: &[u8], reader: &PatchReader<'_>) -> Result<u32, DiffError> {
    let digits = std::str::from_utf8(mode).ok().filter(|digits| digits.len() == 6);
    digits.and_then(|digits| u32::from_str_radix(digits, 8).ok()).ok_or_else(|| reader.malformed(mode))
}

fn parse_percent(percent: &[u8], reader: &PatchReader<'_>) -> Result<u32, DiffError> {
    let number = std::str::from_utf8(percent).ok().and_then(|percent| percent.strip_suffix('%'));
    number.and_then(|number| number.parse().ok()).ok_or_else(|| reader.malformed(percent))
}
