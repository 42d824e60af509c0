//! What git said of changes. Each is a function of two commits, so it is worked out once: a file in the cache folder, and
//! what is gone or broken is worked out again (LOOP-7).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use referee_core::model::{Changes, Mergeable, Sha};
use serde::{Deserialize, Serialize};

use crate::shelf;

/// Changes by their heads. What a run did not ask for is not kept.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    file: Option<PathBuf>,
    known: BTreeMap<Sha, Known>,
    used: BTreeSet<Sha>,
    news: bool,
}

/// A change, and whether it merges.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Known {
    pub(crate) base: Sha,
    pub(crate) merges: Mergeable,
    pub(crate) changes: Changes,
}

/// What git says, and what is made of it, may be another thing in another version.
const FORM: &str = concat!("1 ", env!("CARGO_PKG_VERSION"));

impl Ledger {
    /// The one in that file, empty where it cannot be read.
    pub(crate) fn at(file: PathBuf) -> Self {
        let read = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<(String, _)>(&text).ok());
        let known = read.filter(|(form, _)| form == FORM).map(|(_, known)| known).unwrap_or_default();
        Self { file: Some(file), known, ..Self::default() }
    }

    /// What is known of that head on that base.
    pub(crate) fn find(&mut self, base: &Sha, head: &Sha) -> Option<&Known> {
        let known = self.known.get(head).filter(|known| known.base == *base)?;
        self.used.insert(head.clone());
        Some(known)
    }

    /// What that head changes since a commit, whatever its base was then.
    pub(crate) fn since(&self, merge_base: Option<&Sha>, head: &Sha) -> Option<Changes> {
        let known = self.known.get(head)?;
        (merge_base.is_some() && known.changes.merge_base.as_ref() == merge_base).then(|| known.changes.clone())
    }

    /// Takes note of a change.
    pub(crate) fn note(&mut self, head: &Sha, known: Known) {
        self.known.insert(head.clone(), known);
        self.used.insert(head.clone());
        self.news = true;
    }

    /// Leaves what was asked for to the next run.
    pub(crate) fn keep(&mut self) {
        let Some(file) = &self.file else { return };
        let before = self.known.len();
        self.known.retain(|head, _| self.used.contains(head));
        if !self.news && before == self.known.len() {
            return;
        }
        let Ok(text) = serde_json::to_string(&(FORM, &self.known)) else { return };
        // Without it the next run asks git again.
        let _ = shelf::written(file.parent().unwrap_or(Path::new(".")), file, &text);
        self.news = false;
    }
}

#[cfg(test)]
mod tests {
    use referee_core::track::PatchId;

    use super::*;

    fn known(base: &str) -> Known {
        let merge_base = Some(Sha::from("fork"));
        let patch = PatchId::from_files(&[], |_| None);
        let changes =
            Changes { merge_base, patch, files: Vec::new(), tracks: Vec::new(), unreachable: BTreeSet::new() };
        Known { base: Sha::from(base), merges: Mergeable::Clean, changes }
    }

    #[test]
    fn what_was_asked_for_is_there_in_the_next_run() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("changes.json");
        let (base, head, other) = (Sha::from("base"), Sha::from("head"), Sha::from("other"));
        let mut ledger = Ledger::at(file.clone());
        ledger.note(&head, known("base"));
        ledger.note(&other, known("base"));
        ledger.keep();

        let mut ledger = Ledger::at(file.clone());
        assert!(ledger.find(&base, &head).is_some());
        assert!(ledger.find(&other, &head).is_none(), "another base is another question");
        assert!(ledger.since(Some(&Sha::from("fork")), &other).is_some(), "but the same change");
        assert!(ledger.since(None, &other).is_none());
        ledger.keep();
        assert!(Ledger::at(file.clone()).find(&base, &other).is_none(), "nobody asked for it");

        fs::write(&file, "[\"0\",{}]").expect("a file");
        assert!(Ledger::at(file).find(&base, &head).is_none());
    }
}
