//! Fetches commits from a work copy.
//!
//! The work copy is untrusted: a worker may have written anything, also into `.git`. So its layout is checked before
//! git reads it, its config is replaced, git only serves a fetch from it, and every fetched object is checked (`fsck`).

use std::fs;
use std::io;
use std::path::Path;

use referee_core::model::Sha;

use crate::git::{parse_sha, require_success};
use crate::refs::pin_ref;
use crate::work_copy::{WorkCopy, sum_file_sizes};
use crate::{Git, GitError};

/// Files that make a git directory refer to another one, or cut its history off.
const REDIRECTING_FILES: [&str; 7] = [
    "commondir",
    "gitdir",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "config.worktree",
    // Fetching from a shallow repository writes no ref, prints a warning and still succeeds.
    "shallow",
    "info/grafts",
];

impl Git {
    /// Fetches the work copy's `HEAD` with its history and [pins](Git::pin_commit) it. Leaves uncommitted changes
    /// behind. Refuses a work copy whose git directory grew by more than `max_growth` bytes.
    pub fn fetch_from_work_copy(&self, copy: &WorkCopy, max_growth: u64) -> Result<Sha, GitError> {
        let tampered = |reason: String| GitError::WorkCopyTampered { reason };
        check_plain_repository(copy.dir()).map_err(|error| tampered(error.to_string()))?;
        let size = sum_file_sizes(&copy.git_dir()).map_err(|error| tampered(error.to_string()))?;
        if size.saturating_sub(copy.initial_size()) > max_growth {
            return Err(tampered(format!("it grew by more than {max_growth} bytes")));
        }
        replace_file(&copy.git_dir().join("config"), copy.config()).map_err(|error| tampered(error.to_string()))?;
        let dir = copy.dir().to_string_lossy();
        let output = self.run_against_local("ls-remote", &["--quiet", "--end-of-options", &dir, "HEAD"])?;
        let head = output.split(|byte| *byte == b'\t').next().unwrap_or_default();
        if head.is_empty() {
            return Err(tampered("no commit is checked out".to_owned()));
        }
        let head = parse_sha("ls-remote", head)?;
        let refspec = format!("+{head}:{}", pin_ref(head.as_str()));
        let options =
            ["--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--no-auto-maintenance"];
        self.run_against_local("fetch", &[&options[..], &["--end-of-options", &dir, &refspec]].concat())?;
        Ok(head)
    }

    /// Runs a command that talks to a repository on this machine.
    fn run_against_local(&self, name: &'static str, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let mut command =
            self.command_with_options(name, &["-c", "fetch.fsckObjects=true", "-c", "protocol.version=2"]);
        // The served repository must not fetch missing objects from elsewhere.
        command.args(arguments).env("GIT_ALLOW_PROTOCOL", "file").env("GIT_NO_LAZY_FETCH", "1");
        require_success(name, self.execute(&mut command)?)
    }
}

/// Fails unless `dir/.git` is a real directory that refers to no other one.
fn check_plain_repository(dir: &Path) -> io::Result<()> {
    let git_dir = dir.join(".git");
    for path in [dir, &git_dir] {
        if !fs::symlink_metadata(path)?.is_dir() {
            return Err(io::Error::other("`.git` is not a directory"));
        }
    }
    for name in REDIRECTING_FILES {
        if fs::symlink_metadata(git_dir.join(name)).is_ok() {
            return Err(io::Error::other(format!("`.git/{name}` is not allowed")));
        }
    }
    Ok(())
}

/// Writes a new file instead of overwriting: a hard link would let the write change another file.
fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::write(path, text),
    }
}
