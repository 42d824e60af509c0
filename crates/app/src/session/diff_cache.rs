//! A cache of computed changes, in a file of the user's cache folder. A change is a function of two commits, so an entry
//! never goes stale; a missing or broken file costs time only (LOOP-7).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use referee_core::model::{Changes, Mergeable, Sha};
use serde::{Deserialize, Serialize};

use super::memento_files::write_atomically;

/// Changes by head. Entries that a run did not use are dropped when it saves.
#[derive(Debug, Default)]
pub(crate) struct DiffCache {
    file: Option<PathBuf>,
    entries: BTreeMap<Sha, CachedChanges>,
    used: BTreeSet<Sha>,
    modified: bool,
}

/// What a head changes since its base, and whether it merges.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CachedChanges {
    pub(crate) base: Sha,
    pub(crate) merges: Mergeable,
    pub(crate) changes: Changes,
}

/// Entries of another version are ignored: it may compute changes differently.
const FORMAT: &str = concat!("1 ", env!("CARGO_PKG_VERSION"));

impl DiffCache {
    /// Loads the cache; an unreadable file is an empty cache.
    pub(crate) fn load(file: PathBuf) -> Self {
        let read = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<(String, _)>(&text).ok());
        let entries = read.filter(|(format, _)| format == FORMAT).map(|(_, entries)| entries).unwrap_or_default();
        Self { file: Some(file), entries, ..Self::default() }
    }

    /// Returns the entry of a head for that base.
    pub(crate) fn find(&mut self, base: &Sha, head: &Sha) -> Option<&CachedChanges> {
        let known = self.entries.get(head).filter(|known| known.base == *base)?;
        self.used.insert(head.clone());
        Some(known)
    }

    /// Returns what a head changes since `merge_base`, whatever its base was when it was computed.
    pub(crate) fn find_since(&self, merge_base: Option<&Sha>, head: &Sha) -> Option<Changes> {
        let known = self.entries.get(head)?;
        (merge_base.is_some() && known.changes.merge_base.as_ref() == merge_base).then(|| known.changes.clone())
    }

    pub(crate) fn insert(&mut self, head: &Sha, known: CachedChanges) {
        self.entries.insert(head.clone(), known);
        self.used.insert(head.clone());
        self.modified = true;
    }

    /// Saves the entries that this run used.
    pub(crate) fn save(&mut self) {
        let Some(file) = &self.file else { return };
        let before = self.entries.len();
        self.entries.retain(|head, _| self.used.contains(head));
        if !self.modified && before == self.entries.len() {
            return;
        }
        let Ok(text) = serde_json::to_string(&(FORMAT, &self.entries)) else { return };
        // Without the file the next run computes the changes again.
        let _ = write_atomically(file.parent().unwrap_or(Path::new(".")), file, &text);
        self.modified = false;
    }
}

#[cfg(test)]
mod tests {
    use referee_core::track::PatchId;

    use super::*;

    fn entry(base: &str) -> CachedChanges {
        let merge_base = Some(Sha::from("fork"));
        let patch = PatchId::from_files(&[], |_| None);
        let changes =
            Changes { merge_base, patch, files: Vec::new(), tracks: Vec::new(), unreachable: BTreeSet::new() };
        CachedChanges { base: Sha::from(base), merges: Mergeable::Clean, changes }
    }

    #[test]
    fn entries_used_in_one_run_are_found_in_the_next() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("changes.json");
        let (base, head, other) = (Sha::from("base"), Sha::from("head"), Sha::from("other"));
        let mut cache = DiffCache::load(file.clone());
        cache.insert(&head, entry("base"));
        cache.insert(&other, entry("base"));
        cache.save();

        let mut cache = DiffCache::load(file.clone());
        assert!(cache.find(&base, &head).is_some());
        assert!(cache.find(&other, &head).is_none(), "an entry is valid for its base only");
        assert!(
            cache.find_since(Some(&Sha::from("fork")), &other).is_some(),
            "the change since the merge base is the same"
        );
        assert!(cache.find_since(None, &other).is_none());
        cache.save();
        assert!(DiffCache::load(file.clone()).find(&base, &other).is_none(), "unused entries are dropped");

        fs::write(&file, "[\"0\",{}]").expect("a file");
        assert!(DiffCache::load(file).find(&base, &head).is_none());
    }
}
