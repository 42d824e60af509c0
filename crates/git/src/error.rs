use std::io;
use std::path::PathBuf;

use referee_core::model::Sha;

use crate::DiffError;

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no program of that name.
    #[error("`git` is not installed")]
    NotInstalled,
    /// The program lacks what is needed.
    #[error("`git` is too old: {found}")]
    TooOld {
        /// What it says it is.
        found: String,
    },
    /// No repository is there.
    #[error("`{dir}` is not in a git repository", dir = .dir.display())]
    NotARepository {
        /// Where one was looked for.
        dir: PathBuf,
    },
    /// Git does not work in a repository that somebody else could have prepared.
    #[error("the repository at `{dir}` belongs to somebody else", dir = .dir.display())]
    NotOwned {
        /// Where it is.
        dir: PathBuf,
    },
    /// A work tree is needed.
    #[error("the repository at `{dir}` has no work tree", dir = .dir.display())]
    NoWorkTree {
        /// Where it is.
        dir: PathBuf,
    },
    /// What is checked out is damaged.
    #[error("`HEAD` names neither a branch nor a commit")]
    NoHead,
    /// A commit that this repository does not have.
    #[error("commit `{0}` is not in this repository")]
    CommitNotFound(Sha),
    /// The program could not be started.
    #[error("`git` could not be started: {0}")]
    SpawnFailed(#[source] io::Error),
    /// A folder or file of the repository could not be used.
    #[error("`{dir}` cannot be used: {source}", dir = .dir.display())]
    Filesystem {
        /// Which.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its input or output broke off.
    #[error("`git {command}` broke off: {source}")]
    BrokenPipe {
        /// What was run.
        command: &'static str,
        /// How.
        source: io::Error,
    },
    /// It said no.
    #[error("`git {command}` failed ({status}): {stderr}")]
    CommandFailed {
        /// What was run.
        command: &'static str,
        /// How it ended.
        status: String,
        /// What it said, shortened, without passwords.
        stderr: String,
    },
    /// A name that is not a full object name; it is never handed to git, which might read it as an option.
    #[error("`{0}` is not the full name of a commit")]
    NotASha(String),
    /// A name that git cannot be asked for.
    #[error("no path holds a zero byte: {0:?}")]
    InvalidPath(String),
    /// An address that nothing is fetched from. It is not shown: it may hold a password.
    #[error("nothing is fetched from this address: {why}")]
    UnsupportedUrl {
        /// What is wrong with it.
        why: &'static str,
    },
    /// A name that no branch can have, or that would be an option.
    #[error("`{0}` is no name of a branch")]
    NotABranch(String),
    /// Somebody was faster: the branch is not where it was seen.
    #[error("`{branch}` moved meanwhile")]
    BranchMoved {
        /// Which.
        branch: String,
    },
    /// The server does not take it.
    #[error("the server does not take a push to `{branch}`: {why}")]
    PushDenied {
        /// Which branch.
        branch: String,
        /// What it says, shortened, without passwords.
        why: String,
    },
    /// A work copy is not what was handed out.
    #[error("the work copy cannot be read: {why}")]
    WorkCopyTampered {
        /// What is wrong with it.
        why: String,
    },
    /// Its answer is not what its manual says.
    #[error("`git {command}` answered what nobody understands: {answer}")]
    UnexpectedOutput {
        /// What was run.
        command: &'static str,
        /// What it answered, shortened.
        answer: String,
    },
    /// Its diff could not be read.
    #[error(transparent)]
    Diff(#[from] DiffError),
}

impl GitError {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            GitError::NotInstalled => Some("install git 2.39 or later and put it on `PATH`"),
            GitError::TooOld { .. } => Some("install git 2.39 or later"),
            GitError::NotARepository { .. } => Some("run it inside a clone, or make a repository with `git init`"),
            GitError::NotOwned { .. } => Some("if you trust it, `git config --global --add safe.directory <its path>`"),
            GitError::CommitNotFound(_) => Some("fetch it; a shallow clone gets the rest with `git fetch --unshallow`"),
            _ => None,
        }
    }
}
