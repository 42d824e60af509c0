//! A source that caches its results, so that the bench times gather and not the creation of diffs.

use std::collections::HashMap;
use std::sync::Mutex;

use referee_core::model::{Mergeable, Sha};
use referee_testkit::World;
use referee_turn::{Source, SourceError};

pub(crate) struct RecordedSource<'a> {
    world: &'a World,
    bases: Mutex<HashMap<(Sha, Sha), Option<Sha>>>,
    diffs: Mutex<HashMap<(Sha, Sha), Vec<u8>>>,
    texts: Mutex<HashMap<(Sha, String), FileText>>,
}

/// The text of a file; `None` if the file does not exist.
type FileText = Option<Vec<u8>>;

impl<'a> RecordedSource<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        Self { world, bases: Default::default(), diffs: Default::default(), texts: Default::default() }
    }
}

impl Source for RecordedSource<'_> {
    fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, SourceError> {
        let key = (one.clone(), other.clone());
        let mut bases = self.bases.lock().expect("no thread panicked");
        Ok(bases.entry(key).or_insert_with(|| self.world.merge_base(one, other)).clone())
    }

    fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, SourceError> {
        let key = (old.clone(), new.clone());
        if let Some(diff) = self.diffs.lock().expect("no thread panicked").get(&key) {
            return Ok(diff.clone());
        }
        let diff = Source::diff(self.world, old, new)?;
        self.diffs.lock().expect("no thread panicked").insert(key, diff.clone());
        Ok(diff)
    }

    fn read_files(&self, at: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, SourceError> {
        paths.iter().map(|path| self.read_file(at, path)).collect()
    }

    fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, SourceError> {
        Source::is_ancestor(self.world, ancestor, of)
    }

    fn check_mergeable(&self, base: &Sha, head: &Sha) -> Mergeable {
        self.world.check_mergeable(base, head)
    }
}

impl RecordedSource<'_> {
    fn read_file(&self, at: &Sha, path: &str) -> Result<FileText, SourceError> {
        let key = (at.clone(), path.to_owned());
        if let Some(text) = self.texts.lock().expect("no thread panicked").get(&key) {
            return Ok(text.clone());
        }
        let text = Source::read_files(self.world, at, &[path])?.into_iter().next().flatten();
        self.texts.lock().expect("no thread panicked").insert(key, text.clone());
        Ok(text)
    }
}
