//! Reviewers: each takes a brief and returns a report. What is posted on a pull is decided in `referee-core`.

pub mod builtin;
pub mod change;
pub mod command;
pub mod formats;
mod levels;

pub use change::{ChangeSet, FileSelection};
pub use levels::{RuleLevel, RuleLevels, RuleSetting, find_glob_error};
