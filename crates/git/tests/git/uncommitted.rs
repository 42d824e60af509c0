use referee_core::model::Sha;
use referee_git::{Git, GitError, parse_diff};

use crate::repository::Repository;

fn changed_paths(git: &Git, old: &Sha, new: &Sha) -> Vec<String> {
    let diff = git.diff(old, new).expect("a diff");
    parse_diff(&diff).expect("a valid diff").into_iter().map(|file| file.path).collect()
}

#[test]
fn uncommitted_changes_become_a_commit_without_moving_index_or_branch() {
    let repository = Repository::new();
    repository.write(".gitignore", "ignored\n");
    for name in ["staged", "edited", "removed"] {
        repository.write(name, "one\n");
    }
    let head = repository.commit();
    let git = repository.discovered();
    assert!(git.is_clean().expect("a result"));
    repository.write("new file", "new\n");
    repository.write("ignored", "no\n");
    assert!(git.is_clean().expect("a result"), "only tracked files count");
    repository.write("staged", "two\n");
    repository.run(&["add", "staged"]);
    assert!(!git.is_clean().expect("a result"));
    repository.write("edited", "two\n");
    std::fs::remove_file(repository.path("removed")).expect("a file");
    let index = std::fs::read(repository.path(".git/index")).expect("an index");

    let (staged, working) = (git.commit_staged().expect("a commit"), git.commit_work_tree().expect("a commit"));
    assert_eq!(changed_paths(&git, &head, &staged), ["staged"]);
    assert_eq!(changed_paths(&git, &head, &working), ["edited", "new file", "removed", "staged"]);
    assert_eq!(
        (git.commit_staged().expect("a commit"), git.commit_work_tree().expect("a commit")),
        (staged.clone(), working)
    );
    let info = git.read_commit(&staged).expect("a commit");
    assert_eq!(
        (info.parents, info.author_name.as_str(), info.committed_at),
        (vec![head.clone()], "referee", 1_767_225_600)
    );

    assert_eq!(std::fs::read(repository.path(".git/index")).expect("an index"), index, "the user's index is unchanged");
    assert_eq!((repository.head(), git.branches().expect("a result").len()), (head, 1));
    let files = std::fs::read_dir(repository.path(".git")).expect("a directory");
    let leftovers =
        files.filter_map(|file| file.ok()?.file_name().into_string().ok()).filter(|name| name.starts_with("referee"));
    assert_eq!(leftovers.count(), 0, "temporary files are deleted");
}

#[test]
fn reverting_a_change_gives_the_same_commit_again() {
    let repository = Repository::new();
    repository.write("file", "one\n");
    repository.commit();
    let git = repository.discovered();
    let before = git.commit_work_tree().expect("a commit");
    repository.write("file", "two\n");
    assert_ne!(git.commit_work_tree().expect("a commit"), before);
    repository.write("file", "one\n");
    assert_eq!(git.commit_work_tree().expect("a commit"), before);
}

#[test]
fn uncommitted_changes_work_before_the_first_commit() {
    let repository = Repository::new();
    let git = repository.discovered();
    let nothing = repository.empty_tree();
    assert_eq!(changed_paths(&git, &nothing, &git.commit_staged().expect("a commit")), [] as [&str; 0]);
    repository.write("first", "one\n");
    let working = git.commit_work_tree().expect("a commit");
    assert_eq!(git.read_commit(&working).expect("a commit").parents, []);
    assert_eq!(changed_paths(&git, &nothing, &working), ["first"]);
    assert_eq!(git.resolve("HEAD").expect("a result"), None);
}

#[test]
fn a_linked_worktree_has_its_own_index() {
    let repository = Repository::new();
    let head = repository.commit();
    repository.run(&["worktree", "add", "--quiet", "linked"]);
    repository.write("linked/deep/file", "one\n");
    let linked = Git::discover(&repository.path("linked/deep")).expect("a repository");
    assert_eq!(changed_paths(&linked, &head, &linked.commit_work_tree().expect("a commit")), ["deep/file"]);
    assert_eq!(changed_paths(&linked, &head, &linked.commit_staged().expect("a commit")), [] as [&str; 0]);
}

#[test]
fn a_bare_repository_has_no_work_tree() {
    let repository = Repository::init(&["--bare"]);
    let git = repository.discovered();
    assert!(matches!(git.is_clean(), Err(GitError::NoWorkTree { .. })));
    assert!(matches!(git.commit_staged(), Err(GitError::NoWorkTree { .. })));
    assert!(matches!(git.commit_work_tree(), Err(GitError::NoWorkTree { .. })));
}
