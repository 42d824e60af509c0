//! Reviewers: a brief in, a report out. Nothing here decides what is said on a pull.
#![warn(missing_docs)]

pub mod builtin;
pub mod change;
pub mod command;
pub mod formats;

pub use change::{ChangeSet, FileSelection};
