//! Commits that this machine does not have: fetched by their names into a folder of their own, one fetch at a time.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use referee_core::model::Sha;
use referee_git::{Credentials, Git, GitError};
use referee_turn::SourceError;
use tempfile::TempDir;

use crate::failure::{Failure, FailureKind};
use crate::source::{into, locked};

/// A repository elsewhere, and what was fetched of it.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    git: Git,
    url: String,
    credentials: Credentials,
    /// Commits that are known to be here, or to be gone.
    here: Mutex<BTreeSet<Sha>>,
    gone: Mutex<BTreeSet<Sha>>,
    /// The folder goes when the run does.
    passing: Option<TempDir>,
    /// Held by everybody who reads in the folder: it is emptied only when nobody does.
    _reading: Option<File>,
}

/// A server takes a moment to let everybody see what was pushed; longer than this is no moment.
const TRIES: usize = 6;
const PAUSE: Duration = Duration::from_millis(500);

/// How many bytes one repository's commits may take; contents of files are among them once they were read.
const ROOM: u64 = 2 << 30;

impl Elsewhere {
    /// What is fetched goes to that folder, and stays; without one it goes to a folder of this run.
    pub(crate) fn at(folder: Option<&Path>, url: String, credentials: Credentials) -> Result<Self, Failure> {
        let (git, passing, reading) = match folder {
            Some(folder) => {
                let _one = lock(folder).map_err(|error| unusable(folder, &error))?;
                empty_if_larger(folder, ROOM);
                (Git::open_cache(folder)?, None, reading(folder).ok())
            }
            None => {
                let passing = tempfile::tempdir().map_err(|error| unusable(&std::env::temp_dir(), &error))?;
                (Git::open_cache(&passing.path().join("commits.git"))?, Some(passing), None)
            }
        };
        let (here, gone) = (Mutex::default(), Mutex::default());
        Ok(Self { git, url, credentials, here, gone, passing, _reading: reading })
    }

    /// The folder. What is read there may be fetched while it is read.
    pub(crate) fn git(&self) -> Git {
        self.git.with_credentials(&self.url, &self.credentials)
    }

    /// Fetches the contents that the diffs of these pairs need, in one go.
    pub(crate) fn fetch_contents(&self, pairs: &[(&Sha, &Sha)]) -> Result<(), GitError> {
        self.git.fetch_blobs(&self.url, pairs, &self.credentials)
    }

    /// A file beside the folder; none where that goes when the run does.
    pub(crate) fn beside(&self, ending: &str) -> Option<PathBuf> {
        self.passing.is_none().then(|| self.git.common_dir().with_extension(ending))
    }

    /// Fetches commits that must be there by now, with some patience.
    pub(crate) fn bring(&self, commits: &[&Sha]) -> Result<(), Failure> {
        for left in (0..TRIES).rev() {
            match self.fetch(commits) {
                Ok(()) => return Ok(()),
                Err(_) if left > 0 => std::thread::park_timeout(PAUSE),
                Err(error) => {
                    return Err(Failure::new(
                        FailureKind::TryLater,
                        format!("the change could not be fetched: {error}"),
                    )
                    .with_hint("run it again; the token must be allowed to read the repository"));
                }
            }
        }
        Ok(())
    }

    /// Fetches commits that may be gone: an old head that nothing leads to any more.
    pub(crate) fn have(&self, commits: &[&Sha]) -> Result<(), SourceError> {
        for commit in commits {
            if locked(&self.gone).contains(*commit) {
                return Err(SourceError::Missing(commit.to_string()));
            }
            match self.fetch(&[commit]) {
                Ok(()) => {}
                Err(GitError::CommandFailed { stderr, .. }) if stderr.contains("not our ref") => {
                    locked(&self.gone).insert((*commit).clone());
                    return Err(SourceError::Missing(commit.to_string()));
                }
                Err(error) => return Err(into(error)),
            }
        }
        Ok(())
    }

    /// Fetches those that are not here, in one go.
    pub(crate) fn fetch(&self, commits: &[&Sha]) -> Result<(), GitError> {
        let unknown: BTreeSet<&Sha> =
            commits.iter().copied().filter(|commit| !locked(&self.here).contains(*commit)).collect();
        let wanted: Vec<Sha> = match unknown.first() {
            Some(commit) if unknown.len() == 1 => {
                (!self.git.has_commit(commit)?).then(|| (*commit).clone()).into_iter().collect()
            }
            Some(_) => {
                let kept = self.git.pinned_commits()?;
                unknown.into_iter().filter(|commit| !kept.contains(*commit)).cloned().collect()
            }
            None => Vec::new(),
        };
        if !wanted.is_empty() {
            // Whoever cannot take turns fetches all the same: git itself keeps the folder whole.
            let _one = lock(self.git.common_dir());
            self.git.fetch_commits(&self.url, &wanted, Some(&self.credentials))?;
        }
        locked(&self.here).extend(commits.iter().map(|commit| (*commit).clone()));
        Ok(())
    }
}

/// Commits that were fetched once can be fetched again: a folder that outgrew its room is emptied, unless somebody reads
/// in it.
fn empty_if_larger(folder: &Path, room: u64) {
    let large = folder.is_dir() && Git::from_dir(folder).disk_size().is_ok_and(|size| size > room);
    if large && users(folder).is_ok_and(|file| file.try_lock().is_ok()) {
        // What is left of it is made whole again.
        let _ = std::fs::remove_dir_all(folder);
    }
}

fn reading(folder: &Path) -> std::io::Result<File> {
    let file = users(folder)?;
    file.lock_shared()?;
    Ok(file)
}

fn users(folder: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(folder.with_extension("users"))
}

fn lock(folder: &Path) -> std::io::Result<File> {
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let file = File::options().create(true).truncate(false).write(true).open(folder.with_extension("lock"))?;
    file.lock()?;
    Ok(file)
}

fn unusable(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("commits cannot be fetched into `{}`: {error}", folder.display()))
        .with_hint("`XDG_CACHE_HOME` names another place")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_outgrew_its_room_is_emptied_when_nobody_reads_there() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("api.git");
        let git = Git::open_cache(&folder).expect("a cache");
        std::fs::create_dir_all(folder.join("objects/ab")).expect("a folder");
        std::fs::write(folder.join("objects/ab").join("c".repeat(38)), vec![0; 10_000]).expect("an object");
        let size = git.disk_size().expect("a size");
        assert!(size >= 10_000, "{size}");
        empty_if_larger(&folder, size);
        assert!(folder.exists(), "it is not larger");
        let somebody = reading(&folder).expect("a lock");
        empty_if_larger(&folder, size - 1);
        assert!(folder.exists(), "somebody reads there");
        drop(somebody);
        empty_if_larger(&folder, size - 1);
        assert!(!folder.exists());
    }
}
