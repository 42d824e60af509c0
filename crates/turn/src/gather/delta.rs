//! The changes between an earlier head and the current one, read once per earlier head.

use std::collections::BTreeMap;

use referee_core::model::Sha;
use referee_core::track::{ChangeKind, FileChange};

use super::GatherError;
use crate::source::{Source, SourceError};

/// The texts of the files that changed since one head.
#[derive(Debug)]
pub(super) struct Delta {
    files: Vec<FileTextPair>,
}

#[derive(Debug)]
struct FileTextPair {
    old_path: Option<String>,
    new_path: Option<String>,
    old_text: Option<String>,
    new_text: Option<String>,
}

/// Deltas to one head.
pub(super) struct DeltaCache<'s> {
    source: &'s dyn Source,
    head: Sha,
    loaded: BTreeMap<Sha, Option<Delta>>,
}

impl Delta {
    /// Returns whether a file of the earlier head changed.
    pub(super) fn changes_file(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.old_path.as_deref() == Some(path))
    }
}

impl<'s> DeltaCache<'s> {
    pub(super) fn new(source: &'s dyn Source, head: &Sha) -> Self {
        Self { source, head: head.clone(), loaded: BTreeMap::new() }
    }

    /// Returns the changes since `old`; `None` if git no longer has it, or too much changed since.
    pub(super) fn since(&mut self, old: &Sha) -> Result<Option<&Delta>, GatherError> {
        if !self.loaded.contains_key(old) {
            let delta = match self.load_delta(old) {
                Ok(delta) => Some(delta),
                Err(GatherError::Source(SourceError::Missing(_) | SourceError::TooLarge(_))) => None,
                Err(error) => return Err(error),
            };
            self.loaded.insert(old.clone(), delta);
        }
        Ok(self.loaded.get(old).and_then(Option::as_ref))
    }

    fn load_delta(&self, old: &Sha) -> Result<Delta, GatherError> {
        if *old == self.head {
            return Ok(Delta { files: Vec::new() });
        }
        let raw = self.source.diff(old, &self.head)?;
        let diff = referee_git::parse_diff(&raw).map_err(|error| GatherError::Diff(error.to_string()))?;
        let names = |side: fn(&FileTextPair) -> Option<&String>, files: &[FileTextPair]| -> Vec<String> {
            files.iter().filter_map(|file| side(file).cloned()).collect()
        };
        let mut files: Vec<FileTextPair> = diff
            .iter()
            .map(|file| FileTextPair {
                old_path: (file.kind != ChangeKind::Added)
                    .then(|| file.old_path.clone().unwrap_or_else(|| file.path.clone())),
                new_path: (file.kind != ChangeKind::Deleted).then(|| file.path.clone()),
                old_text: None,
                new_text: None,
            })
            .collect();
        let old_names = names(|file| file.old_path.as_ref(), &files);
        let new_names = names(|file| file.new_path.as_ref(), &files);
        let mut old_texts = read_texts(self.source, old, &old_names)?.into_iter();
        let mut new_texts = read_texts(self.source, &self.head, &new_names)?.into_iter();
        for file in &mut files {
            if file.old_path.is_some() {
                file.old_text = old_texts.next().flatten();
            }
            if file.new_path.is_some() {
                file.new_text = new_texts.next().flatten();
            }
        }
        Ok(Delta { files })
    }
}

fn read_texts(source: &dyn Source, at: &Sha, names: &[String]) -> Result<Vec<Option<String>>, GatherError> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bytes = source.read_files(at, &names)?;
    Ok(bytes.into_iter().map(|bytes| bytes.and_then(|bytes| String::from_utf8(bytes).ok())).collect())
}

impl Delta {
    /// Converts to the input of tracking.
    pub(super) fn file_changes(&self) -> Vec<FileChange<'_>> {
        self.files
            .iter()
            .map(|file| FileChange {
                old_path: file.old_path.as_deref(),
                new_path: file.new_path.as_deref(),
                old_text: file.old_text.as_deref(),
                new_text: file.new_text.as_deref(),
            })
            .collect()
    }
}
