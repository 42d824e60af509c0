//! The git program behind types: argv only, no shell, nothing decided.

mod compare;
mod diff;
mod discover;
mod error;
mod history;
mod program;
mod read;
mod refs;
mod user;

pub use diff::{DiffError, parse_diff};
pub use error::GitError;
pub use history::CommitInfo;
pub use program::Git;
pub use refs::Head;
pub use user::User;
