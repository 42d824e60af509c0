//! The pre-push hook, run by `git push` itself against a bare remote.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::test_repo::{TestRepo, changed_files, read_files};

const TOKEN: &str = "AWS_KEY = \"AKIAZ7QHX3M2PLKD5WVT\"\nAWS_SECRET = \"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\"\n";
const CLEAN: &str = "x = 1\n";

/// A repository with the hook, a remote that has `main`, and three branches: two bad, one clean.
struct PushTest {
    repo: TestRepo,
}

impl PushTest {
    fn new() -> Self {
        Self::with_settings(&[])
    }

    fn with_settings(settings: &[[&str; 2]]) -> Self {
        let repo = TestRepo::new();
        let remote = repo.path_outside("remote.git").display().to_string();
        repo.git(&["init", "--quiet", "--bare", "--initial-branch=main", &remote]);
        repo.git(&["remote", "add", "origin", &remote]);
        repo.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
        for [key, value] in settings {
            repo.git(&["config", key, value]);
        }
        repo.run_expecting(0, &["init", "--hooks", "pre-push"]);
        std::fs::remove_file(repo.dir().join("referee.toml")).expect("the config that `init` wrote");
        for (branch, text) in [("bad", TOKEN), ("worse", TOKEN), ("clean", CLEAN)] {
            repo.git(&["switch", "--quiet", "main"]);
            repo.branch(branch, &[(&format!("{branch}.py"), text)]);
        }
        repo.git(&["switch", "--quiet", "main"]);
        Self { repo }
    }

    fn push_command(&self, args: &[&str]) -> Command {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_referee"));
        let folder = program.parent().expect("a folder").display().to_string();
        // The environment of `referee` is the test's own.
        let mut git = Command::new("git");
        for (name, value) in self.repo.referee(&[]).get_envs() {
            git.env(name, value.expect("a value"));
        }
        let path = std::env::var("PATH").expect("a PATH");
        git.env("PATH", format!("{folder}:{path}")).current_dir(self.repo.dir()).arg("push").args(args);
        git
    }

    fn push(&self, args: &[&str]) -> (bool, String) {
        read_result(self.push_command(args).output().expect("git runs"))
    }

    fn assert_pushed(&self, args: &[&str]) {
        let (pushed, err) = self.push(args);
        assert!(pushed, "git push {args:?}: {err}");
    }

    fn assert_refused(&self, args: &[&str], reason: &str) {
        let (pushed, err) = self.push(args);
        assert!(!pushed, "git push {args:?} was not refused: {err}");
        assert!(err.contains("nothing was pushed") && err.contains("--no-verify"), "{err}");
        assert!(err.contains(reason), "`{reason}` in {err}");
    }

    fn remote_refs(&self) -> Vec<String> {
        let refs = self.repo.git(&["ls-remote", "origin"]);
        refs.lines()
            .filter_map(|line| Some(line.split_once('\t')?.1.to_owned()))
            .filter(|name| name != "HEAD")
            .collect()
    }
}

