//! Finds the repository of a directory and checks git's version.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::git::{parse_utf8, redact_output, require_success};
use crate::{Git, GitError};

/// The oldest supported git. Older ones lack `cat-file -z`.
const MIN_VERSION: (u32, u32) = (2, 39);

impl Git {
    /// Finds the repository that contains `dir`: a work tree or a directory in one, a linked worktree, a bare
    /// repository.
    pub fn discover(dir: &Path) -> Result<Git, GitError> {
        let dir = std::path::absolute(dir).map_err(|source| GitError::Filesystem { dir: dir.to_owned(), source })?;
        let git = Git::from_dir(&dir);
        git.check_version()?;
        let output =
            git.output("rev-parse", &["--path-format=absolute", "--is-inside-work-tree", "--git-common-dir"])?;
        let output = git.check_discovery(output)?;
        let (is_inside_work_tree, common_dir) = split_first_line(&output);
        let common_dir = parse_path(common_dir);
        if is_inside_work_tree != b"true" {
            return Ok(Git { dir: common_dir.clone(), common_dir, ..git });
        }
        let root = parse_path(&git.run("rev-parse", &["--path-format=absolute", "--show-toplevel"])?);
        Ok(Git { dir: root.clone(), work_tree_root: Some(root), common_dir, ..git })
    }

    /// Returns the root of the work tree, or `None` in a bare repository.
    pub fn work_tree_root(&self) -> Option<&Path> {
        self.work_tree_root.as_deref()
    }

    /// Returns the git directory that all worktrees of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    fn check_version(&self) -> Result<(), GitError> {
        let output = parse_utf8("version", self.run("version", &[])?)?;
        match parse_version(&output) {
            Some(version) if version >= MIN_VERSION => Ok(()),
            _ => Err(GitError::TooOld { found: redact_output(output.as_bytes()) }),
        }
    }

    fn check_discovery(&self, output: Output) -> Result<Vec<u8>, GitError> {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let dir = self.dir.clone();
        match () {
            () if stderr.contains("dubious ownership") => Err(GitError::NotOwned { dir }),
            () if stderr.contains("not a git repository") => Err(GitError::NotARepository { dir }),
            () => require_success("rev-parse", output),
        }
    }
}

/// Parses `git version 2.39.5 (Apple Git-154)`.
fn parse_version(output: &str) -> Option<(u32, u32)> {
    let mut numbers = output.strip_prefix("git version ")?.split(['.', ' ', '\n']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn split_first_line(output: &[u8]) -> (&[u8], &[u8]) {
    let end = output.iter().position(|byte| *byte == b'\n').unwrap_or(output.len());
    (&output[..end], output.get(end + 1..).unwrap_or_default())
}

/// Parses a path as git prints it: bytes and a line feed.
#[cfg(unix)]
pub(crate) fn parse_path(line: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(line.strip_suffix(b"\n").unwrap_or(line)))
}

/// Parses a path as git prints it: UTF-8 and a line feed.
#[cfg(not(unix))]
pub(crate) fn parse_path(line: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(line).trim_end_matches('\n'))
}
