//! Parser of git's diff format, for untrusted input.

mod error;
mod file;
mod header;
mod path;
mod raw_list;
mod reader;

use referee_core::track::FileDiff;

pub use error::DiffError;
use raw_list::RawEntry;
pub(crate) use raw_list::{decode_path, skip_raw_list};
use reader::PatchReader;

/// Parses a diff as written by `git diff`, `git diff-tree -p` or a forge's `.diff`.
///
/// Never returns fewer files than the diff has: a truncated diff is [`DiffError::Truncated`], anything unknown is
/// [`DiffError::Malformed`]. A diff cut exactly between two files or hunks looks complete. That is detected only if the
/// diff starts with the raw list of files (`--raw -z`, which [`Git::diff`](crate::Git::diff) requests), or by the exit
/// code of the program that wrote it.
///
/// A path that is not UTF-8 stays quoted as git quotes it: `"sign\\351"`. Read such a file by its blob id
/// ([`Git::read_blobs`](crate::Git::read_blobs)).
pub fn parse_diff(diff: &[u8]) -> Result<Vec<FileDiff<'_>>, DiffError> {
    let (listed, patch) = match diff.first() {
        Some(b':') => raw_list::parse_raw_list(diff).map(|(listed, patch)| (Some(listed), patch))?,
        _ => (None, diff),
    };
    let mut reader = PatchReader::new(patch);
    let mut files = Vec::with_capacity(listed.as_ref().map_or(0, Vec::len));
    while !reader.is_at_end() {
        files.push(file::parse_file(&mut reader)?);
    }
    match listed {
        None => Ok(files),
        Some(listed) => reconcile_with_list(files, listed, &reader),
    }
}

/// Checks that patch and raw list agree, and takes paths, modes and blobs from the list, whose paths are not quoted.
fn reconcile_with_list<'a>(
    mut files: Vec<FileDiff<'a>>,
    listed: Vec<RawEntry<'a>>,
    reader: &PatchReader<'_>,
) -> Result<Vec<FileDiff<'a>>, DiffError> {
    if files.len() < listed.len() {
        return Err(DiffError::MissingFiles { listed: listed.len(), shown: files.len() });
    }
    if files.len() > listed.len() {
        return Err(DiffError::UnlistedFiles { listed: listed.len(), shown: files.len() });
    }
    for (file, listed) in files.iter_mut().zip(listed) {
        let RawEntry { path, old_path, kind, old_mode, new_mode, old_blob, new_blob } = listed;
        let content_changed = old_blob != new_blob && !both_empty(old_blob, new_blob);
        if file.kind != kind {
            return Err(DiffError::Malformed { line: 0, text: format!("`{path}` is listed as another change") });
        }
        if content_changed && file.hunks().is_empty() && !file::is_binary(file) {
            return Err(reader.truncated());
        }
        (file.path, file.old_path) = (path, old_path);
        (file.old_mode, file.new_mode) = (old_mode, new_mode);
        (file.old_blob, file.new_blob) = (old_blob, new_blob);
    }
    Ok(files)
}

/// Returns whether an empty file was added or deleted.
fn both_empty(old: Option<&str>, new: Option<&str>) -> bool {
    old.is_none_or(header::is_empty_blob) && new.is_none_or(header::is_empty_blob)
}
