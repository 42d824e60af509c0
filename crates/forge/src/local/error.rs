//! Errors of the local forge, with hints.

use std::path::{Path, PathBuf};

use referee_git::GitError;
use rusqlite::ErrorCode;
use thiserror::Error;

use crate::ForgeError;

/// An error of the local forge. Messages never contain a text that was to be written (FIX-9).
#[derive(Debug, Error)]
pub enum LocalError {
    /// The file is not a database of referee, or damaged. It is left unchanged.
    #[error("local pulls cannot be read: `{}` is {why}", path.display())]
    InvalidDatabase { path: PathBuf, why: String },
    /// A newer version of referee wrote the file. It is left unchanged.
    #[error(
        "local pulls cannot be read: `{}` has schema {found}, and this referee knows {known}",
        path.display()
    )]
    NewerSchema { path: PathBuf, found: u32, known: u32 },
    #[error("nothing was written: no space is left for `{}`", path.display())]
    DiskFull { path: PathBuf },
    #[error("nothing was written: `{}` cannot be written ({why})", path.display())]
    ReadOnly { path: PathBuf, why: String },
    /// Another process holds the lock for too long.
    #[error("nothing was written: another process holds `{}`", path.display())]
    Busy { path: PathBuf },
    #[error("the database of local pulls failed: {0}")]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("`{0}` was not found")]
    NotFound(String),
    /// A branch or commit of a pull does not exist.
    #[error("`{0}` is no branch, tag or commit of this repository")]
    NoSuchRevision(String),
    /// A pull's branch and its last commit are gone.
    #[error("`{pull}` has no head: the branch `{branch}` is gone, and `{head}` with it")]
    HeadGone {
        /// The name of the pull: `L7`.
        pull: String,
        branch: String,
        /// The last known commit.
        head: String,
    },
    /// The text is by somebody else.
    #[error("only its author may edit a text")]
    NotTheAuthor,
    /// The label was added by somebody else.
    #[error("only who put a label on may take it off")]
    NotTheLabeller,
    /// A precondition no longer holds.
    #[error("{0} changed meanwhile")]
    Conflict(&'static str),
    /// The request is invalid.
    #[error("{0}")]
    Refused(String),
}

impl LocalError {
    /// Returns what to do about it, if anything helps.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::InvalidDatabase { path, .. } => Some(format!(
                "nothing was changed: move `{}` away to begin anew, or put a copy of it back",
                path.display()
            )),
            Self::NewerSchema { .. } => Some("use the newer referee that wrote it".to_owned()),
            Self::DiskFull { .. } => Some("make room and run again: what was written before is whole".to_owned()),
            Self::ReadOnly { .. } => Some("run with `--dry-run`, or make the git folder writable".to_owned()),
            Self::Busy { .. } => Some("run again when it is done".to_owned()),
            Self::HeadGone { branch, .. } => Some(format!("bring `{branch}` back, or close the pull")),
            Self::NoSuchRevision(_) => Some("`git branch --all` lists what there is".to_owned()),
            Self::NotFound(_) => Some("`referee local list` shows what there is".to_owned()),
            Self::Sql(_)
            | Self::Git(_)
            | Self::NotTheAuthor
            | Self::NotTheLabeller
            | Self::Conflict(_)
            | Self::Refused(_) => None,
        }
    }

    /// Translates an error of the database into what it means here.
    pub(super) fn classify_sqlite(self, path: &Path) -> Self {
        let Self::Sql(error) = self else { return self };
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::InvalidDatabase { path, why: "no database".to_owned() },
            Some(ErrorCode::DatabaseCorrupt) => Self::InvalidDatabase { path, why: "damaged".to_owned() },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(
                ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure,
            ) => Self::ReadOnly { path, why: error.to_string() },
            _ => Self::Sql(error),
        }
    }

    /// Translates an error of creating or opening the file.
    pub(super) fn from_io(path: &Path, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull => Self::DiskFull { path: path.to_owned() },
            _ => Self::ReadOnly { path: path.to_owned(), why: error.to_string() },
        }
    }
}

impl From<LocalError> for ForgeError {
    fn from(error: LocalError) -> Self {
        match error {
            LocalError::NotFound(what) => Self::NotFound(what),
            LocalError::NotTheAuthor => Self::Forbidden("edit what somebody else wrote".to_owned()),
            LocalError::NotTheLabeller => Self::Forbidden("take somebody else's label off".to_owned()),
            LocalError::Conflict(what) => Self::Conflict(what.to_owned()),
            LocalError::Busy { .. } => Self::RetryLater,
            LocalError::Refused(_) | LocalError::DiskFull { .. } | LocalError::ReadOnly { .. } => {
                Self::Refused(error.to_string())
            }
            LocalError::InvalidDatabase { .. }
            | LocalError::NewerSchema { .. }
            | LocalError::Sql(_)
            | LocalError::Git(_)
            | LocalError::NoSuchRevision(_)
            | LocalError::HeadGone { .. } => Self::Unreadable(error.to_string()),
        }
    }
}
