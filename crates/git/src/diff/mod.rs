//! What `git diff` writes, read without trust.

mod error;
mod file;
mod header;
mod list;
mod path;
mod reader;

use referee_core::track::FileDiff;

pub use error::DiffError;
use list::Listed;
pub(crate) use list::{behind, name as path_name};
pub(crate) use path::unquoted;
use reader::Reader;

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
        Some(b':') => list::take(diff).map(|(listed, patch)| (Some(listed), patch))?,
        _ => (None, diff),
    };
    let mut reader = Reader::new(patch);
    let mut files = Vec::with_capacity(listed.as_ref().map_or(0, Vec::len));
    while !reader.at_end() {
        files.push(file::take(&mut reader)?);
    }
    match listed {
        None => Ok(files),
        Some(listed) => checked(files, listed, &reader),
    }
}

/// The files with the names of the list, which are not quoted, once both tell of the same changes.
fn checked<'a>(
    mut files: Vec<FileDiff<'a>>,
    listed: Vec<Listed<'a>>,
    reader: &Reader<'_>,
) -> Result<Vec<FileDiff<'a>>, DiffError> {
    if files.len() < listed.len() {
        return Err(DiffError::Missing { listed: listed.len(), shown: files.len() });
    }
    if files.len() > listed.len() {
        return Err(DiffError::Unlisted { listed: listed.len(), shown: files.len() });
    }
    for (file, listed) in files.iter_mut().zip(listed) {
        let Listed { path, old_path, kind, old_mode, new_mode, old_blob, new_blob } = listed;
        let content_changed = old_blob != new_blob && !both_empty(old_blob, new_blob);
        if file.kind != kind {
            return Err(DiffError::Malformed { line: 0, text: format!("`{path}` is listed as another change") });
        }
        if content_changed && file.hunks().is_empty() && !file::is_binary(file) {
            return Err(reader.cut());
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
