use referee_core::model::Sha;
use referee_git::{CheckedOut, Git, GitError};

use crate::repository::Repository;

#[test]
fn a_revision_resolves_to_a_commit_or_none() {
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
        ("missing", None),
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
        assert_eq!(git.resolve(rev).expect("a result").as_ref(), commit, "{rev:?}");
    }
}

#[test]
fn head_is_a_branch_or_detached() {
    let repository = Repository::new();
    let git = repository.discovered();
    assert_eq!(git.head().expect("a result"), CheckedOut::Branch { name: "main".to_owned(), commit: None });
    assert_eq!(git.branches().expect("a result"), []);
    assert_eq!(git.default_branch().expect("a result"), None);
    let first = repository.commit();
    let head = git.head().expect("a result");
    assert_eq!(
        (head.commit(), &head),
        (Some(&first), &CheckedOut::Branch { name: "main".to_owned(), commit: Some(first.clone()) })
    );
    repository.run(&["switch", "--quiet", "--detach"]);
    assert_eq!(git.head().expect("a result"), CheckedOut::Detached(first.clone()));
    repository.run(&["branch", "a/b"]);
    let branches = [("a/b".to_owned(), first.clone()), ("main".to_owned(), first)];
    assert_eq!(git.branches().expect("a result"), branches);
}

#[test]
fn the_default_branch_exists() {
    let default = |git: &Git| git.default_branch().expect("a result");
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
fn the_remotes_default_branch_has_priority() {
    let repository = Repository::init(&["--initial-branch=develop"]);
    repository.commit();
    repository.run(&["branch", "main"]);
    repository.run(&["clone", "--quiet", ".", "clone"]);
    let clone = Git::discover(&repository.path("clone")).expect("a repository");
    assert_eq!(clone.default_branch().expect("a result").as_deref(), Some("develop"));
    let url = clone.remote_url("origin").expect("a result").expect("an address");
    assert!(repository.path("").canonicalize().expect("a directory").starts_with(url), "the clone's origin");
    for remote in ["other", "--all", "", "a\0b"] {
        assert_eq!(clone.remote_url(remote).expect("a result"), None, "{remote:?}");
    }
}

#[test]
fn the_time_a_branch_moved_comes_from_the_reflog() {
    let repository = Repository::new();
    let first = repository.commit();
    let git = repository.discovered();
    // Every commit of a test repository has the same time.
    assert_eq!(git.branch_moved_at("main", &first).expect("a result"), Some(1_767_225_600));
    let missing = Sha::from("0123456789012345678901234567890123456789");
    assert_eq!(git.branch_moved_at("main", &missing).expect("a result"), None);
    assert_eq!(git.branch_moved_at("missing", &first).expect("a result"), None);
    assert_eq!(git.branch_moved_at("--all", &first).expect("a result"), None);
}

#[test]
fn a_pinned_commit_survives_garbage_collection() {
    let repository = Repository::new();
    repository.commit();
    repository.run(&["switch", "--quiet", "--create=topic"]);
    let topic = repository.commit();
    let git = repository.discovered();
    git.pin_commit(&topic).expect("it is pinned");
    git.pin_commit(&topic).expect("pinning twice works");
    repository.run(&["switch", "--quiet", "main"]);
    repository.run(&["branch", "--quiet", "-D", "topic"]);
    repository.run(&["reflog", "expire", "--expire=now", "--all"]);
    repository.run(&["gc", "--quiet", "--prune=now"]);
    assert!(git.has_commit(&topic).expect("a result"));
    let missing = Sha::from("0123456789012345678901234567890123456789");
    assert!(matches!(git.pin_commit(&missing), Err(GitError::CommitNotFound(_))));
}
