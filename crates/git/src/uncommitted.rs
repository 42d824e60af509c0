//! What is not committed yet, as a commit.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use referee_core::model::Sha;

use crate::discover::parse_path;
use crate::git::{parse_sha, require_full_sha, require_success};
use crate::{Git, GitError};

impl Git {
    /// Whether every tracked file is as it was committed. What is inside submodules is their own affair.
    pub fn is_clean(&self) -> Result<bool, GitError> {
        self.require_work_tree()?;
        let changes =
            self.run("status", &["--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"])?;
        Ok(changes.is_empty())
    }

    /// A commit of the index on top of what is checked out. No branch moves; as long as neither the index nor what is
    /// checked out changes, it is the same commit.
    pub fn commit_staged(&self) -> Result<Sha, GitError> {
        self.require_work_tree()?;
        let index = self.copy_index()?;
        self.commit_index(&index, "what is staged")
    }

    /// A commit of the work tree on top of what is checked out: changed, removed, and new files that are not ignored. The
    /// user's index is not touched, no branch moves; as long as nothing changes, it is the same commit.
    ///
    /// Files go through the filters that the user configured for this clone, as `git add` would send them.
    pub fn commit_work_tree(&self) -> Result<Sha, GitError> {
        let top = self.require_work_tree()?;
        let index = self.copy_index()?;
        let mut add = self.command_with_index("add", &index);
        require_success("add", self.execute(add.current_dir(top).args(["--all", "--", "."]))?)?;
        self.commit_index(&index, "the work tree")
    }

    fn require_work_tree(&self) -> Result<&Path, GitError> {
        self.work_tree_root().ok_or_else(|| GitError::NoWorkTree { dir: self.dir.clone() })
    }

    /// A copy, because even reading git's answers may make it write into the index.
    fn copy_index(&self) -> Result<TempIndex, GitError> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let arguments = ["--path-format=absolute", "--git-path", "index"];
        let users = parse_path(&self.run("rev-parse", &arguments)?);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let copy = TempIndex(users.with_file_name(format!("referee-index-{}-{number}", std::process::id())));
        match copy_with_mtime(&users, &copy.0) {
            // Nothing was ever added.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(copy),
            Err(source) => Err(GitError::Filesystem { dir: copy.0.clone(), source }),
            Ok(()) => Ok(copy),
        }
    }

    fn command_with_index(&self, name: &str, index: &TempIndex) -> Command {
        let mut command =
            self.command_with_options(name, &["-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false"]);
        command.env("GIT_INDEX_FILE", &index.0);
        command
    }

    fn commit_index(&self, index: &TempIndex, what: &str) -> Result<Sha, GitError> {
        let tree = require_success("write-tree", self.execute(&mut self.command_with_index("write-tree", index))?)?;
        let tree = parse_sha("write-tree", &tree)?;
        let head = self.resolve("HEAD")?;
        let time = match &head {
            Some(head) => self.read_commit(head)?.committed_at,
            None => 0,
        };
        let mut commit = self.command_with_options("commit-tree", &["-c", "i18n.commitEncoding=UTF-8"]);
        commit.args(["--no-gpg-sign", "-m", &format!("referee: {what}")]);
        for who in ["AUTHOR", "COMMITTER"] {
            commit
                .env(format!("GIT_{who}_NAME"), "referee")
                .env(format!("GIT_{who}_EMAIL"), "referee@localhost")
                .env(format!("GIT_{who}_DATE"), format!("@{time} +0000"));
        }
        if let Some(head) = &head {
            commit.args(["-p", require_full_sha(head)?]);
        }
        let commit = require_success("commit-tree", self.execute(commit.arg(require_full_sha(&tree)?))?)?;
        parse_sha("commit-tree", &commit)
    }
}

/// Git takes a file for unchanged only where it is older than the index: a copy that is younger hides what was written in
/// the same moment as the index.
fn copy_with_mtime(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    let time = from.metadata()?.modified()?;
    let mut to = File::create(to)?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(time)
}

/// An index of our own, gone with the value.
struct TempIndex(PathBuf);

impl Drop for TempIndex {
    fn drop(&mut self) {
        // It may never have been written, and a file left over harms nobody.
        let _ = std::fs::remove_file(&self.0);
    }
}
