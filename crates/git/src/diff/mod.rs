//! What `git diff` writes, read without trust.

mod error;
mod file;
mod header;
mod path;
mod raw_list;
mod reader;

use referee_core::track::FileDiff;

pub use error::DiffError;
pub(crate) use path::unquote_path;
use raw_list::RawEntry;
pub(crate) use raw_list::{decode_path as path_name, skip_raw_list};
use reader::PatchReader;

/// The files of a diff as git writes it: `git diff`, `git diff-tree -p`, a forge's `.diff`.
///
/// Never fewer files than the diff has: what is cut is [`DiffError::Truncated`], what is not understood is
/// [`DiffError::Malformed`]. A cut between two files or two hunks leaves a diff that looks whole; it is seen where the diff
/// is led by the list of files (`--raw -z`, as [`Git::diff`](crate::Git::diff) asks for), and in the exit code of whoever
/// wrote it.
///
/// A path that is no UTF-8 is named as git quotes it: `"sign\\351"`. Nothing else reads such a name back; what the file holds
/// is read by the blob that the diff names ([`Git::blobs`](crate::Git::blobs)).
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

/// The files with the names of the list, which are not quoted, once both tell of the same changes.
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

/// A file that came or went without a line.
fn both_empty(old: Option<&str>, new: Option<&str>) -> bool {
    old.is_none_or(header::is_empty_blob) && new.is_none_or(header::is_empty_blob)
}
