//! What was read of pulls on forges, so that reading them again takes fewer requests. Files in the cache folder: what
//! is gone or broken is read from the forge again (LOOP-7), and readers may write there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use referee_core::hash::Hash;
use referee_forge::Shelf;
use tempfile::NamedTempFile;

use crate::user_dirs;

/// A folder with a file for each pull. Only its owner reads it: it holds what people wrote.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
}

/// Nobody asks for a pull any more that was not read for so long.
const OLD: Duration = Duration::from_secs(30 * 24 * 3600);

impl Files {
    /// That of the user; none where there is no home.
    pub(crate) fn of_user() -> Option<Self> {
        Self::at(user_dirs::cache_dir()?.join("pulls"))
    }

    fn at(folder: PathBuf) -> Option<Self> {
        let mut private = fs::DirBuilder::new();
        private.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
        private.create(&folder).ok()?;
        sweep_out(&folder);
        Some(Self { folder })
    }

    fn path(&self, key: &str) -> PathBuf {
        let Hash(hash) = Hash::digest(key);
        self.folder.join(format!("{}.json", &hash[..32]))
    }
}

impl Shelf for Files {
    fn load(&self, key: &str) -> Option<String> {
        fs::read_to_string(self.path(key)).ok()
    }

    fn keep(&self, key: &str, value: &str) {
        let path = self.path(key);
        // Whatever cannot be kept must not leave what was there before: that is older than it seems.
        if value.is_empty() || written(&self.folder, &path, value).is_err() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whole or not at all: another process may read it meanwhile. Such a file is its owner's alone.
pub(crate) fn written(folder: &Path, path: &Path, value: &str) -> std::io::Result<()> {
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(value.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn sweep_out(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|about| about.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age > OLD) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use referee_forge::Shelf;
    use tempfile::TempDir;

    use super::{Files, OLD};

    #[test]
    fn what_is_kept_is_there_until_it_is_replaced_forgotten_or_old() {
        let dir = TempDir::new().expect("a folder");
        let shelf = Files::at(dir.path().join("pulls")).expect("a shelf");
        assert_eq!(shelf.load("a"), None);
        shelf.keep("a", "one");
        shelf.keep("a", "two");
        shelf.keep("b", "three");
        assert_eq!((shelf.load("a").as_deref(), shelf.load("b").as_deref()), (Some("two"), Some("three")));
        shelf.keep("a", "");
        assert_eq!(shelf.load("a"), None);
        assert_eq!(fs::read_dir(dir.path().join("pulls")).expect("the folder").count(), 1, "nothing is left aside");

        let file = File::options().write(true).open(shelf.path("b")).expect("the file");
        file.set_modified(SystemTime::now() - OLD - Duration::from_secs(9)).expect("a time long ago");
        let shelf = Files::at(dir.path().join("pulls")).expect("a shelf");
        assert_eq!(shelf.load("b"), None);
    }
}
