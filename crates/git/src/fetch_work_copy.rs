//! What was committed in a work copy, brought back.
//!
//! Whoever worked there could write whatever they liked, into `.git` as well. So a copy is looked at before git is, its
//! settings are replaced, and git does but one thing there: it serves what it has, as it would to a stranger. What comes
//! is checked, object by object.

use std::fs;
use std::io;
use std::path::Path;

use referee_core::model::Sha;

use crate::git::{parse_sha, require_success};
use crate::refs::pin_ref;
use crate::work_copy::{WorkCopy, sum_file_sizes};
use crate::{Git, GitError};

/// What makes a git folder lead elsewhere, or its history end early.
const REDIRECTING_FILES: [&str; 7] = [
    "commondir",
    "gitdir",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "config.worktree",
    // From such a folder git fetches without a ref, warns, and calls that a success.
    "shallow",
    "info/grafts",
];

impl Git {
    /// Brings back the commit that is checked out in a work copy, and what led to it, and [keeps](Git::keep) it. Changes
    /// that were not committed stay there. A copy that grew by more than `room` bytes is refused.
    pub fn fetch_from_work_copy(&self, copy: &WorkCopy, room: u64) -> Result<Sha, GitError> {
        let refused = |why: String| GitError::WorkCopyTampered { why };
        check_plain_repository(copy.dir()).map_err(|error| refused(error.to_string()))?;
        let size = sum_file_sizes(&copy.git_dir()).map_err(|error| refused(error.to_string()))?;
        if size.saturating_sub(copy.initial_size()) > room {
            return Err(refused(format!("it grew by more than {room} bytes")));
        }
        replace_file(&copy.git_dir().join("config"), copy.config()).map_err(|error| refused(error.to_string()))?;
        let dir = copy.dir().to_string_lossy();
        let told = self.run_against_local("ls-remote", &["--quiet", "--end-of-options", &dir, "HEAD"])?;
        let name = told.split(|byte| *byte == b'\t').next().unwrap_or_default();
        if name.is_empty() {
            return Err(refused("nothing is checked out there".to_owned()));
        }
        let head = parse_sha("ls-remote", name)?;
        let refspec = format!("+{head}:{}", pin_ref(head.as_str()));
        let quiet =
            ["--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--no-auto-maintenance"];
        self.run_against_local("fetch", &[&quiet[..], &["--end-of-options", &dir, &refspec]].concat())?;
        Ok(head)
    }

    /// A call that is served by another folder of this machine.
    fn run_against_local(&self, name: &'static str, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let mut command =
            self.command_with_options(name, &["-c", "fetch.fsckObjects=true", "-c", "protocol.version=2"]);
        // What is missing there is missing: nothing is fetched to serve it.
        command.args(arguments).env("GIT_ALLOW_PROTOCOL", "file").env("GIT_NO_LAZY_FETCH", "1");
        require_success(name, self.execute(&mut command)?)
    }
}

/// Whether a folder holds a git folder of its own, all of it there.
fn check_plain_repository(dir: &Path) -> io::Result<()> {
    let folder = dir.join(".git");
    for it in [dir, &folder] {
        if !fs::symlink_metadata(it)?.is_dir() {
            return Err(io::Error::other("its git folder is no folder"));
        }
    }
    for name in REDIRECTING_FILES {
        if fs::symlink_metadata(folder.join(name)).is_ok() {
            return Err(io::Error::other(format!("`.git/{name}` leads elsewhere")));
        }
    }
    Ok(())
}

/// Another file of that name: one with two names would be written through both.
fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::write(path, text),
    }
}
