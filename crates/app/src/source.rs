//! The texts of changes, read from git once: gather and the reviewers ask for the same ones.

use std::cell::RefCell;
use std::collections::BTreeMap;

use referee_core::model::{Mergeable, Sha};
use referee_git::{Git, GitError, Merges, parse_diff};
use referee_turn::{Source, SourceError};

use crate::elsewhere::Elsewhere;
use crate::failure::Failure;

/// git's objects, each read once a run.
#[derive(Debug)]
pub(crate) struct Texts {
    git: Git,
    elsewhere: Option<Elsewhere>,
    diffs: RefCell<BTreeMap<(Sha, Sha), Vec<u8>>>,
    files: RefCell<BTreeMap<Sha, Tree>>,
}

/// The files of one commit that were asked for; none where there is no such file.
type Tree = BTreeMap<String, Option<Vec<u8>>>;

impl Texts {
    /// Those of a repository that is here. Nothing is read yet.
    pub(crate) fn of(git: Git) -> Self {
        Self { git, elsewhere: None, diffs: RefCell::default(), files: RefCell::default() }
    }

    /// Those of a repository elsewhere: a commit is fetched when it is first asked for.
    pub(crate) fn fetched(elsewhere: Elsewhere) -> Self {
        let git = elsewhere.git();
        Self { elsewhere: Some(elsewhere), ..Self::of(git) }
    }

    /// The repository that they are read from.
    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    /// A text file at a commit.
    pub(crate) fn text_at(&self, commit: &Sha, path: &str) -> Result<Option<String>, Failure> {
        let unreadable = |error: SourceError| Failure::failed(error.to_string());
        let found = self.files(commit, &[path]).map_err(unreadable)?.pop().flatten();
        found
            .map(|bytes| {
                String::from_utf8(bytes)
                    .map_err(|_| Failure::usage(format!("`{path}` at {} is no UTF-8 text", commit.short())))
            })
            .transpose()
    }

    fn have(&self, commits: &[&Sha]) -> Result<(), SourceError> {
        self.elsewhere.as_ref().map_or(Ok(()), |elsewhere| elsewhere.have(commits))
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
    fn bring(&self, commits: &[&Sha]) -> Result<(), SourceError> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        // One that is gone is told of when it is asked for.
        let _ = elsewhere.fetch(commits);
        Ok(())
    }

    fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, SourceError> {
        self.have(&[one, other])?;
        self.git.merge_base(one, other).map_err(into)
    }

    fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, SourceError> {
        let key = (old.clone(), new.clone());
        if let Some(known) = self.diffs.borrow().get(&key) {
            return Ok(known.clone());
        }
        self.have(&[old, new])?;
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
            self.have(&[at])?;
            let read = self.git.files(at, &missing).map_err(into)?;
            known.extend(missing.into_iter().map(str::to_owned).zip(read));
        }
        Ok(paths.iter().map(|path| known.get(*path).cloned().flatten()).collect())
    }

    fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, SourceError> {
        self.have(&[ancestor, of])?;
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

pub(crate) fn into(error: GitError) -> SourceError {
    match error {
        GitError::Missing(sha) => SourceError::Missing(sha.to_string()),
        other => SourceError::Unreadable(other.to_string()),
    }
}
