use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use referee_core::model::Sha;

use crate::GitError;

/// A repository, and the git program that works in it.
#[derive(Debug, Clone)]
pub struct Git {
    dir: PathBuf,
}

/// What makes a diff the same on every machine: the user's and the repository's settings have no say.
const PINNED_DIFF: &[&str] = &[
    "-r",
    "-z",
    "--raw",
    "--patch",
    "--no-abbrev",
    "--full-index",
    "--unified=3",
    "--inter-hunk-context=0",
    "--find-renames=50%",
    "--no-rename-empty",
    "-l1000",
    "--diff-algorithm=histogram",
    "--indent-heuristic",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=none",
    "-O/dev/null",
];

impl Git {
    /// The repository in `dir`: a work tree or a bare one.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Git { dir: dir.into() }
    }

    /// The diff from one commit to another, renames found, for [`parse_diff`](crate::parse_diff).
    ///
    /// It is led by the list of the files, so that a cut is seen.
    pub fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, GitError> {
        let mut command = self.command("diff-tree");
        command.args(PINNED_DIFF).arg("--end-of-options").args([full(old)?, full(new)?]).arg("--");
        run("diff-tree", command)
    }

    /// A call of git in this repository, deaf to what its surroundings would have it do.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = Command::new("git");
        for key in std::env::vars_os().map(|(key, _)| key).filter(is_gits_own) {
            command.env_remove(key);
        }
        command
            .current_dir(&self.dir)
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .args(["--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"])
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(["-c", "core.fsmonitor=false"])
            .args(["-c", "core.quotePath=true"])
            .args(["-c", "diff.suppressBlankEmpty=false"])
            .arg(name)
            .stdin(Stdio::null());
        command
    }
}

fn is_gits_own(key: &OsString) -> bool {
    key.as_encoded_bytes().starts_with(b"GIT_")
}

/// A full object name is the only revision that cannot be anything else.
pub(crate) fn full(sha: &Sha) -> Result<&str, GitError> {
    let name = sha.as_str();
    let is_full = matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_full { Ok(name) } else { Err(GitError::NotASha(shortened(name.as_bytes()))) }
}

fn run(name: &'static str, mut command: Command) -> Result<Vec<u8>, GitError> {
    let output = command.output().map_err(GitError::Start)?;
    answer(name, output)
}

pub(crate) fn answer(name: &'static str, output: Output) -> Result<Vec<u8>, GitError> {
    let Output { status, stdout, stderr } = output;
    if status.success() {
        return Ok(stdout);
    }
    Err(GitError::Failed { command: name, status: status.to_string(), stderr: shortened(&stderr) })
}

pub(crate) fn shortened(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim().chars().take(300).collect()
}