fn read_result(output: Output) -> (bool, String) {
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_pushed_commits_are_judged_whatever_is_checked_out() {
    let test = PushTest::new();
    test.assert_refused(&["origin", "bad"], "changes requested");
    test.repo.git(&["switch", "--quiet", "bad"]);
    test.assert_pushed(&["origin", "clean"]);
    test.assert_refused(&["origin", "HEAD:refs/heads/other"], "changes requested");
    let commit = test.repo.git(&["rev-parse", "bad"]);
    test.assert_refused(&["origin", &format!("{commit}:refs/heads/other")], "changes requested");
    // In another worktree.
    test.repo.git(&["switch", "--quiet", "main"]);
    let tree = test.repo.path_outside("tree").display().to_string();
    test.repo.git(&["worktree", "add", "--quiet", &tree, "worse"]);
    test.assert_refused(&["origin", "worse"], "changes requested");
    let mut git = test.push_command(&["origin", "worse"]);
    let (pushed, err) = read_result(git.current_dir(&tree).output().expect("git runs"));
    assert!(!pushed && err.contains("changes requested"), "{err}");
    assert_eq!(test.remote_refs(), ["refs/heads/clean", "refs/heads/main"]);
}

#[test]
fn every_ref_of_a_push_is_judged() {
    let test = PushTest::new();
    test.assert_refused(&["origin", "clean", "bad"], "changes requested");
    test.assert_refused(&["origin", "--all"], "changes requested");
    assert_eq!(test.remote_refs(), ["refs/heads/main"]);
    test.repo.git(&["tag", "v1", "clean"]);
    test.repo.git(&["tag", "--annotate", "--message", "second", "v2", "bad"]);
    test.assert_pushed(&["origin", "v1"]);
    test.assert_refused(&["origin", "v2"], "changes requested");
    test.assert_pushed(&["origin", "clean"]);
    test.assert_pushed(&["origin", "--delete", "clean"]);
    // A deleted ref brings nothing; the other ref of the same push does.
    test.assert_refused(&["origin", ":refs/tags/v1", "bad"], "changes requested");
    test.assert_pushed(&["--no-verify", "origin", "bad"]);
    // What the remote has already, a tag of it does not bring.
    test.repo.git(&["fetch", "--quiet", "origin"]);
    test.assert_pushed(&["origin", "v2"]);
}

#[test]
fn a_push_to_the_default_branch_and_a_forced_push_are_judged() {
    let test = PushTest::new();
    test.repo.git(&["merge", "--quiet", "clean"]);
    test.assert_pushed(&["origin", "main"]);
    test.repo.git(&["merge", "--quiet", "--no-edit", "bad"]);
    test.assert_refused(&["origin", "main"], "changes requested");
    // A branch takes the unpushed commits of the default branch with it.
    test.repo.branch("topic", &[("t.py", CLEAN)]);
    test.assert_refused(&["origin", "topic"], "changes requested");

    test.assert_pushed(&["origin", "clean"]);
    test.repo.git(&["switch", "--quiet", "clean"]);
    test.repo.write("clean.py", TOKEN);
    test.repo.git(&["commit", "--quiet", "--amend", "--all", "--no-edit"]);
    test.assert_refused(&["--force", "origin", "clean"], "changes requested");
    test.repo.write("clean.py", "x = 2\n");
    test.repo.git(&["commit", "--quiet", "--amend", "--all", "--no-edit"]);
    test.assert_pushed(&["--force", "origin", "clean"]);
}

#[test]
fn without_a_history_to_compare_with_every_file_is_judged() {
    for (text, passes) in [(CLEAN, true), (TOKEN, false)] {
        let test = PushTest::new();
        for name in ["empty", "new"] {
            let url = test.repo.path_outside(name).display().to_string();
            test.repo.git(&["init", "--quiet", "--bare", "--initial-branch=main", &url]);
            test.repo.git(&["remote", "add", name, &url]);
        }
        test.assert_pushed(&["--set-upstream", "new", "main"]);
        // The first commit has the text, the last one does not touch it.
        test.repo.git(&["switch", "--quiet", "--orphan", "alone"]);
        test.repo.write("alone.py", text);
        test.repo.commit("Alone");
        test.repo.write("more.py", CLEAN);
        test.repo.commit("More");
        // A new root beside the remote's history, and as the first push of a default branch to an empty remote.
        for args in [["origin", "alone"], ["empty", "alone:main"]] {
            let (pushed, err) = test.push(&args);
            assert_eq!(pushed, passes, "git push {args:?}: {err}");
            assert!(err.contains("reviewing every file"), "{err}");
            assert!(passes || err.contains("changes requested"), "{err}");
        }
    }
}

#[test]
fn an_accepted_finding_lets_the_branch_pass() {
    let test = PushTest::new();
    test.repo.git(&["switch", "--quiet", "bad"]);
    test.repo.run_expecting(20, &["review"]);
    test.assert_refused(&["origin", "bad"], "changes requested");
    let findings = test.repo.json(&["review"])["findings"].clone();
    for finding in findings.as_array().expect("findings") {
        let command = format!("/referee dismiss {} a sample key", finding["id"].as_str().expect("an id"));
        test.repo.run_expecting(0, &["local", "comment", "L1", &command]);
    }
    test.repo.git(&["switch", "--quiet", "main"]);
    test.assert_pushed(&["origin", "bad"]);
}

#[test]
fn the_hook_fails_closed_and_writes_nothing() {
    let test = PushTest::new();
    let folder = test.repo.dir().join(".git");
    let before = read_files(&folder);
    test.assert_refused(&["origin", "bad"], "changes requested");
    assert_eq!(changed_files(&folder, &before), Vec::<PathBuf>::new());
    // No program.
    let mut git = test.push_command(&["origin", "clean"]);
    let (pushed, err) =
        read_result(git.env("PATH", std::env::var("PATH").expect("a PATH")).output().expect("git runs"));
    assert!(!pushed && err.contains("not on the PATH") && err.contains("--no-verify"), "{err}");
    // The remote's branch was moved by another clone, and its commit is not here.
    test.assert_pushed(&["origin", "clean"]);
    let elsewhere = test.repo.path_outside("elsewhere").display().to_string();
    test.repo.git(&[
        "clone",
        "--quiet",
        "--branch",
        "clean",
        &test.repo.git(&["remote", "get-url", "origin"]),
        &elsewhere,
    ]);
    let identity = ["-c", "user.name=Bob", "-c", "user.email=bob@example.org"];
    let commit = ["commit", "--quiet", "--amend", "--message", "Moved"];
    test.repo.git(&[&["-C", &elsewhere], &identity[..], &commit].concat());
    test.repo.git(&["-C", &elsewhere, "push", "--quiet", "--force"]);
    test.repo.git(&["switch", "--quiet", "--orphan", "alone"]);
    test.repo.write("alone.py", CLEAN);
    test.repo.commit("Alone");
    test.assert_refused(&["--force", "origin", "alone:clean"], "is not here");
    test.repo.git(&["switch", "--quiet", "main"]);
    test.assert_pushed(&["origin", "--delete", "clean"]);
    // A config that cannot be used, and a reviewer that fails.
    for (config, reason) in [
        ("version = 1\n[[role]]\nname = 3\n", "config"),
        ("version = 1\n[[role]]\nname = \"lint\"\ncommand = \"reader\"\n", "not reviewed"),
    ] {
        test.repo.install_reviewer("exit 3\n", "");
        test.repo.write("referee.toml", config);
        test.repo.commit("Configure");
        test.repo.git(&["push", "--quiet", "--no-verify", "origin", "main"]);
        test.repo.git(&["branch", "--force", "next", "main"]);
        test.repo.git(&["switch", "--quiet", "next"]);
        test.repo.write("next.py", CLEAN);
        test.repo.commit("Next");
        test.assert_refused(&["origin", "next"], reason);
        test.repo.git(&["switch", "--quiet", "main"]);
    }
    assert_eq!(test.remote_refs(), ["refs/heads/main"]);
}

#[test]
fn a_hook_is_written_where_git_looks_for_it() {
    let test = PushTest::with_settings(&[["core.hooksPath", ".git/team-hooks"]]);
    assert!(test.repo.dir().join(".git/team-hooks/pre-push").exists());
    assert!(!test.repo.dir().join(".git/hooks/pre-push").exists());
    test.assert_refused(&["origin", "bad"], "changes requested");
    // An existing hook is kept, and the output says which line to add to it.
    std::fs::write(test.repo.dir().join(".git/team-hooks/pre-push"), "#!/bin/sh\nexit 0\n").expect("a hook");
    let ran = test.repo.run_expecting(0, &["init", "--hooks", "pre-push"]);
    assert!(ran.out.contains("kept") && ran.out.contains("referee hook pre-push"), "{}", ran.out);
}
