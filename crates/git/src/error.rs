use std::io;

use crate::DiffError;

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program could not be started.
    #[error("`git` could not be started: {0}")]
    Start(#[source] io::Error),
    /// Its input or output broke off.
    #[error("`git {command}` broke off: {source}")]
    Pipe {
        /// What was run.
        command: &'static str,
        /// How.
        source: io::Error,
    },
    /// It said no.
    #[error("`git {command}` failed ({status}): {stderr}")]
    Failed {
        /// What was run.
        command: &'static str,
        /// How it ended.
        status: String,
        /// What it said, shortened.
        stderr: String,
    },
    /// A name that is not a full object name; it is never handed to git, which might read it as an option.
    #[error("`{0}` is not the full name of a commit")]
    NotASha(String),
    /// A name that git's batch input cannot carry.
    #[error("a path with a line break cannot be read: {0:?}")]
    Unreadable(String),
    /// Its answer is not what its manual says.
    #[error("`git {command}` answered what nobody understands: {answer}")]
    Answer {
        /// What was run.
        command: &'static str,
        /// What it answered, shortened.
        answer: String,
    },
    /// Its diff could not be read.
    #[error(transparent)]
    Diff(#[from] DiffError),
}
