//! Whether lines of the new head are part of what changed.

use super::file_versions::FileVersions;
use super::{CodeLocation, FileChange};

/// Whether anything changed at `spot`, a place of the new head: a line of it is new, or one went between its lines or right
/// beside them. White space alone is no change. A file whose texts were not given did not change: ignorance is no evidence.
pub fn is_touched(spot: &CodeLocation, delta: &[FileChange<'_>]) -> bool {
    let Some(file) = delta.iter().find(|file| file.new_path == Some(spot.path.as_str())) else { return false };
    if file.new_text.is_none() || (file.old_path.is_some() && file.old_text.is_none()) {
        return false;
    }
    let pair = FileVersions::new(file);
    let mut changes = pair.changes().iter();
    if spot.line == 0 {
        return changes.next().is_some();
    }
    let (first, after) = (spot.line, spot.end_line.max(spot.line).saturating_add(1));
    changes.any(|change| match change.new.is_empty() {
        true => (first..=after).contains(&change.new.start),
        false => change.new.start < after && first < change.new.end,
    })
}
