//! The database file: opened for each call, and created completely by the first write.

mod migrate;

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::LocalError;

/// How long a writer waits for another one. A write takes milliseconds; this allows for an overloaded machine and for a
/// process that is stopped with the file open.
const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// The database of local pulls.
#[derive(Clone, Debug)]
pub(super) struct LocalDatabase {
    path: PathBuf,
}

impl LocalDatabase {
    /// Returns the database of a repository, by its git directory: all worktrees share it.
    pub(super) fn in_git_dir(common_dir: &Path) -> Self {
        Self { path: common_dir.join("referee").join("referee.db") }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads in one transaction; `None` where there is no file yet. Writes nothing.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>) -> Result<T, LocalError>,
    ) -> Result<Option<T>, LocalError> {
        let run = || {
            let Some(mut connection) = self.open_for_reading()? else { return Ok(None) };
            let transaction = connection.transaction()?;
            match migrate::read_schema_version(&transaction, &self.path)? {
                0 => Ok(None),
                _ => read(&transaction).map(Some),
            }
        };
        run().map_err(|error: LocalError| match error.classify_sqlite(&self.path) {
            LocalError::ReadOnly { path, why } => {
                LocalError::InvalidDatabase { path, why: format!("not readable ({why})") }
            }
            other => other,
        })
    }

    /// Writes in one transaction, one writer at a time.
    pub(super) fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, LocalError>,
    ) -> Result<T, LocalError> {
        let run = || {
            let mut connection = self.open_for_writing()?;
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = write(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        run().map_err(|error: LocalError| error.classify_sqlite(&self.path))
    }

    fn open_for_reading(&self) -> Result<Option<Connection>, LocalError> {
        if !self.path.exists() {
            return Ok(None);
        }
        let connection = Connection::open_with_flags(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        match connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
            Ok(()) => Ok(Some(connection)),
            // Beside the file nothing can be made that readers share with writers: then nobody writes either, unless a
            // writer left something behind that only a writer can bring in.
            Err(error) if is_access_error(&error) && !self.has_pending_wal() => self.open_immutable().map(Some),
            Err(error) => Err(error.into()),
        }
    }

    fn open_immutable(&self) -> Result<Connection, LocalError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let mut name = String::from("file:");
        for byte in self.path.as_os_str().as_encoded_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => name.push(char::from(*byte)),
                other => name.push_str(&format!("%{other:02x}")),
            }
        }
        name.push_str("?immutable=1");
        Ok(Connection::open_with_flags(name, flags)?)
    }

    fn has_pending_wal(&self) -> bool {
        fs::metadata(self.sibling_path("-wal")).is_ok_and(|wal| wal.len() > 0)
    }

    fn open_for_writing(&self) -> Result<Connection, LocalError> {
        let known = fs::metadata(&self.path).is_ok_and(|file| file.len() > 0);
        if !known {
            self.create_file()?;
        }
        let connection = Connection::open_with_flags(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        if migrate::read_schema_version(&connection, &self.path)? == migrate::LATEST_VERSION {
            return Ok(connection);
        }
        self.migrate_under_lock(connection)
    }

    /// Creates the empty file, readable by its owner only.
    fn create_file(&self) -> Result<(), LocalError> {
        let told = |error: std::io::Error| LocalError::from_io(&self.path, &error);
        let folder = self.path.parent().unwrap_or(&self.path);
        if !folder.exists() {
            private_folder(folder).map_err(told)?;
        }
        private_file(&self.path).map_err(told).map(drop)
    }

    /// Two processes that find an old file must not both change its shape: a lock beside it, not in it, since the
    /// journal's mode can only be set outside of any transaction.
    fn migrate_under_lock(&self, mut connection: Connection) -> Result<Connection, LocalError> {
        let told = |error: std::io::Error| LocalError::from_io(&self.path, &error);
        let lock = private_file(&self.sibling_path(".lock")).map_err(told)?;
        lock.lock().map_err(told)?;
        migrate::migrate_to_latest(&mut connection, &self.path)?;
        Ok(connection)
    }

    fn sibling_path(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        name.into()
    }
}

fn is_access_error(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied))
}

#[cfg(unix)]
fn private_folder(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn private_folder(path: &Path) -> std::io::Result<()> {
    fs::create_dir_all(path)
}

#[cfg(unix)]
fn private_file(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::LocalDatabase;
    use crate::local::LocalError;

    const COUNT_ROWS_SQL: &str = "SELECT count(*) FROM repository";

    fn count_rows(store: &LocalDatabase) -> Option<i64> {
        store.read(|tx| Ok(tx.query_row(COUNT_ROWS_SQL, [], |row| row.get(0))?)).expect("a readable file")
    }

    #[test]
    fn a_write_that_ends_early_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = LocalDatabase::in_git_dir(folder.path());
        assert_eq!(count_rows(&store), None);
        let broke = store.write(|tx| -> Result<(), LocalError> {
            tx.execute("INSERT INTO repository VALUES (1, 7, 0)", [])?;
            assert_eq!(tx.query_row(COUNT_ROWS_SQL, [], |row| row.get(0)), Ok(1_i64));
            assert_eq!(count_rows(&store), Some(0), "others see it before it is whole");
            Err(LocalError::Refused("the process ends here".to_owned()))
        });
        assert!(broke.is_err());
        assert_eq!(count_rows(&store), Some(0));
    }

    /// Reads and writes from several connections at the same moment; each thread is what a process is.
    #[test]
    fn first_runs_at_once_create_one_database() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().expect("a folder");
            let store = LocalDatabase::in_git_dir(folder.path());
            let start = std::sync::Barrier::new(8);
            let run = || {
                start.wait();
                store.read(|_| Ok(()))?;
                store.write(|tx| Ok(tx.execute("INSERT OR IGNORE INTO repository VALUES (1, 7, 0)", [])?))?;
                store.read(|_| Ok(()))
            };
            std::thread::scope(|scope| {
                let runs: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
                for run in runs {
                    run.join().expect("no panic").expect("every first run has the database");
                }
            });
            assert_eq!(count_rows(&store), Some(1));
        }
    }

    #[test]
    fn a_full_disk_is_reported_and_loses_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = LocalDatabase::in_git_dir(folder.path());
        store.write(|tx| Ok(tx.execute("INSERT INTO repository VALUES (1, 7, 0)", [])?)).expect("a row");
        let full = store.write(|tx| {
            tx.pragma_update(None, "max_page_count", 1)?;
            let text = "INSERT INTO texts (author, bot, at, body) VALUES ('a', 0, 0, hex(zeroblob(100000)))";
            Ok(tx.execute(text, [])?)
        });
        assert!(matches!(full, Err(LocalError::DiskFull { .. })), "{full:?}");
        assert_eq!(count_rows(&store), Some(1));
    }

    #[test]
    fn the_file_of_another_program_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = LocalDatabase::in_git_dir(folder.path());
        std::fs::create_dir(folder.path().join("referee")).expect("a folder");
        let other = Connection::open(store.path()).expect("a database");
        other.execute_batch("CREATE TABLE bookmarks (url TEXT);").expect("a table");
        for error in [store.read(|_| Ok(())).expect_err("not ours"), store.write(|_| Ok(())).expect_err("not ours")] {
            assert!(matches!(error, LocalError::InvalidDatabase { .. }), "{error:?}");
        }
        let tables: i64 = other.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).expect("a count");
        assert_eq!(tables, 1);
    }
}
