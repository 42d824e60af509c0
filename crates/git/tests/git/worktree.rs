use referee_core::model::Sha;
use referee_git::{CheckedOut, GitError};

use crate::repository::Repository;

#[test]
fn a_worktree_is_created_and_removed() {
    let repository = Repository::new();
    repository.write("a b/file", "one\n");
    let first = repository.commit();
    repository.write("a b/file", "two\n");
    repository.commit();
    let git = repository.discovered();
    let outside = tempfile::tempdir().expect("a directory");
    let dir = outside.path().join("-a b");
    let worktree = git.add_worktree(&dir, &first).expect("a worktree");
    assert_eq!(std::fs::read(worktree.dir().join("a b/file")).expect("a file"), b"one\n");
    assert_eq!(worktree.git().head().expect("a result"), CheckedOut::Detached(first.clone()));
    assert_eq!(worktree.git().common_dir(), git.common_dir());
    std::fs::write(dir.join("left over"), "").expect("a file");
    worktree.remove().expect("it is removed");
    assert!(!dir.exists());

    drop(git.add_worktree(&dir, &first).expect("a worktree"));
    assert!(!dir.exists(), "deleted on drop");

    let lost = git.add_worktree(&dir, &first).expect("a worktree");
    std::fs::remove_dir_all(&dir).expect("it was there");
    std::mem::forget(lost);
    git.add_worktree(&dir, &first).expect("a directory deleted by hand is created again");
    assert_eq!(repository.run(&["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);

    std::fs::create_dir_all(dir.join("other files")).expect("a directory");
    assert!(matches!(git.add_worktree(&dir, &first), Err(GitError::CommandFailed { .. })));
    assert!(dir.join("other files").exists());
    let missing = Sha::from("0123456789012345678901234567890123456789");
    let error = git.add_worktree(&outside.path().join("new"), &missing).expect_err("it is missing");
    assert!(matches!(error, GitError::CommitNotFound(_)), "{error:?}");
}
