//! Where a repository is, and whether the program can be worked with.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::git::{parse_utf8, redact_output, require_success};
use crate::{Git, GitError};

/// The oldest git with everything that is asked of it.
const MIN_VERSION: (u32, u32) = (2, 39);

impl Git {
    /// The repository that `dir` is in: a work tree or a folder of it, a linked worktree, a bare repository.
    pub fn discover(dir: &Path) -> Result<Git, GitError> {
        let dir = std::path::absolute(dir).map_err(|source| GitError::Filesystem { dir: dir.to_owned(), source })?;
        let here = Git::from_dir(&dir);
        here.check_version()?;
        let found =
            here.output("rev-parse", &["--path-format=absolute", "--is-inside-work-tree", "--git-common-dir"])?;
        let found = here.check_discovery(found)?;
        let (inside, common) = split_first_line(&found);
        let common = parse_path(common);
        if inside != b"true" {
            return Ok(Git { dir: common.clone(), common_dir: common, ..here });
        }
        let top = parse_path(&here.run("rev-parse", &["--path-format=absolute", "--show-toplevel"])?);
        Ok(Git { dir: top.clone(), work_tree_root: Some(top), common_dir: common, ..here })
    }

    /// The root of the work tree; none in a bare repository.
    pub fn work_tree_root(&self) -> Option<&Path> {
        self.work_tree_root.as_deref()
    }

    /// The git folder that all worktrees of the repository share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    fn check_version(&self) -> Result<(), GitError> {
        let said = parse_utf8("version", self.run("version", &[])?)?;
        match parse_version(&said) {
            Some(version) if version >= MIN_VERSION => Ok(()),
            _ => Err(GitError::TooOld { found: redact_output(said.as_bytes()) }),
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

/// `git version 2.39.5 (somebody's)`
fn parse_version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix("git version ")?.split(['.', ' ', '\n']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn split_first_line(answer: &[u8]) -> (&[u8], &[u8]) {
    let end = answer.iter().position(|byte| *byte == b'\n').unwrap_or(answer.len());
    (&answer[..end], answer.get(end + 1..).unwrap_or_default())
}

/// A path as git prints it: bytes and a line feed.
#[cfg(unix)]
pub(crate) fn parse_path(line: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(line.strip_suffix(b"\n").unwrap_or(line)))
}

/// A path as git prints it: UTF-8 and a line feed.
#[cfg(not(unix))]
pub(crate) fn path(line: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(line).trim_end_matches('\n'))
}
