//! Commits that the checkout does not have, fetched by sha into a bare cache repository.

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
use crate::session::source::{lock, source_error};

/// A bare cache of one remote repository.
#[derive(Debug)]
pub(crate) struct RemoteCommits {
    git: Git,
    url: String,
    credentials: Credentials,
    /// Commits that are in the cache.
    present: Mutex<BTreeSet<Sha>>,
    /// Commits that the server no longer has.
    missing: Mutex<BTreeSet<Sha>>,
    /// Set if the user has no cache folder: the commits are deleted when the run ends.
    temporary: Option<TempDir>,
    /// A shared lock. The cache is only emptied while no process holds one.
    _reader_lock: Option<File>,
}

/// A server may show a push a moment later: up to three seconds.
const FETCH_ATTEMPTS: usize = 6;
const FETCH_PAUSE: Duration = Duration::from_millis(500);

/// The cache of one repository is emptied above this size in bytes.
const MAX_CACHE_BYTES: u64 = 2 << 30;

impl RemoteCommits {
    /// Opens the cache in `folder`, or a temporary one without it.
    pub(crate) fn open(folder: Option<&Path>, url: String, credentials: Credentials) -> Result<Self, Failure> {
        let (git, temporary, reader_lock) = match folder {
            Some(folder) => {
                let _exclusive = lock_exclusive(folder).map_err(|error| unusable(folder, &error))?;
                empty_if_larger(folder, MAX_CACHE_BYTES);
                (Git::open_cache(folder)?, None, lock_shared(folder).ok())
            }
            None => {
                let temporary = tempfile::tempdir().map_err(|error| unusable(&std::env::temp_dir(), &error))?;
                (Git::open_cache(&temporary.path().join("commits.git"))?, Some(temporary), None)
            }
        };
        let (present, missing) = (Mutex::default(), Mutex::default());
        Ok(Self { git, url, credentials, present, missing, temporary, _reader_lock: reader_lock })
    }

    /// Returns the cache. Git fetches missing blobs while it reads.
    pub(crate) fn git(&self) -> Git {
        self.git.with_credentials(&self.url, &self.credentials)
    }

    /// Fetches the blobs that the diffs of these pairs need, in one request.
    pub(crate) fn fetch_blobs(&self, pairs: &[(&Sha, &Sha)]) -> Result<(), GitError> {
        self.git.fetch_blobs(&self.url, pairs, &self.credentials)
    }

    /// Returns the path of a file beside the cache folder; `None` if the cache is temporary.
    pub(crate) fn sibling_path(&self, extension: &str) -> Option<PathBuf> {
        self.temporary.is_none().then(|| self.git.common_dir().with_extension(extension))
    }

    /// Fetches commits that exist on the server, with retries.
    pub(crate) fn fetch_with_retry(&self, commits: &[&Sha]) -> Result<(), Failure> {
        for attempts_left in (0..FETCH_ATTEMPTS).rev() {
            match self.fetch(commits) {
                Ok(()) => return Ok(()),
                Err(_) if attempts_left > 0 => std::thread::park_timeout(FETCH_PAUSE),
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

    /// Fetches commits that may no longer exist, such as a head that was force-pushed away.
    pub(crate) fn ensure(&self, commits: &[&Sha]) -> Result<(), SourceError> {
        for commit in commits {
            if lock(&self.missing).contains(*commit) {
                return Err(SourceError::Missing(commit.to_string()));
            }
            match self.fetch(&[commit]) {
                Ok(()) => {}
                Err(GitError::CommandFailed { stderr, .. }) if stderr.contains("not our ref") => {
                    lock(&self.missing).insert((*commit).clone());
                    return Err(SourceError::Missing(commit.to_string()));
                }
                Err(error) => return Err(source_error(error)),
            }
        }
        Ok(())
    }

    /// Fetches the commits that the cache lacks, in one request.
    pub(crate) fn fetch(&self, commits: &[&Sha]) -> Result<(), GitError> {
        let unknown: BTreeSet<&Sha> =
            commits.iter().copied().filter(|commit| !lock(&self.present).contains(*commit)).collect();
        let wanted: Vec<Sha> = match unknown.first() {
            Some(commit) if unknown.len() == 1 => {
                (!self.git.has_commit(commit)?).then(|| (*commit).clone()).into_iter().collect()
            }
            Some(_) => {
                let pinned = self.git.pinned_commits()?;
                unknown.into_iter().filter(|commit| !pinned.contains(*commit)).cloned().collect()
            }
            None => Vec::new(),
        };
        if !wanted.is_empty() {
            // The lock only avoids duplicate work: git keeps the repository consistent without it.
            let _exclusive = lock_exclusive(self.git.common_dir());
            self.git.fetch_commits(&self.url, &wanted, Some(&self.credentials))?;
        }
        lock(&self.present).extend(commits.iter().map(|commit| (*commit).clone()));
        Ok(())
    }
}

/// Deletes a cache above `max_bytes` unless another process reads it. Its commits can be fetched again.
fn empty_if_larger(folder: &Path, max_bytes: u64) {
    let too_large = folder.is_dir() && Git::from_dir(folder).disk_size().is_ok_and(|size| size > max_bytes);
    if too_large && open_reader_file(folder).is_ok_and(|file| file.try_lock().is_ok()) {
        let _ = std::fs::remove_dir_all(folder);
    }
}

fn lock_shared(folder: &Path) -> std::io::Result<File> {
    let file = open_reader_file(folder)?;
    file.lock_shared()?;
    Ok(file)
}

fn open_reader_file(folder: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(folder.with_extension("users"))
}

fn lock_exclusive(folder: &Path) -> std::io::Result<File> {
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let file = File::options().create(true).truncate(false).write(true).open(folder.with_extension("lock"))?;
    file.lock()?;
    Ok(file)
}

fn unusable(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("commits cannot be fetched into `{}`: {error}", folder.display()))
        .with_hint("set `XDG_CACHE_HOME` to another folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_above_its_size_limit_is_emptied_unless_it_is_read() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("api.git");
        let git = Git::open_cache(&folder).expect("a cache");
        std::fs::create_dir_all(folder.join("objects/ab")).expect("a folder");
        std::fs::write(folder.join("objects/ab").join("c".repeat(38)), vec![0; 10_000]).expect("an object");
        let size = git.disk_size().expect("a size");
        assert!(size >= 10_000, "{size}");
        empty_if_larger(&folder, size);
        assert!(folder.exists(), "it is not larger");
        let reader = lock_shared(&folder).expect("a lock");
        empty_if_larger(&folder, size - 1);
        assert!(folder.exists(), "another process reads it");
        drop(reader);
        empty_if_larger(&folder, size - 1);
        assert!(!folder.exists());
    }
}
