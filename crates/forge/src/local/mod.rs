//! A forge in the git directory: a pull is a branch, a push is a moved branch, and everything else is in one SQLite file
//! that all worktrees share.

mod claim;
mod column;
mod commit_files;
mod database;
mod error;
mod fetch;
mod forge_impl;
mod names;
mod perform;
mod pulls;
mod range;
mod resolved_pull;
mod user;
mod writer;

use std::collections::BTreeSet;
use std::path::Path;

use database::LocalDatabase;
pub use error::LocalError;
pub use names::{format_local_name, login_from_git_user};
pub use pulls::LocalPull;
use pulls::LocalPullRecord;
use referee_core::model::{Login, PullNumber, Time};
use referee_git::Git;
use rusqlite::{OptionalExtension, Transaction};
pub use user::LocalUser;

/// The longest text that is accepted, in bytes: the limit of SQLite is a billion. A summary stores every finding (D33),
/// so the limit of a forge would lose some.
const MAX_TEXT_BYTES: usize = 500_000_000;

/// The local forge of one repository. The first write creates its file.
#[derive(Clone, Debug)]
pub struct LocalForge {
    git: Git,
    now: fn() -> Time,
    database: LocalDatabase,
    /// The logins that referee writes as.
    identities: BTreeSet<Login>,
    /// A previewed pull, which has no row.
    preview: Option<LocalPullRecord>,
}

impl LocalForge {
    /// Opens the local forge of a repository; `now` is its clock.
    pub fn open(git: Git, now: fn() -> Time) -> Result<Self, LocalError> {
        let store = LocalDatabase::in_git_dir(git.common_dir());
        // An unreadable file is reported before anything else is done.
        store.read(|_| Ok(()))?;
        Ok(Self {
            git,
            now,
            database: store,
            identities: BTreeSet::from([Login::from(names::BOT_LOGIN)]),
            preview: None,
        })
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// Lists all pulls, oldest first, without asking git: `head` is the last recorded one.
    pub fn list_pulls(&self) -> Result<Vec<LocalPull>, LocalError> {
        Ok(self.database.read(pulls::list_pulls)?.unwrap_or_default())
    }

    /// Returns the open pull of a range.
    pub fn find_open_pull(&self, branch: &str, base: &str) -> Result<Option<PullNumber>, LocalError> {
        Ok(self.database.read(|tx| pulls::find_open_pull(tx, branch, base))?.flatten())
    }

    /// Returns the operations of a person.
    pub fn as_user(&self, by: &Login) -> LocalUser<'_> {
        LocalUser { forge: self, by: by.clone() }
    }

    /// Returns the pull that was last used on a branch (TRI-2).
    pub fn last_used(&self, branch: &str) -> Result<Option<PullNumber>, LocalError> {
        let sql = "SELECT pull FROM last_used WHERE branch = ?1";
        let read = self.database.read(|tx| Ok(tx.query_row(sql, [branch], |row| row.get(0)).optional()?))?;
        Ok(read.flatten().map(pulls::pull_number))
    }

    /// Records which pull was used on a branch.
    pub fn set_last_used(&self, branch: &str, pull: PullNumber) -> Result<(), LocalError> {
        self.load_record(pull)?;
        self.write(|tx| {
            let sql = "INSERT INTO last_used (branch, pull) VALUES (?1, ?2)
                       ON CONFLICT (branch) DO UPDATE SET pull = excluded.pull";
            tx.execute(sql, rusqlite::params![branch, pulls::pull_row_id(pull)])?;
            Ok(())
        })
    }

    /// Writes in one transaction.
    fn write<T>(&self, write: impl FnOnce(&Transaction<'_>) -> Result<T, LocalError>) -> Result<T, LocalError> {
        self.check_writable()?;
        self.database.write(write)
    }

    /// Refuses writes while a pull is previewed (SAF-5).
    fn check_writable(&self) -> Result<(), LocalError> {
        match self.preview {
            Some(_) => Err(LocalError::Refused("nothing was written: this is a preview".to_owned())),
            None => Ok(()),
        }
    }

    /// Loads a pull's record, or returns the preview.
    fn load_record(&self, pull: PullNumber) -> Result<LocalPullRecord, LocalError> {
        if let Some(preview) = self.preview.as_ref().filter(|preview| preview.number == pull) {
            return Ok(preview.clone());
        }
        let kept = self.database.read(|tx| pulls::load_record(tx, pull))?;
        kept.ok_or_else(|| LocalError::NotFound(format_local_name(pull)))
    }
}
