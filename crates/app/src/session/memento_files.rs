//! Mementos of pulls on forges, as files in the cache folder. A missing or broken file costs requests only (LOOP-7), and
//! read-only commands may write here.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use referee_core::hash::Hash;
use referee_forge::{Memento, MementoStore};
use tempfile::NamedTempFile;

use crate::user_dirs;

/// A folder with one file per pull. Only its owner can read it: mementos hold what people wrote.
#[derive(Debug)]
pub(crate) struct MementoFiles {
    folder: PathBuf,
}

/// Files expire 30 days after they were last written.
const MAX_FILE_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

impl MementoFiles {
    /// Opens the folder in the user's cache folder; `None` without a home.
    pub(crate) fn open_for_user() -> Option<Self> {
        Self::open(user_dirs::cache_dir()?.join("pulls"))
    }

    fn open(folder: PathBuf) -> Option<Self> {
        let mut private = fs::DirBuilder::new();
        private.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
        private.create(&folder).ok()?;
        remove_expired(&folder);
        Some(Self { folder })
    }

    fn path(&self, key: &str) -> PathBuf {
        let Hash(hash) = Hash::digest(key);
        self.folder.join(format!("{}.json", &hash[..32]))
    }
}

impl MementoStore for MementoFiles {
    fn load(&self, key: &str) -> Option<Memento> {
        fs::read_to_string(self.path(key)).ok().map(Memento)
    }

    fn save(&self, key: &str, memento: &Memento) {
        if write_atomically(&self.folder, &self.path(key), &memento.0).is_err() {
            self.remove(key);
        }
    }

    fn remove(&self, key: &str) {
        let _ = fs::remove_file(self.path(key));
    }
}

/// Writes a file completely or not at all: another process may read it meanwhile. Only its owner can read it.
pub(crate) fn write_atomically(folder: &Path, path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn remove_expired(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > MAX_FILE_AGE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use referee_forge::{Memento, MementoStore};
    use tempfile::TempDir;

    use super::{MAX_FILE_AGE, MementoFiles};

    #[test]
    fn a_memento_is_stored_until_it_is_replaced_removed_or_expired() {
        let dir = TempDir::new().expect("a folder");
        let files = MementoFiles::open(dir.path().join("pulls")).expect("a folder of mementos");
        let memento = |text: &str| Memento(text.to_owned());
        assert_eq!(files.load("a"), None);
        files.save("a", &memento("one"));
        files.save("a", &memento("two"));
        files.save("b", &memento("three"));
        assert_eq!((files.load("a"), files.load("b")), (Some(memento("two")), Some(memento("three"))));
        files.remove("a");
        assert_eq!(files.load("a"), None);
        assert_eq!(fs::read_dir(dir.path().join("pulls")).expect("the folder").count(), 1, "no temporary file is left");

        let file = File::options().write(true).open(files.path("b")).expect("the file");
        file.set_modified(SystemTime::now() - MAX_FILE_AGE - Duration::from_secs(9)).expect("a time long ago");
        let files = MementoFiles::open(dir.path().join("pulls")).expect("a folder of mementos");
        assert_eq!(files.load("b"), None);
    }
}
