//! Errors of git operations.

use std::io;
use std::path::PathBuf;

use referee_core::model::Sha;

use crate::DiffError;
use crate::git::redact_output;

/// Why a git operation failed. Messages contain no passwords.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("`git` is not installed")]
    NotInstalled,
    #[error("`git` is too old: {found}")]
    TooOld {
        /// Output of `git version`.
        found: String,
    },
    #[error("`{dir}` is not in a git repository", dir = .dir.display())]
    NotARepository { dir: PathBuf },
    /// Git refuses to work in a repository of another user, who could have prepared its config ("dubious ownership").
    #[error("the repository at `{dir}` belongs to another user", dir = .dir.display())]
    NotOwned { dir: PathBuf },
    /// The operation needs a work tree, but the repository is bare.
    #[error("the repository at `{dir}` has no work tree", dir = .dir.display())]
    NoWorkTree { dir: PathBuf },
    /// `HEAD` is damaged.
    #[error("`HEAD` names neither a branch nor a commit")]
    NoHead,
    #[error("commit `{0}` is not in this repository")]
    CommitNotFound(Sha),
    #[error("`git` could not be started: {0}")]
    SpawnFailed(#[source] io::Error),
    #[error("cannot access `{dir}`: {source}", dir = .dir.display())]
    Filesystem { dir: PathBuf, source: io::Error },
    #[error("lost the connection to `git {command}`: {source}")]
    BrokenPipe { command: &'static str, source: io::Error },
    #[error("`git {command}` failed ({status}): {stderr}")]
    CommandFailed {
        command: &'static str,
        status: String,
        /// Shortened and redacted.
        stderr: String,
    },
    /// Not a full object id. It is never passed to git, which might read it as an option.
    #[error("`{0}` is not a full commit id")]
    NotASha(String),
    #[error("a path must not contain a NUL byte: {0:?}")]
    InvalidPath(String),
    /// A URL that git must not use. The message leaves it out, because it may contain a password.
    #[error("the repository URL is not supported: {reason}")]
    UnsupportedUrl { reason: &'static str },
    /// Not a valid branch name, or one that starts with `-`.
    #[error("`{0}` is not a valid branch name")]
    NotABranch(String),
    /// The branch is not at the expected commit: another push came first.
    #[error("`{branch}` was updated by another push")]
    BranchMoved { branch: String },
    #[error("the server rejected the push to `{branch}`: {reason}")]
    PushDenied {
        branch: String,
        /// The server's message, shortened and redacted.
        reason: String,
    },
    /// The work copy's git directory was changed in a way that git must not read.
    #[error("the work copy cannot be read: {reason}")]
    WorkCopyTampered { reason: String },
    /// A commit or a change is larger than referee reads. Names what is too large.
    #[error("{0} is too large")]
    TooLarge(String),
    /// Git's output does not have the documented format.
    #[error("cannot parse the output of `git {command}`: {output}")]
    UnexpectedOutput {
        command: &'static str,
        /// Shortened and redacted.
        output: String,
    },
    #[error(transparent)]
    Diff(#[from] DiffError),
}

impl GitError {
    pub(crate) fn unexpected_output(command: &'static str, output: &[u8]) -> Self {
        GitError::UnexpectedOutput { command, output: redact_output(output) }
    }

    /// Returns what a person can do about the error.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            GitError::NotInstalled => Some("install git 2.39 or later and put it on `PATH`"),
            GitError::TooOld { .. } => Some("install git 2.39 or later"),
            GitError::NotARepository { .. } => Some("run it inside a clone, or create a repository with `git init`"),
            GitError::NotOwned { .. } => {
                Some("if you trust it, run `git config --global --add safe.directory <its path>`")
            }
            GitError::CommitNotFound(_) => Some("fetch it; in a shallow clone, run `git fetch --unshallow`"),
            _ => None,
        }
    }
}
