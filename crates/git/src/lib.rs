//! The git program behind types: argv only, no shell, nothing decided.

mod batch;
mod blame;
mod cache;
mod compare;
mod diff;
mod discover;
mod error;
mod fetch_work_copy;
mod git;
mod history;
mod identity;
mod lfs;
mod merge;
mod push;
mod read;
mod refs;
mod uncommitted;
mod work_copy;
mod worktree;

pub use blame::BlameLine;
pub use cache::Credentials;
pub use diff::{DiffError, parse_diff};
pub use error::GitError;
pub use git::Git;
pub use history::CommitInfo;
pub use identity::GitIdentity;
pub use lfs::is_lfs_pointer;
pub use merge::MergeOutcome;
pub use push::BranchPush;
pub use refs::CheckedOut;
pub use work_copy::WorkCopy;
pub use worktree::Worktree;
