//! Parses the raw list of files before a patch (`--raw -z`), whose paths are not quoted.

use referee_core::track::ChangeKind;

use super::DiffError;
use super::path::quote_path;

/// A file that the patch has to contain.
pub(super) struct RawEntry<'a> {
    pub(super) path: String,
    pub(super) old_path: Option<String>,
    pub(super) kind: ChangeKind,
    pub(super) old_mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    pub(super) old_blob: Option<&'a str>,
    pub(super) new_blob: Option<&'a str>,
}

/// Returns the listed files and the patch after the list.
pub(super) fn parse_raw_list(diff: &[u8]) -> Result<(Vec<RawEntry<'_>>, &[u8]), DiffError> {
    let mut rest = diff;
    let mut listed = Vec::new();
    while rest.first() == Some(&b':') {
        parse_entry(&mut rest, &mut listed)?;
    }
    match rest.split_first() {
        Some((b'\0', patch)) => Ok((listed, patch)),
        None => Err(DiffError::Truncated { line: 0 }),
        Some(_) => Err(malformed(rest)),
    }
}

/// Returns the patch after the list.
pub(crate) fn skip_raw_list(diff: &[u8]) -> Option<&[u8]> {
    parse_raw_list(diff).ok().map(|(_, patch)| patch)
}

fn parse_entry<'a>(rest: &mut &'a [u8], listed: &mut Vec<RawEntry<'a>>) -> Result<(), DiffError> {
    let entry = next_field(rest)?;
    let fields = std::str::from_utf8(entry).map_err(|_| malformed(entry))?;
    let mut fields = fields.trim_start_matches(':').split(' ');
    let mut next = || fields.next().ok_or_else(|| malformed(entry));
    let (old_mode, new_mode) = (next()?, next()?);
    let (old_blob, new_blob) = (parse_blob(next()?), parse_blob(next()?));
    let (old_mode, new_mode) = (parse_mode(old_mode, entry)?, parse_mode(new_mode, entry)?);
    let status = next()?;
    let first = decode_path(next_field(rest)?);
    let file = |kind, path, old_path| RawEntry { path, old_path, kind, old_mode, new_mode, old_blob, new_blob };
    match status.bytes().next() {
        Some(b'A') => listed.push(file(ChangeKind::Added, first, None)),
        Some(b'D') => listed.push(file(ChangeKind::Deleted, first, None)),
        Some(b'M') => listed.push(file(ChangeKind::Modified, first, None)),
        Some(b'R') => {
            let second = decode_path(next_field(rest)?);
            listed.push(file(ChangeKind::Renamed, second, Some(first)));
        }
        Some(b'C') => {
            let second = decode_path(next_field(rest)?);
            listed.push(file(ChangeKind::Added, second, Some(first)));
        }
        // The patch shows a type change, such as file to symlink, as a deletion and an addition.
        Some(b'T') => {
            let deleted = RawEntry { new_mode: None, new_blob: None, ..file(ChangeKind::Deleted, first.clone(), None) };
            let added = RawEntry { old_mode: None, old_blob: None, ..file(ChangeKind::Added, first, None) };
            listed.extend([deleted, added]);
        }
        _ => return Err(malformed(entry)),
    }
    Ok(())
}

fn next_field<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], DiffError> {
    let end = rest.iter().position(|byte| *byte == 0).ok_or(DiffError::Truncated { line: 0 })?;
    let (field, after) = rest.split_at(end);
    *rest = &after[1..];
    Ok(field)
}

/// Returns the path itself, or quoted if it is not UTF-8.
pub(crate) fn decode_path(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| quote_path(bytes), str::to_owned)
}

fn parse_mode(mode: &str, entry: &[u8]) -> Result<Option<u32>, DiffError> {
    let mode = u32::from_str_radix(mode, 8).map_err(|_| malformed(entry))?;
    Ok((mode != 0).then_some(mode))
}

fn parse_blob(id: &str) -> Option<&str> {
    id.bytes().any(|byte| byte != b'0').then_some(id)
}

fn malformed(bytes: &[u8]) -> DiffError {
    let text = String::from_utf8_lossy(bytes).chars().take(80).collect();
    DiffError::Malformed { line: 0, text }
}
