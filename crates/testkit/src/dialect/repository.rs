//! A bare repository with the commits of many pulls.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use referee_core::model::Sha;

/// Creates a bare repository with a first commit and a branch for each pull, which adds one file with `text`. Returns the
/// commits in that order.
///
/// # Panics
///
/// Panics if git does not run.
pub fn create_repository(bare: &Path, count: usize, file_name: impl Fn(usize) -> String, text: &str) -> Vec<Sha> {
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(bare).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        git
    };
    std::fs::create_dir_all(bare).expect("create a folder");
    assert!(git(&["init", "--quiet", "--bare", "."]).status().expect("run git").success());
    // As on real servers: clients may leave out blobs and fetch any commit.
    for key in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
        assert!(git(&["config", key, "true"]).status().expect("run git").success());
    }
    let mut script = String::new();
    let mut commit = |branch: &str, path: &str, text: &str, on: &str| {
        let _ = write!(
            script,
            "commit refs/heads/{branch}\ncommitter alice <alice@example.org> 1794739200 +0000\ndata 1\nx\n{on}\
             M 100644 inline {path}\ndata {}\n{text}\n",
            text.len()
        );
    };
    commit("main", "README.md", "# api\n", "");
    (0..count).for_each(|nth| commit(&format!("topic-{nth:05}"), &file_name(nth), text, "from refs/heads/main\n"));
    let mut import = git(&["fast-import", "--quiet"]).spawn().expect("run git");
    import.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("write to git");
    assert!(import.wait().expect("wait for git").success());
    let names = git(&["for-each-ref", "--format=%(objectname)"]).output().expect("run git").stdout;
    String::from_utf8_lossy(&names).lines().map(Sha::from).collect()
}
