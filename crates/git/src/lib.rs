//! Typed wrapper of the git program. It passes arguments without a shell and makes no decisions about pulls.

mod batch;
mod bounded_run;
mod cache;
mod compare;
mod diff;
mod discover;
mod error;
mod fetch_work_copy;
mod git;
mod history;
mod identity;
mod merge;
mod new_commits;
mod push;
mod read;
mod refs;
mod tree_size;
mod uncommitted;
mod work_copy;
mod worktree;

pub use cache::Credentials;
pub use diff::{DiffError, parse_diff};
pub use error::GitError;
pub use git::Git;
pub use history::CommitInfo;
pub use identity::GitIdentity;
pub use merge::MergeOutcome;
pub use new_commits::{AddedEntry, RawCommit};
pub use push::BranchPush;
pub use read::TreeFile;
pub use refs::CheckedOut;
pub use work_copy::WorkCopy;
pub use worktree::Worktree;
