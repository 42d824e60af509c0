use std::path::Path;
use std::process::Command;

use referee_core::model::Sha;
use referee_git::{Git, GitError, GitIdentity, WorkCopy};

use crate::repository::Repository;

/// Runs git in a run_git copy, as a worker would.
pub(crate) fn run_git(dir: &Path, arguments: &[&str]) -> String {
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

/// A repository whose branches `feature` (`head`) and `main` (`base`) have diverged.
pub(crate) struct DivergedBranches {
    pub(crate) repository: Repository,
    pub(crate) base: Sha,
    pub(crate) head: Sha,
    pub(crate) outside: tempfile::TempDir,
}

impl DivergedBranches {
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
        Self { repository, base, head, outside: tempfile::tempdir().expect("a directory") }
    }

    pub(crate) fn copy(&self) -> WorkCopy {
        let dir = self.outside.path().join("-run_git copy");
        self.repository.git().create_work_copy(&dir, &self.head, &self.base, &bot()).expect("a run_git copy")
    }
}

#[test]
fn a_work_copy_is_an_independent_repository() {
    let fixture = DivergedBranches::new();
    fixture.repository.run(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    let copy = fixture.copy();
    let dir = copy.dir().to_owned();
    assert_eq!(run_git(&dir, &["rev-parse", "HEAD"]), fixture.head.as_str());
    assert_eq!(run_git(&dir, &["rev-parse", "base"]), fixture.base.as_str());
    assert_eq!(run_git(&dir, &["status", "--porcelain"]), "");
    assert_eq!(run_git(&dir, &["remote"]), "");
    assert_eq!(std::fs::read(dir.join("a")).expect("a file"), b"one\n", "no filter runs");
    assert!(!dir.join(".git/hooks").exists() && !dir.join(".git/objects/info/alternates").exists());

    std::fs::write(dir.join("b"), "fixed\n").expect("a file");
    run_git(&dir, &["commit", "--quiet", "--all", "--message=fixed"]);
    assert_eq!(run_git(&dir, &["log", "-1", "--format=%an <%ae>"]), "Review Botx <bot@localhost>");
    run_git(&dir, &["rebase", "--quiet", "base"]);
    assert_eq!(run_git(&dir, &["log", "--format=%H", "-1", "HEAD~2"]), fixture.base.as_str());
    let made = Sha::from(run_git(&dir, &["rev-parse", "HEAD"]).as_str());
    assert!(
        !fixture.repository.git().has_commit(&made).expect("a result"),
        "a commit in the copy does not reach the source"
    );

    drop(copy);
    assert!(!dir.exists(), "deleted on drop");
}

#[test]
fn a_work_copy_of_a_partial_cache_contains_all_blobs() {
    let fixture = DivergedBranches::new();
    fixture.repository.run(&["config", "uploadpack.allowFilter", "true"]);
    let cache = Git::open_cache(&fixture.outside.path().join("cache")).expect("a cache");
    let url = format!("file://{}", fixture.repository.path("").display());
    cache.fetch_commits(&url, &[fixture.head.clone(), fixture.base.clone()], None).expect("a fetch");
    let dir = fixture.outside.path().join("copy");
    let copy = cache.create_work_copy(&dir, &fixture.head, &fixture.base, &bot()).expect("a run_git copy");
    fixture.repository.run(&["config", "uploadpack.allowFilter", "false"]);
    std::fs::rename(fixture.repository.path(".git"), fixture.repository.path("gone")).expect("it goes");
    run_git(copy.dir(), &["fsck", "--full", "--strict"]);
    run_git(copy.dir(), &["rebase", "--quiet", "base"]);
    let made = cache.fetch_from_work_copy(&copy, 1 << 20).expect("no remote is needed");
    assert_eq!(made.as_str(), run_git(copy.dir(), &["rev-parse", "HEAD"]));
    assert_eq!(cache.read_files(&made, &["b"]).expect("a file"), [Some(b"feature\n".to_vec())]);
}

#[test]
fn a_work_copy_needs_existing_commits_and_a_new_directory() {
    let fixture = DivergedBranches::new();
    let git = fixture.repository.git();
    let missing = Sha::from("0123456789012345678901234567890123456789");
    let new = fixture.outside.path().join("new");
    let error = git.create_work_copy(&new, &missing, &fixture.base, &bot()).expect_err("it is missing");
    assert!(matches!(&error, GitError::CommitNotFound(sha) if *sha == missing), "{error:?}");
    assert!(!new.exists());
    let error = git.create_work_copy(&new, &Sha::from("--all"), &fixture.base, &bot()).expect_err("not a commit id");
    assert!(matches!(error, GitError::NotASha(_)), "{error:?}");
    std::fs::create_dir(&new).expect("a directory");
    std::fs::write(new.join("kept"), "").expect("a file");
    let error = git.create_work_copy(&new, &fixture.head, &fixture.base, &bot()).expect_err("it is there");
    assert!(matches!(error, GitError::Filesystem { .. }), "{error:?}");
    assert!(new.join("kept").exists());
}
