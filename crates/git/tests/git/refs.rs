use referee_core::model::Sha;
use referee_git::{CheckedOut, Git, GitError};

use crate::repository::Repository;

#[test]
fn a_revision_is_a_commit_or_nothing() {
    let repository = Repository::new();
    repository.write("file", "one\n");
    let first = repository.commit();
    let second = repository.commit();
    repository.run(&["tag", "--annotate", "--message=tag", "v1", first.as_str()]);
    repository.run(&["branch", "größe/a", first.as_str()]);
    let git = repository.discovered();
    for (rev, commit) in [
        ("HEAD", Some(&second)),
        ("main", Some(&second)),
        ("HEAD~1", Some(&first)),
        ("v1", Some(&first)),
        ("größe/a", Some(&first)),
        (first.short(), Some(&first)),
        ("nobody", None),
        ("HEAD~9", None),
        ("HEAD@{upstream}", None),
        ("HEAD^{tree}", None),
        ("HEAD:file", None),
        ("^main", None),
        ("main~1..main", None),
        ("--all", None),
        ("-q", None),
        ("", None),
        ("a\0b", None),
        ("a b\n", None),
        ("0123456789012345678901234567890123456789", None),
    ] {
        assert_eq!(git.resolve(rev).expect("an answer").as_ref(), commit, "{rev:?}");
    }
}

#[test]
fn what_is_checked_out_is_a_branch_or_a_commit() {
    let repository = Repository::new();
    let git = repository.discovered();
    assert_eq!(git.head().expect("an answer"), CheckedOut::Branch { name: "main".to_owned(), commit: None });
    assert_eq!(git.branches().expect("an answer"), []);
    assert_eq!(git.default_branch().expect("an answer"), None);
    let first = repository.commit();
    let head = git.head().expect("an answer");
    assert_eq!(
        (head.commit(), &head),
        (Some(&first), &CheckedOut::Branch { name: "main".to_owned(), commit: Some(first.clone()) })
    );
    repository.run(&["switch", "--quiet", "--detach"]);
    assert_eq!(git.head().expect("an answer"), CheckedOut::Detached(first.clone()));
    repository.run(&["branch", "a/b"]);
    let branches = [("a/b".to_owned(), first.clone()), ("main".to_owned(), first)];
    assert_eq!(git.branches().expect("an answer"), branches);
}

#[test]
fn the_default_branch_is_one_that_is_there() {
    let default = |git: &Git| git.default_branch().expect("an answer");
    let repository = Repository::init(&["--initial-branch=odd"]);
    repository.commit();
    repository.run(&["branch", "main/other"]);
    let git = repository.discovered();
    assert_eq!(default(&git), None, "`main/other` is not `main`");
    repository.run(&["branch", "--delete", "main/other"]);
    for name in ["trunk", "master", "main"] {
        repository.run(&["branch", name]);
        assert_eq!(default(&git).as_deref(), Some(name));
    }
}

#[test]
fn the_remote_s_default_branch_comes_first() {
    let repository = Repository::init(&["--initial-branch=develop"]);
    repository.commit();
    repository.run(&["branch", "main"]);
    repository.run(&["clone", "--quiet", ".", "clone"]);
    let clone = Git::discover(&repository.path("clone")).expect("a repository");
    assert_eq!(clone.default_branch().expect("an answer").as_deref(), Some("develop"));
    let url = clone.remote_url("origin").expect("an answer").expect("an address");
    assert!(repository.path("").canonicalize().expect("a folder").starts_with(url), "it was cloned from there");
    for remote in ["other", "--all", "", "a\0b"] {
        assert_eq!(clone.remote_url(remote).expect("an answer"), None, "{remote:?}");
    }
}

#[test]
fn when_a_branch_moved_is_remembered() {
    let repository = Repository::new();
    let first = repository.commit();
    let git = repository.discovered();
    // The repository of a test knows one moment only.
    assert_eq!(git.branch_moved_at("main", &first).expect("an answer"), Some(1_767_225_600));
    let nobody = Sha::from("0123456789012345678901234567890123456789");
    assert_eq!(git.branch_moved_at("main", &nobody).expect("an answer"), None);
    assert_eq!(git.branch_moved_at("nobody", &first).expect("an answer"), None);
    assert_eq!(git.branch_moved_at("--all", &first).expect("an answer"), None);
}

#[test]
fn a_kept_commit_outlives_its_branch() {
    let repository = Repository::new();
    repository.commit();
    repository.run(&["switch", "--quiet", "--create=topic"]);
    let topic = repository.commit();
    let git = repository.discovered();
    git.pin_commit(&topic).expect("it is kept");
    git.pin_commit(&topic).expect("it is kept again");
    repository.run(&["switch", "--quiet", "main"]);
    repository.run(&["branch", "--quiet", "-D", "topic"]);
    repository.run(&["reflog", "expire", "--expire=now", "--all"]);
    repository.run(&["gc", "--quiet", "--prune=now"]);
    assert!(git.has_commit(&topic).expect("an answer"));
    let nobody = Sha::from("0123456789012345678901234567890123456789");
    assert!(matches!(git.pin_commit(&nobody), Err(GitError::CommitNotFound(_))));
}
