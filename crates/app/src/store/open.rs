//! Opens the database file: creates it readable by its owner only, migrates it forward, and never overwrites it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use referee_core::model::Time;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rusqlite_migration::{M, Migrations};

use super::{Store, StoreAccess, StoreError, TextRetention};

/// One entry per format version. A released entry never changes.
const MIGRATIONS: &[M<'static>] = &[
    M::up(
        "CREATE TABLE texts (hash TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE policies (hash TEXT PRIMARY KEY, policy TEXT NOT NULL) WITHOUT ROWID;
     CREATE TABLE turns (
         id INTEGER PRIMARY KEY, pull TEXT NOT NULL, at INTEGER NOT NULL, last_at INTEGER NOT NULL,
         times INTEGER NOT NULL, digest TEXT NOT NULL, head TEXT NOT NULL, policy TEXT NOT NULL,
         snapshot TEXT NOT NULL, plan TEXT NOT NULL, lines TEXT NOT NULL, receipts TEXT NOT NULL
     );
     CREATE INDEX turns_of_pull ON turns (pull, id);
     CREATE TABLE intents (
         id INTEGER PRIMARY KEY, pull TEXT NOT NULL, head TEXT NOT NULL, step INTEGER NOT NULL,
         action TEXT NOT NULL, at INTEGER NOT NULL, outcome TEXT
     );
     CREATE TABLE inbox (
         id INTEGER PRIMARY KEY, pull TEXT NOT NULL, role TEXT NOT NULL, head TEXT NOT NULL, at INTEGER NOT NULL,
         report TEXT NOT NULL, posted INTEGER, UNIQUE (pull, role, head, report)
     );
     CREATE TABLE memory (
         pull TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (pull, kind)
     ) WITHOUT ROWID;",
    ),
    // The part of the plan that the turn carried out. Turns of the first format count as unrestricted.
    M::up("ALTER TABLE turns ADD COLUMN scope TEXT NOT NULL DEFAULT '\"everything\"';"),
];

/// How long to wait for a lock of another process, and how often to look. A write takes milliseconds; a backup, a
/// debugger or a stopped process may hold the file longer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long to wait before it is announced.
const SILENT_WAIT: Duration = Duration::from_secs(1);

impl Store {
    /// Opens the store for pulls on forges. A store that cannot be opened is only a warning: referee works without it
    /// (LOOP-7).
    pub(crate) fn open_for_forges(access: StoreAccess, now: fn() -> Time) -> Self {
        let path = crate::user_dirs::state_dir().map(|folder| folder.join("state.db"));
        let without_file = |path: &Path, warnings| Self {
            path: path.to_owned(),
            db: None,
            now,
            text_retention: TextRetention::Full,
            warnings,
        };
        match path.map(|path| (Self::open(&path, access, now), path)) {
            Some((Ok(store), _)) => store,
            Some((Err(error), path)) => {
                without_file(&path, vec![format!("this run saves no reports and no journal: {error}")])
            }
            None => without_file(Path::new(""), Vec::new()),
        }
    }

    /// Opens the store at a path.
    ///
    /// A file that is not a database is renamed, with a warning, and a new one is created: its contents can be derived
    /// again from the forge. A file of a newer format is an error and stays untouched.
    pub(crate) fn open(path: &Path, access: StoreAccess, now: fn() -> Time) -> Result<Self, StoreError> {
        let store =
            |db, warnings| Self { path: path.to_owned(), db, now, text_retention: TextRetention::Full, warnings };
        // SQLite's own locks do not cover the journal mode, nor the rename of a corrupt file.
        let _lock = match (access, path.exists()) {
            (StoreAccess::Read, false) => return Ok(store(None, Vec::new())),
            (StoreAccess::Read, true) => None,
            (StoreAccess::Write, _) => {
                let lock = lock_for_opening(path)?;
                create_private_file(path).map_err(|source| file_error(path, source))?;
                Some(lock)
            }
        };
        match connect(path, access) {
            Ok(db) => Ok(store(Some(Mutex::new(db)), Vec::new())),
            Err(StoreError::Database { source, .. }) if access == StoreAccess::Write && is_corrupt(&source) => {
                let renamed = rename_corrupt_file(path).map_err(|source| file_error(path, source))?;
                create_private_file(path).map_err(|source| file_error(path, source))?;
                let warning = format!(
                    "`{}` is corrupt and was renamed to `{}`; nothing on the pull is lost",
                    path.display(),
                    renamed.display()
                );
                Ok(store(Some(Mutex::new(connect(path, access)?)), vec![warning]))
            }
            Err(error) => Err(error),
        }
    }
}

