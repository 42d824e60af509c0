use std::fs;

use referee_core::model::Sha;
use referee_git::{BranchPush, GitError};

use crate::repository::Repository;

/// A local repository with three commits, and a bare remote that has the first on `feature`.
struct LocalAndRemote {
    local: Repository,
    remote: Repository,
    commits: [Sha; 3],
}

impl LocalAndRemote {
    fn new() -> Self {
        let (local, remote) = (Repository::new(), Repository::init(&["--bare"]));
        let commits = ["one\n", "repos\n", "three\n"].map(|text| {
            local.write("a", text);
            local.commit()
        });
        local.run(&[
            "push",
            "--quiet",
            &remote.path("").display().to_string(),
            &format!("{}:refs/heads/feature", commits[0]),
        ]);
        Self { local, remote, commits }
    }

    fn push(&self, branch: &str, commit: usize, expected: Option<usize>) -> Result<(), GitError> {
        let url = self.remote.path("").display().to_string();
        let expected = expected.map(|index| &self.commits[index]);
        self.local.git().push_commit(&BranchPush { url: &url, branch, commit: &self.commits[commit], expected }, None)
    }

    fn tip(&self, branch: &str) -> Option<Sha> {
        self.remote.git().resolve(&format!("refs/heads/{branch}")).expect("a result")
    }
}

// spec: SAF-1 @core
#[test]
fn a_push_replaces_only_the_expected_commit() {
    let repos = LocalAndRemote::new();
    repos.push("feature", 1, Some(0)).expect("the branch is at the expected commit");
    assert_eq!(repos.tip("feature"), Some(repos.commits[1].clone()));
    repos.push("feature", 1, Some(0)).expect("the branch is at this commit already");
    for expected in [Some(0), Some(2), None] {
        let error = repos.push("feature", 2, expected).expect_err("the branch is at another commit");
        assert!(matches!(&error, GitError::BranchMoved { branch } if branch == "feature"), "{expected:?}: {error:?}");
    }
    repos.push("feature", 0, Some(1)).expect("history may be rewritten");
    assert_eq!(repos.tip("feature"), Some(repos.commits[0].clone()));
    repos.push("referee/issue-7", 2, None).expect("a new one");
    let error = repos.push("referee/issue-8", 2, Some(0)).expect_err("there is no such branch");
    assert!(matches!(error, GitError::BranchMoved { .. }), "{error:?}");
    assert_eq!(repos.tip("referee/issue-8"), None);
}

#[test]
fn only_the_named_branch_is_pushed() {
    let repos = LocalAndRemote::new();
    repos.local.run(&["tag", "--annotate", "--message=t", "v1", repos.commits[1].as_str()]);
    repos.local.run(&["config", "push.followTags", "true"]);
    repos.local.write(".git/hooks/pre-push", "#!/bin/sh\nexit 1\n");
    repos.push("feature", 1, Some(0)).expect("no hook runs");
    assert_eq!(repos.remote.run(&["for-each-ref", "--format=%(refname)"]).trim(), "refs/heads/feature");
    for name in
        ["", "a b", "-x", "../x", "a..b", "a:b", "a\n", "x.lock", "@{u}", "refs/heads/feature:refs/heads/main", "*"]
    {
        let error = repos.push(name, 1, None).expect_err("an invalid branch name");
        assert!(matches!(error, GitError::NotABranch(_)), "{name:?}: {error:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_rejected_push_reports_the_servers_reason() {
    use std::os::unix::fs::PermissionsExt;
    let repos = LocalAndRemote::new();
    let hook = repos.remote.path("hooks/pre-receive");
    fs::create_dir_all(repos.remote.path("hooks")).expect("a directory");
    fs::write(&hook, "#!/bin/sh\necho 'the branch is protected' >&2\nexit 1\n").expect("a hook");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("it may run");
    let error = repos.push("feature", 1, Some(0));
    match error {
        Err(GitError::PushDenied { branch, reason }) => {
            assert_eq!(branch, "feature");
            assert!(reason.contains("protected"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(repos.tip("feature"), Some(repos.commits[0].clone()));
}

#[test]
fn a_missing_remote_and_an_unsupported_url_are_different_errors() {
    let repos = LocalAndRemote::new();
    let push = |url: &str| {
        let [first, ..] = &repos.commits;
        repos.local.git().push_commit(&BranchPush { url, branch: "x", commit: first, expected: None }, None)
    };
    let nowhere = repos.remote.path("nowhere").display().to_string();
    assert!(matches!(push(&nowhere), Err(GitError::CommandFailed { command: "push", .. })));
    assert!(matches!(push("https://ada:hunter2@localhost/x"), Err(GitError::UnsupportedUrl { .. })));
    assert!(matches!(push("ext::sh -c true"), Err(GitError::UnsupportedUrl { .. })));
}
