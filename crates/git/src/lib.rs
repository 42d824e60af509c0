//! The git program behind types: argv only, no shell, nothing decided.

mod blame;
mod cache;
mod compare;
mod diff;
mod discover;
mod error;
mod history;
mod lfs;
mod many;
mod merge;
mod pending;
mod program;
mod push;
mod read;
mod refs;
mod take;
mod user;
mod work_copy;
mod worktree;

pub use blame::Blamed;
pub use cache::Credentials;
pub use diff::{DiffError, parse_diff};
pub use error::GitError;
pub use history::CommitInfo;
pub use lfs::is_lfs_pointer;
pub use merge::Merges;
pub use program::Git;
pub use push::Push;
pub use refs::Head;
pub use user::User;
pub use work_copy::WorkCopy;
pub use worktree::Worktree;
