use std::path::Path;
use std::process::Command;

use referee_core::model::Sha;
use referee_git::{Git, GitError, GitIdentity, WorkCopy};

use crate::repository::Repository;

/// Somebody who works in a copy, as they would.
pub(crate) fn work(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub(crate) fn bot() -> GitIdentity {
    GitIdentity { name: Some("Review \"Bot\"\nx".to_owned()), email: Some("bot@localhost".to_owned()) }
}

/// A branch that left the base, which went on; and a copy at the branch.
pub(crate) struct Parted {
    pub(crate) repository: Repository,
    pub(crate) base: Sha,
    pub(crate) head: Sha,
    pub(crate) outside: tempfile::TempDir,
}

impl Parted {
    pub(crate) fn new() -> Self {
        let repository = Repository::new();
        repository.write("a", "one\n");
        repository.write(".gitattributes", "a filter=shout\n");
        repository.commit();
        repository.run(&["switch", "--quiet", "--create", "feature"]);
        repository.write("b", "feature\n");
        let head = repository.commit();
        repository.run(&["switch", "--quiet", "main"]);
        repository.write("c", "base\n");
        let base = repository.commit();
        Self { repository, base, head, outside: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn copy(&self) -> WorkCopy {
        let dir = self.outside.path().join("-work copy");
        self.repository.git().create_work_copy(&dir, &self.head, &self.base, &bot()).expect("a work copy")
    }
}

#[test]
fn a_work_copy_is_a_repository_of_its_own() {
    let parted = Parted::new();
    parted.repository.run(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    let copy = parted.copy();
    let dir = copy.dir().to_owned();
    assert_eq!(work(&dir, &["rev-parse", "HEAD"]), parted.head.as_str());
    assert_eq!(work(&dir, &["rev-parse", "base"]), parted.base.as_str());
    assert_eq!(work(&dir, &["status", "--porcelain"]), "");
    assert_eq!(work(&dir, &["remote"]), "");
    assert_eq!(std::fs::read(dir.join("a")).expect("a file"), b"one\n", "no filter runs");
    assert!(!dir.join(".git/hooks").exists() && !dir.join(".git/objects/info/alternates").exists());

    std::fs::write(dir.join("b"), "mended\n").expect("a file");
    work(&dir, &["commit", "--quiet", "--all", "--message=mended"]);
    assert_eq!(work(&dir, &["log", "-1", "--format=%an <%ae>"]), "Review Botx <bot@localhost>");
    work(&dir, &["rebase", "--quiet", "base"]);
    assert_eq!(work(&dir, &["log", "--format=%H", "-1", "HEAD~2"]), parted.base.as_str());
    let made = Sha::from(work(&dir, &["rev-parse", "HEAD"]).as_str());
    assert!(!parted.repository.git().has_commit(&made).expect("an answer"), "what is done there stays there");

    drop(copy);
    assert!(!dir.exists(), "it goes with the value");
}

#[test]
fn what_a_cache_left_on_the_server_is_in_its_work_copies() {
    let parted = Parted::new();
    parted.repository.run(&["config", "uploadpack.allowFilter", "true"]);
    let cache = Git::open_cache(&parted.outside.path().join("cache")).expect("a cache");
    let url = format!("file://{}", parted.repository.path("").display());
    cache.fetch_commits(&url, &[parted.head.clone(), parted.base.clone()], None).expect("they are there");
    let dir = parted.outside.path().join("copy");
    let copy = cache.create_work_copy(&dir, &parted.head, &parted.base, &bot()).expect("a work copy");
    parted.repository.run(&["config", "uploadpack.allowFilter", "false"]);
    std::fs::rename(parted.repository.path(".git"), parted.repository.path("gone")).expect("it goes");
    work(copy.dir(), &["fsck", "--full", "--strict"]);
    work(copy.dir(), &["rebase", "--quiet", "base"]);
    let made = cache.fetch_from_work_copy(&copy, 1 << 20).expect("nobody has to be asked");
    assert_eq!(made.as_str(), work(copy.dir(), &["rev-parse", "HEAD"]));
    assert_eq!(cache.read_files(&made, &["b"]).expect("a file"), [Some(b"feature\n".to_vec())]);
}

#[test]
fn a_work_copy_is_made_of_what_is_there_where_nothing_is() {
    let parted = Parted::new();
    let git = parted.repository.git();
    let nobody = Sha::from("0123456789012345678901234567890123456789");
    let new = parted.outside.path().join("new");
    let error = git.create_work_copy(&new, &nobody, &parted.base, &bot()).expect_err("it is missing");
    assert!(matches!(&error, GitError::CommitNotFound(it) if *it == nobody), "{error:?}");
    assert!(!new.exists());
    let error = git.create_work_copy(&new, &Sha::from("--all"), &parted.base, &bot()).expect_err("it is no commit");
    assert!(matches!(error, GitError::NotASha(_)), "{error:?}");
    std::fs::create_dir(&new).expect("a folder");
    std::fs::write(new.join("kept"), "").expect("a file");
    let error = git.create_work_copy(&new, &parted.head, &parted.base, &bot()).expect_err("it is there");
    assert!(matches!(error, GitError::Filesystem { .. }), "{error:?}");
    assert!(new.join("kept").exists());
}
