//! The source of diffs and file contents: git, or an in-memory repository.

use referee_core::model::{Changes, Mergeable, Sha};
use thiserror::Error;

use crate::gather::{GatherError, compute_changes};

/// Reads commits of the pull's repository.
pub trait Source: Send + Sync {
    /// Announces changes, each from a base to a head, that will be read. An implementation may fetch or compute them in
    /// one batch.
    fn prefetch(&self, _changes: &[(&Sha, &Sha)]) -> Result<(), SourceError> {
        Ok(())
    }

    /// Loads what a head changes since its merge base with `base`. The result depends only on both, so it may be
    /// cached.
    fn load_changes(&self, base: &Sha, head: &Sha) -> Result<Changes, GatherError> {
        compute_changes(self, base, head)
    }

    /// Returns the merge base; `None` if the histories are unrelated.
    fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, SourceError>;

    /// Returns the output of `git diff` between two commits, with rename detection.
    fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, SourceError>;

    /// Reads files at a commit, in the order of `paths`; `None` for a file that does not exist.
    fn read_files(&self, at: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, SourceError>;

    /// Returns whether a commit is an ancestor of another one, or the same.
    fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, SourceError>;

    /// Returns whether a head merges into a base. Used where the forge does not report it (D15).
    fn check_mergeable(&self, base: &Sha, head: &Sha) -> Mergeable;
}

/// Why a commit or file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SourceError {
    /// The commit does not exist: force-pushed away, or outside of a shallow clone.
    #[error("commit `{0}` does not exist")]
    Missing(String),
    /// The change is larger than git's output is read (D43). Names what is too large.
    #[error("{0}")]
    TooLarge(String),
    /// git's output could not be parsed.
    #[error("{0}")]
    Unreadable(String),
}
