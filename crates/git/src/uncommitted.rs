//! Turns staged or uncommitted changes, and the empty tree, into commits, so that they can be reviewed like one.

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
    /// Returns whether no tracked file is changed. Ignores changes inside submodules.
    pub fn is_clean(&self) -> Result<bool, GitError> {
        self.require_work_tree()?;
        let changes =
            self.run("status", &["--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"])?;
        Ok(changes.is_empty())
    }

    /// Commits the index on top of `HEAD`, without moving a branch. The same index and `HEAD` give the same commit id.
    pub fn commit_staged(&self) -> Result<Sha, GitError> {
        self.require_work_tree()?;
        let index = self.copy_index()?;
        self.commit_index(&index, "staged changes")
    }

    /// Commits the work tree on top of `HEAD`: changed, deleted and new files, except ignored ones. Neither the user's
    /// index nor a branch changes. The same files and `HEAD` give the same commit id.
    ///
    /// Runs the filters that the user configured for this clone, as `git add` does.
    pub fn commit_work_tree(&self) -> Result<Sha, GitError> {
        let root = self.require_work_tree()?;
        let index = self.copy_index()?;
        let mut add = self.command_with_index("add", &index);
        require_success("add", self.execute(add.current_dir(root).args(["--all", "--", "."]))?)?;
        self.commit_index(&index, "work tree")
    }

    /// Returns the id of the tree without files. Git knows it in every repository; it differs between hash functions.
    pub fn empty_tree_id(&self) -> Result<Sha, GitError> {
        let output = self.run("hash-object", &["-t", "tree", "--stdin"])?;
        parse_sha("hash-object", &output)
    }

    /// Commits the empty tree without a parent, as a base for a history that has none. The commit id is always the same.
    pub fn commit_empty_tree(&self) -> Result<Sha, GitError> {
        self.commit_tree(&self.empty_tree_id()?, None, "no files")
    }

    fn require_work_tree(&self) -> Result<&Path, GitError> {
        self.work_tree_root().ok_or_else(|| GitError::NoWorkTree { dir: self.dir.clone() })
    }

    /// Copies the index, because even reading commands may refresh it.
    fn copy_index(&self) -> Result<TempIndex, GitError> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let arguments = ["--path-format=absolute", "--git-path", "index"];
        let user_index = parse_path(&self.run("rev-parse", &arguments)?);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let copy = TempIndex(user_index.with_file_name(format!("referee-index-{}-{number}", std::process::id())));
        match copy_with_mtime(&user_index, &copy.0) {
            // No file was ever added to this repository.
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

    fn commit_index(&self, index: &TempIndex, subject: &str) -> Result<Sha, GitError> {
        let tree = require_success("write-tree", self.execute(&mut self.command_with_index("write-tree", index))?)?;
        let tree = parse_sha("write-tree", &tree)?;
        self.commit_tree(&tree, self.resolve("HEAD")?.as_ref(), subject)
    }

    /// Commits a tree under a fixed name, dated as its parent, so that the same input gives the same commit id.
    fn commit_tree(&self, tree: &Sha, parent: Option<&Sha>, subject: &str) -> Result<Sha, GitError> {
        let time = match parent {
            Some(parent) => self.read_commit(parent)?.committed_at,
            None => 0,
        };
        let mut commit = self.command_with_options("commit-tree", &["-c", "i18n.commitEncoding=UTF-8"]);
        commit.args(["--no-gpg-sign", "-m", &format!("referee: {subject}")]);
        for role in ["AUTHOR", "COMMITTER"] {
            commit
                .env(format!("GIT_{role}_NAME"), "referee")
                .env(format!("GIT_{role}_EMAIL"), "referee@localhost")
                .env(format!("GIT_{role}_DATE"), format!("@{time} +0000"));
        }
        if let Some(parent) = parent {
            commit.args(["-p", require_full_sha(parent)?]);
        }
        let commit = require_success("commit-tree", self.execute(commit.arg(require_full_sha(tree)?))?)?;
        parse_sha("commit-tree", &commit)
    }
}

/// Git trusts a file's cached state only if the file is older than the index. A copy with a newer time would hide a
/// change made in the same second as the index ("racy git").
fn copy_with_mtime(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    let time = from.metadata()?.modified()?;
    let mut to = File::create(to)?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(time)
}

/// A temporary index file, deleted on drop.
struct TempIndex(PathBuf);

impl Drop for TempIndex {
    fn drop(&mut self) {
        // The file may not exist, and a leftover is harmless.
        let _ = std::fs::remove_file(&self.0);
    }
}
