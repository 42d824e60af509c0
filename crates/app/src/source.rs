//! The texts of changes, read from git once: gather and the reviewers ask for the same ones.

use std::cell::RefCell;
use std::collections::BTreeMap;

use referee_core::model::Sha;
use referee_git::{Git, GitError};
use referee_turn::{Source, SourceError};

/// git's objects, each read once a run.
#[derive(Debug)]
pub(crate) struct Texts {
    git: Git,
    diffs: RefCell<BTreeMap<(Sha, Sha), Vec<u8>>>,
    files: RefCell<BTreeMap<Sha, Tree>>,
}

/// The files of one commit that were asked for; none where there is no such file.
type Tree = BTreeMap<String, Option<Vec<u8>>>;

impl Texts {
    /// Nothing read yet.
    pub(crate) fn of(git: Git) -> Self {
        Self { git, diffs: RefCell::default(), files: RefCell::default() }
    }
}

impl Source for Texts {
    fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, SourceError> {
        self.git.merge_base(one, other).map_err(into)
    }

    fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, SourceError> {
        let key = (old.clone(), new.clone());
        if let Some(known) = self.diffs.borrow().get(&key) {
            return Ok(known.clone());
        }
        let read = self.git.diff(old, new).map_err(into)?;
        self.diffs.borrow_mut().insert(key, read.clone());
        Ok(read)
    }

    fn files(&self, at: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, SourceError> {
        let mut all = self.files.borrow_mut();
        let known = all.entry(at.clone()).or_default();
        let missing: Vec<&str> = paths.iter().copied().filter(|path| !known.contains_key(*path)).collect();
        if !missing.is_empty() {
            let read = self.git.files(at, &missing).map_err(into)?;
            known.extend(missing.into_iter().map(str::to_owned).zip(read));
        }
        Ok(paths.iter().map(|path| known.get(*path).cloned().flatten()).collect())
    }

    fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, SourceError> {
        self.git.is_ancestor(ancestor, of).map_err(into)
    }
}

fn into(error: GitError) -> SourceError {
    match error {
        GitError::Missing(sha) => SourceError::Missing(sha.to_string()),
        other => SourceError::Unreadable(other.to_string()),
    }
}