fn connect(path: &Path, access: StoreAccess) -> Result<Connection, StoreError> {
    let database = |source| database_error(path, source);
    let flags = match access {
        StoreAccess::Read => OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        StoreAccess::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    };
    let mut db = Connection::open_with_flags(path, flags).map_err(database)?;
    db.busy_handler(Some(wait_for_lock)).map_err(database)?;
    let found: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(database)?;
    let found = usize::try_from(found).unwrap_or_default();
    if found > MIGRATIONS.len() {
        return Err(StoreError::NewerFormat { path: path.display().to_string(), found, known: MIGRATIONS.len() });
    }
    if access == StoreAccess::Write {
        db.pragma_update(None, "journal_mode", "wal").map_err(database)?;
        db.pragma_update(None, "synchronous", "normal").map_err(database)?;
        migrate(path, &mut db)?;
    } else if found < MIGRATIONS.len() {
        // A read-only run cannot migrate, so an older format counts as empty.
        db = Connection::open_in_memory().map_err(database)?;
        migrate(path, &mut db)?;
    }
    Ok(db)
}

fn migrate(path: &Path, db: &mut Connection) -> Result<(), StoreError> {
    Migrations::from_slice(MIGRATIONS).to_latest(db).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err: source, .. } => database_error(path, source),
        other => StoreError::CorruptRow { path: path.display().to_string(), what: other.to_string() },
    })
}

/// Waits while another process holds a lock of the file; SQLite calls it with the number of earlier calls. `false` gives
/// up.
fn wait_for_lock(attempts: i32) -> bool {
    let waited = LOCK_POLL_INTERVAL * u32::try_from(attempts).unwrap_or_default();
    announce_wait(waited);
    std::thread::park_timeout(LOCK_POLL_INTERVAL);
    waited < LOCK_TIMEOUT
}

/// Says once, after a moment, why nothing happens.
fn announce_wait(waited: Duration) {
    if waited == SILENT_WAIT {
        tracing::warn!("waiting: another process holds the store of reports, up to {} s", LOCK_TIMEOUT.as_secs());
    }
}

/// Converts an error of the database. A lock that was waited for in vain is an error of its own.
pub(super) fn database_error(path: &Path, source: rusqlite::Error) -> StoreError {
    let path = path.display().to_string();
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { path },
        _ => StoreError::Database { path, source },
    }
}

fn is_corrupt(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// Renames a file to the first free name `….db.bad-N` and returns that name.
fn rename_corrupt_file(path: &Path) -> io::Result<PathBuf> {
    let free = (1..).map(|n| path.with_extension(format!("db.bad-{n}"))).find(|candidate| !candidate.exists());
    let target = free.unwrap_or_else(|| path.with_extension("db.bad"));
    fs::rename(path, &target)?;
    Ok(target)
}

/// Locks out other processes that open the same store for writing, until the file is dropped: first runs at the same
/// moment must not create the tables twice.
fn lock_for_opening(path: &Path) -> Result<fs::File, StoreError> {
    let file = create_private_file(&path.with_extension("db.lock")).map_err(|source| file_error(path, source))?;
    for attempts in 0.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(fs::TryLockError::WouldBlock) if wait_for_lock(attempts) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(StoreError::Locked { path: path.display().to_string() }),
            Err(fs::TryLockError::Error(source)) => return Err(file_error(path, source)),
        }
    }
    Ok(file)
}

/// Creates or opens a file that only its owner can read, because the store contains what people wrote.
fn create_private_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        options.mode(0o600);
        folder.mode(0o700);
    }
    if let Some(parent) = path.parent() {
        folder.create(parent)?;
    }
    options.open(path)
}

fn file_error(path: &Path, source: io::Error) -> StoreError {
    StoreError::File { path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::{Store, StoreAccess};
    use crate::session::local::now;

    /// Opens one file from several connections at the same moment; each thread is what a process is.
    #[test]
    fn first_runs_at_once_create_one_store() {
        for corrupt in [false, true] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("new/state.db");
            if corrupt {
                std::fs::create_dir(folder.path().join("new")).expect("a folder");
                std::fs::write(&path, "not a database, but long enough to be read as one".repeat(20)).expect("a file");
            }
            let start = Barrier::new(8);
            let open = || {
                start.wait();
                Store::open(&path, StoreAccess::Write, now).map(drop)
            };
            std::thread::scope(|scope| {
                let runs: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
                for run in runs {
                    run.join().expect("no panic").expect("every first run has a store");
                }
            });
            let renamed = std::fs::read_dir(folder.path().join("new"))
                .expect("a folder")
                .filter(|entry| entry.as_ref().is_ok_and(|it| it.file_name().to_string_lossy().contains(".bad-")))
                .count();
            assert_eq!(renamed, usize::from(corrupt), "only the corrupt file is renamed");
        }
    }
}
