//! A git repository for one test, and its local forge.

use std::path::{Path, PathBuf};
use std::process::Command;

use referee_core::model::{Login, PullNumber, Sha, Time};
use referee_forge::local::{LocalForge, LocalUser};
use referee_git::Git;
use tempfile::TempDir;

pub(crate) const FILE: &str = "src/a.rs";

/// The forge's clock in these tests.
pub(crate) const NOW: Time = Time(1_794_739_200);

pub(crate) fn now() -> Time {
    NOW
}

pub(crate) struct TestRepo {
    folder: TempDir,
    pub(crate) top: PathBuf,
}

impl TestRepo {
    /// Creates a repository with one commit on `main`.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().join("api");
        std::fs::create_dir(&top).expect("a folder");
        let repo = Self { folder, top };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo.commit("README.md", "an api\n");
        repo
    }

    /// Creates and checks out a branch off `main` with one commit.
    pub(crate) fn branch(&self, name: &str) -> Sha {
        self.git(&["checkout", "--quiet", "-b", name, "main"]);
        self.commit(FILE, "fn one() {}\nfn two() {}\nfn three() {}\n")
    }

    /// Writes a file and commits it on the current branch.
    pub(crate) fn commit(&self, path: &str, text: &str) -> Sha {
        let file = self.top.join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", &format!("--message=change {path}")]);
        Sha::from(self.git(&["rev-parse", "HEAD"]).trim())
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Alice", "-c", "user.email=alice@example.org", "-c", "commit.gpgSign=false"])
            .args(arguments)
            .current_dir(&self.top)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_DATE", "2026-11-15T10:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-11-15T10:00:00Z")
            .output()
            .expect("run git");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns a path beside the checkout that does not exist yet.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.top.join(".git/referee/referee.db")
    }

    pub(crate) fn forge(&self) -> LocalForge {
        forge_in(&self.top)
    }

    /// Creates a branch and opens its pull as alice.
    pub(crate) fn pull(&self, branch: &str) -> (LocalForge, PullNumber, Sha) {
        let head = self.branch(branch);
        let forge = self.forge();
        let pull = forge.open_range(branch, "main", &alice()).expect("a pull");
        (forge, pull, head)
    }
}

/// Opens the local forge of the repository that contains the folder.
pub(crate) fn forge_in(folder: &Path) -> LocalForge {
    LocalForge::open(Git::discover(folder).expect("a repository"), now).expect("a forge")
}

pub(crate) fn alice() -> Login {
    Login::from("alice")
}

pub(crate) fn ruth(forge: &LocalForge) -> LocalUser<'_> {
    forge.as_user(&Login::from("ruth"))
}
