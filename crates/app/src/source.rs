//! The texts of changes, read from git once: gather and the reviewers ask for the same ones.

use std::cell::RefCell;
use std::collections::BTreeMap;

use referee_core::model::{Mergeable, Sha};
use referee_git::{Git, GitError, Merges, parse_diff};
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

    /// Reads both sides of a diff, side by side: whoever asks for a diff asks for its texts next, and the diff names
    /// their blobs.
    fn read_sides(&self, old: &Sha, new: &Sha, diff: &[u8]) {
        // A diff that cannot be read is told by whoever reads it.
        let Ok(files) = parse_diff(diff) else { return };
        let before =
            files.iter().filter_map(|file| Some((file.old_path.as_ref().unwrap_or(&file.path), file.old_blob?)));
        let after = files.iter().filter_map(|file| Some((&file.path, file.new_blob?)));
        let (before, after): (Vec<_>, Vec<_>) = (before.collect(), after.collect());
        let (before, after) = std::thread::scope(|scope| {
            let git = &self.git;
            let before = scope.spawn(|| side(git, &before));
            let after = side(git, &after);
            (before.join().unwrap_or_default(), after)
        });
        let mut all = self.files.borrow_mut();
        all.entry(old.clone()).or_default().extend(before);
        all.entry(new.clone()).or_default().extend(after);
    }
}

/// One side of a diff, by the blobs that it names. What is no blob, a submodule or nothing, is left to be asked for by
/// its path.
fn side(git: &Git, side: &[(&String, &str)]) -> Tree {
    let named: Vec<&str> = side.iter().map(|(_, blob)| *blob).collect();
    let contents = git.blobs(&named).unwrap_or_default();
    let found = side.iter().zip(contents).filter(|(_, content)| content.is_some());
    found.map(|((path, _), content)| ((*path).clone(), content)).collect()
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
        self.read_sides(old, new, &read);
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

    fn merges(&self, base: &Sha, head: &Sha) -> Mergeable {
        match self.git.merges(base, head) {
            Ok(Merges::Cleanly(_)) => Mergeable::Clean,
            Ok(Merges::Conflicts(_)) => Mergeable::Conflict,
            Ok(Merges::Unrelated) | Err(_) => Mergeable::Unknown,
        }
    }
}

fn into(error: GitError) -> SourceError {
    match error {
        GitError::Missing(sha) => SourceError::Missing(sha.to_string()),
        other => SourceError::Unreadable(other.to_string()),
    }
}
