//! Where the texts of changes come from: git, or a repository in memory.

use referee_core::model::{Changes, Mergeable, Sha};
use thiserror::Error;

use crate::gather::{GatherError, compute_changes};

/// Reads commits. Answers for the pull's repository only.
pub trait Source: Send + Sync {
    /// These changes, each from a base to a head, will be asked for: whoever must fetch them, or can work out many in one
    /// go, does so now.
    fn prefetch(&self, _changes: &[(&Sha, &Sha)]) -> Result<(), SourceError> {
        Ok(())
    }

    /// What a head changes since it left its base. It is a function of the two, and may be kept.
    fn load_changes(&self, base: &Sha, head: &Sha) -> Result<Changes, GatherError> {
        compute_changes(self, base, head)
    }

    /// Where two commits parted; `None` if they share nothing.
    fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, SourceError>;

    /// `git diff` from one commit to another, renames found, as git prints it.
    fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, SourceError>;

    /// The files of that name at a commit, in the order asked for.
    fn read_files(&self, at: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, SourceError>;

    /// Whether a commit is part of another's history.
    fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, SourceError>;

    /// Whether a head could be merged into a base: asked where the forge does not say (D15).
    fn check_mergeable(&self, base: &Sha, head: &Sha) -> Mergeable;
}

/// Why a text could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SourceError {
    /// The commit is not there: force-pushed away, or beyond a shallow clone.
    #[error("commit `{0}` is not there")]
    Missing(String),
    /// What was read makes no sense.
    #[error("{0}")]
    Unreadable(String),
}
