//! The git program behind types: argv only, no shell, nothing decided.

mod diff;
mod error;
mod program;
mod read;

pub use diff::{DiffError, parse_diff};
pub use error::GitError;
pub use program::Git;
