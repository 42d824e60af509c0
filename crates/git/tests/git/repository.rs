//! Temporary repositories for tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use referee_core::model::Sha;
use referee_git::Git;

pub(crate) struct Repository {
    dir: PathBuf,
}

impl Repository {
    pub(crate) fn new() -> Self {
        Self::init(&["--initial-branch=main"])
    }

    /// Creates a repository with options of `git init`.
    pub(crate) fn init(options: &[&str]) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("referee-git-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a temporary directory");
        let repository = Repository { dir };
        repository.run(&[&["init", "--quiet"], options].concat());
        repository
    }

    pub(crate) fn discovered(&self) -> Git {
        Git::discover(&self.dir).expect("a repository")
    }

    pub(crate) fn git(&self) -> Git {
        Git::from_dir(&self.dir)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a directory");
        std::fs::write(path, content).expect("a file");
    }

    /// Commits all files.
    pub(crate) fn commit(&self) -> Sha {
        self.run(&["add", "--all"]);
        self.run(&["commit", "--quiet", "--allow-empty", "--message=step"]);
        self.head()
    }

    pub(crate) fn head(&self) -> Sha {
        Sha::from(self.run(&["rev-parse", "HEAD"]).trim())
    }

    /// Returns the id of the empty tree, to diff a root commit against.
    pub(crate) fn empty_tree(&self) -> Sha {
        Sha::from(self.run(&["hash-object", "-t", "tree", "/dev/null"]).trim())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "commit.gpgSign=false"])
            .args(arguments)
            .current_dir(&self.dir)
            .env_remove("GIT_DIR")
            .env_remove("GIT_OBJECT_DIRECTORY")
            .env_remove("GIT_EXTERNAL_DIFF")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Repository {
    /// Creates a tree from lines of `git ls-tree` and returns its id.
    pub(crate) fn make_tree(&self, listing: &str) -> String {
        let file = self.path(".git/listing");
        std::fs::write(&file, listing).expect("a file");
        let mut git = Command::new("git");
        git.arg("mktree").current_dir(&self.dir).stdin(std::fs::File::open(&file).expect("a file"));
        let output = git.output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Returns two commits whose diff contains every construct that is hard to parse.
pub(crate) fn odd_change() -> (Repository, Sha, Sha) {
    let repository = Repository::new();
    let long: String = (0..60).map(|line| format!("line {line}\n")).collect();
    repository.write("renamed from here", &long);
    repository.write("edited.sql", "-- keep\n-- drop\nselect 1;\n++ odd\n");
    repository.write("mode.sh", "echo\n");
    repository.write("mode and text.sh", "echo one\n");
    repository.write("logo.png", b"\x89PNG\0\x01");
    repository.write("no end", "one\ntwo");
    repository.write("gone.txt", "a\nb\n");
    repository.write("gone empty", "");
    repository.write("windows.txt", "one\r\ntwo\r\n");
    repository.write("latin.txt", b"sign\xe9\n");
    repository.write("two hunks", &long);
    repository.write("becomes a link", "text\n");
    let old = repository.commit();
    repository.run(&["mv", "renamed from here", "größer \"quoted\"\ttab"]);
    repository.write("größer \"quoted\"\ttab", long.replace("line 30\n", "line thirty\n"));
    repository.write("edited.sql", "-- keep\n--- a/trap\n+++ b/trap\n@@ -1 +1 @@\nselect 1;\n");
    repository.run(&["update-index", "--chmod=+x", "mode.sh"]);
    repository.write("logo.png", b"\x89PNG\0\x02");
    repository.write("no end", "one\nthree");
    std::fs::remove_file(repository.path("gone.txt")).expect("a file");
    std::fs::remove_file(repository.path("gone empty")).expect("a file");
    repository.write("windows.txt", "one\r\nthree\r\n");
    repository.write("latin.txt", b"sign\xe8\n");
    repository.write("two hunks", long.replace("line 3\n", "").replace("line 50\n", "line 50\nline 50 1/2\n"));
    repository.write("new empty", "");
    repository.write("ne\u{301}w.txt", "first\n\nthird\n");
    let target = repository.run(&["hash-object", "-w", "mode.sh"]);
    repository.run(&["add", "--all"]);
    repository.run(&["update-index", "--chmod=+x", "mode.sh", "mode and text.sh"]);
    let text = repository.path("mode and text.sh");
    std::fs::write(&text, "echo two\n").expect("a file");
    let blob = repository.run(&["hash-object", "-w", "mode and text.sh"]);
    repository.run(&["update-index", "--cacheinfo", &format!("100755,{},mode and text.sh", blob.trim())]);
    repository.run(&["update-index", "--cacheinfo", &format!("120000,{},becomes a link", target.trim())]);
    repository.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{},module", old.as_str())]);
    repository.run(&["commit", "--quiet", "--message=odd"]);
    let new = repository.head();
    (repository, old, new)
}
