use std::fs;

use referee_core::model::Sha;
use referee_git::{BranchPush, GitError};

use crate::repository::Repository;

/// A repository with three commits, and a bare one that has the first on `feature`.
struct Two {
    here: Repository,
    there: Repository,
    commits: [Sha; 3],
}

impl Two {
    fn new() -> Self {
        let (here, there) = (Repository::new(), Repository::init(&["--bare"]));
        let commits = ["one\n", "two\n", "three\n"].map(|text| {
            here.write("a", text);
            here.commit()
        });
        here.run(&[
            "push",
            "--quiet",
            &there.path("").display().to_string(),
            &format!("{}:refs/heads/feature", commits[0]),
        ]);
        Self { here, there, commits }
    }

    fn push(&self, branch: &str, commit: usize, over: Option<usize>) -> Result<(), GitError> {
        let url = self.there.path("").display().to_string();
        let over = over.map(|at| &self.commits[at]);
        self.here
            .git()
            .push_commit(&BranchPush { url: &url, branch, commit: &self.commits[commit], expected: over }, None)
    }

    fn tip(&self, branch: &str) -> Option<Sha> {
        self.there.git().resolve(&format!("refs/heads/{branch}")).expect("an answer")
    }
}

// spec: SAF-1 @core
#[test]
fn a_push_goes_over_what_was_seen_and_over_nothing_else() {
    let two = Two::new();
    two.push("feature", 1, Some(0)).expect("it was there");
    assert_eq!(two.tip("feature"), Some(two.commits[1].clone()));
    two.push("feature", 1, Some(0)).expect("it is there already");
    for over in [Some(0), Some(2), None] {
        let error = two.push("feature", 2, over).expect_err("another one is there");
        assert!(matches!(&error, GitError::BranchMoved { branch } if branch == "feature"), "{over:?}: {error:?}");
    }
    two.push("feature", 0, Some(1)).expect("history may be rewritten");
    assert_eq!(two.tip("feature"), Some(two.commits[0].clone()));
    two.push("referee/issue-7", 2, None).expect("a new one");
    let error = two.push("referee/issue-8", 2, Some(0)).expect_err("there is no such branch");
    assert!(matches!(error, GitError::BranchMoved { .. }), "{error:?}");
    assert_eq!(two.tip("referee/issue-8"), None);
}

#[test]
fn only_one_branch_is_pushed_to() {
    let two = Two::new();
    two.here.run(&["tag", "--annotate", "--message=t", "v1", two.commits[1].as_str()]);
    two.here.run(&["config", "push.followTags", "true"]);
    two.here.write(".git/hooks/pre-push", "#!/bin/sh\nexit 1\n");
    two.push("feature", 1, Some(0)).expect("no hook has a say");
    assert_eq!(two.there.run(&["for-each-ref", "--format=%(refname)"]).trim(), "refs/heads/feature");
    for name in
        ["", "a b", "-x", "../x", "a..b", "a:b", "a\n", "x.lock", "@{u}", "refs/heads/feature:refs/heads/main", "*"]
    {
        let error = two.push(name, 1, None).expect_err("no branch is called so");
        assert!(matches!(error, GitError::NotABranch(_)), "{name:?}: {error:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_refuses_says_why() {
    use std::os::unix::fs::PermissionsExt;
    let two = Two::new();
    let hook = two.there.path("hooks/pre-receive");
    fs::create_dir_all(two.there.path("hooks")).expect("a folder");
    fs::write(&hook, "#!/bin/sh\necho 'the branch is protected' >&2\nexit 1\n").expect("a hook");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("it may run");
    let error = two.push("feature", 1, Some(0));
    match error {
        Err(GitError::PushDenied { branch, why }) => {
            assert_eq!(branch, "feature");
            assert!(why.contains("protected"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(two.tip("feature"), Some(two.commits[0].clone()));
}

#[test]
fn a_server_that_is_not_there_is_told_apart() {
    let two = Two::new();
    let push = |url: &str| {
        let [first, ..] = &two.commits;
        two.here.git().push_commit(&BranchPush { url, branch: "x", commit: first, expected: None }, None)
    };
    let nowhere = two.there.path("nowhere").display().to_string();
    assert!(matches!(push(&nowhere), Err(GitError::CommandFailed { command: "push", .. })));
    assert!(matches!(push("https://ada:hunter2@localhost/x"), Err(GitError::UnsupportedUrl { .. })));
    assert!(matches!(push("ext::sh -c true"), Err(GitError::UnsupportedUrl { .. })));
}
