use referee_core::model::Sha;
use referee_git::{Git, GitError, GitIdentity};

use crate::repository::Repository;

#[test]
fn common_ancestors_are_found() {
    let repository = Repository::new();
    let base = repository.commit();
    let main = {
        repository.write("a", "1\n");
        repository.commit()
    };
    repository.run(&["switch", "--quiet", "--create=topic", base.as_str()]);
    let topic = {
        repository.write("b", "1\n");
        repository.commit()
    };
    repository.run(&["switch", "--quiet", "--orphan=alone"]);
    let alone = {
        repository.write("c", "1\n");
        repository.commit()
    };
    let git = repository.discovered();
    assert_eq!(git.merge_base(&main, &topic).expect("a result"), Some(base.clone()));
    assert_eq!(git.merge_base(&main, &alone).expect("a result"), None);
    assert!(git.is_ancestor(&base, &topic).expect("a result"));
    assert!(git.is_ancestor(&base, &base).expect("a result"));
    assert!(!git.is_ancestor(&topic, &base).expect("a result"));
    assert!(git.has_commit(&alone).expect("a result"));
    assert!(!git.has_commit(&repository.empty_tree()).expect("a result"), "a tree is not a commit");
}

#[test]
fn a_missing_commit_is_named_in_the_error() {
    let repository = Repository::new();
    let here = repository.commit();
    let missing = Sha::from("0123456789012345678901234567890123456789");
    let git = repository.discovered();
    assert!(!git.has_commit(&missing).expect("a result"));
    let errors = [
        git.merge_base(&here, &missing).expect_err("it is missing"),
        git.is_ancestor(&missing, &here).expect_err("it is missing"),
        git.diff(&here, &missing).expect_err("it is missing"),
        git.log(Some(&missing), &here, 10).expect_err("it is missing"),
        git.read_commit(&missing).expect_err("it is missing"),
        git.read_files(&missing, &["file"]).expect_err("it is missing"),
    ];
    for error in errors {
        assert!(matches!(&error, GitError::CommitNotFound(sha) if *sha == missing), "{error:?}");
    }
}

#[test]
fn a_commit_beyond_a_shallow_clone_is_reported_with_a_hint() {
    let repository = Repository::new();
    let first = repository.commit();
    let second = repository.commit();
    let url = format!("file://{}", repository.path("").display());
    repository.run(&["clone", "--quiet", "--depth=1", &url, "shallow"]);
    let shallow = Git::discover(&repository.path("shallow")).expect("a repository");
    assert!(shallow.is_shallow().expect("a result"));
    assert!(!repository.discovered().is_shallow().expect("a result"));
    assert_eq!(shallow.head().expect("a result").commit(), Some(&second));
    let error = shallow.diff(&first, &second).expect_err("it is missing");
    assert!(matches!(&error, GitError::CommitNotFound(sha) if *sha == first), "{error:?}");
    assert!(error.hint().is_some_and(|hint| hint.contains("--unshallow")));
}

#[test]
fn commit_metadata_is_read() {
    let repository = Repository::new();
    let first = repository.commit();
    repository.run(&["commit", "--quiet", "--allow-empty", "--message=größe:\ntwo lines\n\nbody\n"]);
    let second = repository.head();
    repository.run(&["config", "log.showSignature", "true"]);
    repository.run(&["config", "i18n.logOutputEncoding", "latin1"]);
    let git = repository.discovered();
    let info = git.read_commit(&second).expect("a commit");
    assert_eq!((info.subject.as_str(), info.committed_at), ("größe: two lines", 1_767_225_600));
    assert_eq!((info.author_name.as_str(), info.author_email.as_str()), ("Test", "test@localhost"));
    assert_eq!((&info.sha, info.parents.as_slice()), (&second, std::slice::from_ref(&first)));
    let names = |from, limit| -> Vec<Sha> {
        let log = git.log(from, &second, limit).expect("a log");
        log.into_iter().map(|info| info.sha).collect()
    };
    assert_eq!(names(None, 10), [second.clone(), first.clone()]);
    assert_eq!(names(Some(&first), 10), std::slice::from_ref(&second));
    assert_eq!(names(None, 1), std::slice::from_ref(&second));
    assert_eq!(git.read_commit(&first).expect("a commit").parents, []);
}

#[test]
fn the_author_identity_is_the_one_git_would_use() {
    let repository = Repository::new();
    repository.run(&["config", "user.name", "Ada"]);
    repository.run(&["config", "user.email", "ada@localhost"]);
    let git = repository.discovered();
    let ada = GitIdentity { name: Some("Ada".to_owned()), email: Some("ada@localhost".to_owned()) };
    assert_eq!(git.author_identity().expect("a result"), ada);
    repository.run(&["config", "user.email", ""]);
    repository.run(&["config", "user.useConfigOnly", "true"]);
    assert_eq!(git.author_identity().expect("a result").name, ada.name, "a missing address does not hide the name");
}
