//! How the local forge fails: what happened, and what to do.

use std::path::{Path, PathBuf};

use referee_git::GitError;
use rusqlite::ErrorCode;
use thiserror::Error;

use crate::ForgeError;

/// How the local forge fails. No message holds a text that was to be written (FIX-9).
#[derive(Debug, Error)]
pub enum LocalError {
    /// The file is no database, or a broken one, or not referee's.
    #[error("local pulls cannot be read: `{}` is {why}", path.display())]
    InvalidDatabase {
        /// Where it lies. It is left as it is.
        path: PathBuf,
        /// What it is instead.
        why: String,
    },
    /// A newer referee wrote it.
    #[error(
        "local pulls cannot be read: `{}` has schema {found}, and this referee knows {known}",
        path.display()
    )]
    NewerSchema {
        /// Where it lies. It is left as it is.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// There is no room for it.
    #[error("nothing was written: no space is left for `{}`", path.display())]
    DiskFull {
        /// Where it lies.
        path: PathBuf,
    },
    /// It may not be written.
    #[error("nothing was written: `{}` cannot be written ({why})", path.display())]
    ReadOnly {
        /// Where it lies.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// Another process holds it for too long.
    #[error("nothing was written: another process holds `{}`", path.display())]
    Busy {
        /// Where it lies.
        path: PathBuf,
    },
    /// Any other word of the database.
    #[error("the database of local pulls failed: {0}")]
    Sql(#[from] rusqlite::Error),
    /// Git gave no answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// There is no such thing here.
    #[error("`{0}` was not found")]
    NotFound(String),
    /// A branch or commit that a pull is made of is not there.
    #[error("`{0}` is no branch, tag or commit of this repository")]
    NoSuchRevision(String),
    /// A pull's branch is gone, and its last commit with it.
    #[error("`{pull}` has no head: the branch `{branch}` is gone, and `{head}` with it")]
    HeadGone {
        /// `L7`.
        pull: String,
        /// The branch.
        branch: String,
        /// Its last known commit.
        head: String,
    },
    /// Words of somebody else.
    #[error("only its author may edit a text")]
    NotTheAuthor,
    /// Somebody else's label.
    #[error("only who put a label on may take it off")]
    NotTheLabeller,
    /// What was expected is no longer so.
    #[error("{0} changed meanwhile")]
    Conflict(&'static str),
    /// It cannot be done as asked.
    #[error("{0}")]
    Refused(String),
}

impl LocalError {
    /// What to do about it, if there is something.
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

    /// The same, with what the database's own words mean.
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

    /// A file that could not be made or opened.
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
