//! The schema of the database and its migrations.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite_migration::{M, Migrations};

use crate::local::LocalError;

/// All migrations, oldest first. A released one is never changed.
const MIGRATIONS: &[M<'static>] = &[M::up(include_str!("schema_1.sql"))];

/// The schema version that this build writes.
pub(super) const LATEST_VERSION: u32 = MIGRATIONS.len() as u32;

/// Reads the schema version: 0 for an empty file.
pub(super) fn read_schema_version(connection: &Connection, path: &Path) -> Result<u32, LocalError> {
    // One statement reads one state of the file, also while another process migrates it.
    let sql = "SELECT user_version, EXISTS (SELECT 1 FROM sqlite_schema) FROM pragma_user_version";
    let (found, filled): (u32, bool) = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if found > LATEST_VERSION {
        return Err(LocalError::NewerSchema { path: path.to_owned(), found, known: LATEST_VERSION });
    }
    match (found, filled) {
        (0, true) => {
            Err(LocalError::InvalidDatabase { path: path.to_owned(), why: "another program's database".to_owned() })
        }
        _ => Ok(found),
    }
}

/// Migrates the file to the latest version. The caller holds the lock.
pub(super) fn migrate_to_latest(connection: &mut Connection, path: &Path) -> Result<(), LocalError> {
    match read_schema_version(connection, path)? {
        LATEST_VERSION => Ok(()),
        found => apply_migrations(connection, path, found, MIGRATIONS),
    }
}

/// Runs the missing migrations, after a backup beside the file.
fn apply_migrations(connection: &mut Connection, path: &Path, found: u32, steps: &[M<'_>]) -> Result<(), LocalError> {
    if found > 0 {
        connection.execute("VACUUM INTO ?1", [backup_path(path).to_string_lossy()])?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    Migrations::from_slice(steps).to_latest(connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => LocalError::Sql(err),
        other => {
            LocalError::InvalidDatabase { path: path.to_owned(), why: format!("not to be brought up to date: {other}") }
        }
    })
}

/// Returns `referee.db.bak-1`, or the next free number.
fn backup_path(path: &Path) -> PathBuf {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".bak-{number}"));
        PathBuf::from(name)
    };
    (1..u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(0))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use rusqlite_migration::M;

    use super::{MIGRATIONS, apply_migrations, migrate_to_latest};

    #[test]
    fn an_older_database_is_copied_before_it_is_migrated() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("referee.db");
        let mut connection = Connection::open(&path).expect("a database");
        migrate_to_latest(&mut connection, &path).expect("the first shape");
        connection.execute("INSERT INTO repository VALUES (1, 7, 0)", []).expect("a row");
        let steps: Vec<M<'_>> =
            MIGRATIONS.iter().cloned().chain([M::up("ALTER TABLE repository ADD extra INTEGER;")]).collect();
        apply_migrations(&mut connection, &path, 1, &steps).expect("the second shape");
        connection.query_row("SELECT extra FROM repository", [], |_| Ok(())).expect("the file has the new shape");
        let copy = Connection::open(folder.path().join("referee.db.bak-1")).expect("a copy");
        let (id, columns): (i64, i64) = copy
            .query_row("SELECT id, (SELECT count(*) FROM pragma_table_info('repository')) FROM repository", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .expect("the copy is readable");
        assert_eq!((id, columns), (7, 3), "the copy is what was there before");
    }
}
