//! Checks whether lines of the new head changed.

use super::file_versions::FileVersions;
use super::{CodeLocation, FileChange};

/// Returns whether anything changed at a location of the new head: one of its lines is new, or a line was removed
/// between or directly beside them. Ignores whitespace. A file without texts counts as unchanged, because nothing
/// proves a change.
pub fn is_touched(location: &CodeLocation, delta: &[FileChange<'_>]) -> bool {
    let Some(file) = delta.iter().find(|file| file.new_path == Some(location.path.as_str())) else { return false };
    if file.new_text.is_none() || (file.old_path.is_some() && file.old_text.is_none()) {
        return false;
    }
    let versions = FileVersions::new(file);
    let mut changes = versions.changes().iter();
    if location.line == 0 {
        return changes.next().is_some();
    }
    let (first, after) = (location.line, location.end_line.max(location.line).saturating_add(1));
    changes.any(|change| match change.new.is_empty() {
        true => (first..=after).contains(&change.new.start),
        false => change.new.start < after && first < change.new.end,
    })
}
