//! A forge in the git folder: pulls are branches, a push is a moved branch, the rest is rows in one file that all
//! worktrees share.

mod claim;
mod error;
mod fetch;
mod hands;
mod names;
mod pen;
mod perform;
mod place;
mod pulls;
mod range;
mod store;
mod tip;
mod verbs;
mod words;

use std::collections::BTreeSet;
use std::path::Path;

pub use error::LocalError;
pub use hands::Hands;
pub use names::{local_name, login_of};
use pulls::Kept;
pub use pulls::LocalPull;
use referee_core::model::{Login, PullNumber, Time};
use referee_git::Git;
use rusqlite::{OptionalExtension, Transaction};
use store::Store;

/// The longest text that is taken, in bytes.
const MAX_TEXT: usize = 60_000;

/// The local forge of one repository. Opening it makes no file; the first write does.
#[derive(Clone, Debug)]
pub struct LocalForge {
    git: Git,
    now: fn() -> Time,
    store: Store,
    /// The names referee writes under.
    holds: BTreeSet<Login>,
    /// A pull that is only looked at and has no row.
    preview: Option<Kept>,
}

impl LocalForge {
    /// The local forge of a repository; `now` is its clock.
    pub fn open(git: Git, now: fn() -> Time) -> Result<Self, LocalError> {
        let store = Store::of(git.common_dir());
        // A file that nobody can read is told before anything else is done.
        store.read(|_| Ok(()))?;
        Ok(Self { git, now, store, holds: BTreeSet::from([Login::from(names::BOT)]), preview: None })
    }

    /// The same, writing under these names as well: the identities of the roles.
    #[must_use]
    pub fn holding(mut self, identities: impl IntoIterator<Item = Login>) -> Self {
        self.holds.extend(identities);
        self
    }

    /// Where everything is kept.
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// All pulls, oldest first. Git is not asked: `head` is the last one that was seen.
    pub fn pulls(&self) -> Result<Vec<LocalPull>, LocalError> {
        Ok(self.store.read(pulls::list)?.unwrap_or_default())
    }

    /// The open pull of a range.
    pub fn find(&self, branch: &str, base: &str) -> Result<Option<PullNumber>, LocalError> {
        Ok(self.store.read(|tx| pulls::open_one(tx, branch, base))?.flatten())
    }

    /// The hands of a person.
    pub fn hands(&self, by: &Login) -> Hands<'_> {
        Hands { forge: self, by: by.clone() }
    }

    /// The pull that was last used on a branch (TRI-2).
    pub fn last_used(&self, branch: &str) -> Result<Option<PullNumber>, LocalError> {
        let sql = "SELECT pull FROM last_used WHERE branch = ?1";
        let read = self.store.read(|tx| Ok(tx.query_row(sql, [branch], |row| row.get(0)).optional()?))?;
        Ok(read.flatten().map(pulls::number))
    }

    /// Remembers which pull was used on a branch.
    pub fn set_last_used(&self, branch: &str, pull: PullNumber) -> Result<(), LocalError> {
        self.kept(pull)?;
        self.write(|tx| {
            let sql = "INSERT INTO last_used (branch, pull) VALUES (?1, ?2)
                       ON CONFLICT (branch) DO UPDATE SET pull = excluded.pull";
            tx.execute(sql, rusqlite::params![branch, pulls::key(pull)])?;
            Ok(())
        })
    }

    /// Writes all of it or nothing.
    fn write<T>(&self, write: impl FnOnce(&Transaction<'_>) -> Result<T, LocalError>) -> Result<T, LocalError> {
        self.may_write()?;
        self.store.write(write)
    }

    /// Whoever previews a pull writes nothing, on no pull (SAF-5).
    fn may_write(&self) -> Result<(), LocalError> {
        match self.preview {
            Some(_) => Err(LocalError::Refused("nothing was written: this is a preview".to_owned())),
            None => Ok(()),
        }
    }

    /// A pull's row, or the preview.
    fn kept(&self, pull: PullNumber) -> Result<Kept, LocalError> {
        if let Some(preview) = self.preview.as_ref().filter(|preview| preview.number == pull) {
            return Ok(preview.clone());
        }
        let kept = self.store.read(|tx| pulls::kept(tx, pull))?;
        kept.ok_or_else(|| LocalError::NotFound(local_name(pull)))
    }
}
