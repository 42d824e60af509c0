//! What is not committed yet, as a commit.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use referee_core::model::Sha;

use crate::discover::path;
use crate::program::{answer, full, object};
use crate::{Git, GitError};

impl Git {
    /// Whether every tracked file is as it was committed. What is inside submodules is their own affair.
    pub fn is_clean(&self) -> Result<bool, GitError> {
        self.work_tree()?;
        let changes =
            self.ask("status", &["--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"])?;
        Ok(changes.is_empty())
    }

    /// A commit of the index on top of what is checked out. No branch moves; as long as neither the index nor what is
    /// checked out changes, it is the same commit.
    pub fn staged(&self) -> Result<Sha, GitError> {
        self.work_tree()?;
        let index = self.copied_index()?;
        self.pending(&index, "what is staged")
    }

    /// A commit of the work tree on top of what is checked out: changed, removed, and new files that are not ignored. The
    /// user's index is not touched, no branch moves; as long as nothing changes, it is the same commit.
    ///
    /// Files go through the filters that the user configured for this clone, as `git add` would send them.
    pub fn working(&self) -> Result<Sha, GitError> {
        let top = self.work_tree()?;
        let index = self.copied_index()?;
        let mut add = self.with_index("add", &index);
        answer("add", self.finish(add.current_dir(top).args(["--all", "--", "."]))?)?;
        self.pending(&index, "the work tree")
    }

    fn work_tree(&self) -> Result<&Path, GitError> {
        self.top().ok_or_else(|| GitError::Bare { dir: self.dir.clone() })
    }

    /// A copy, because even reading git's answers may make it write into the index.
    fn copied_index(&self) -> Result<Index, GitError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let arguments = ["--path-format=absolute", "--git-path", "index"];
        let users = path(&self.ask("rev-parse", &arguments)?);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let copy = Index(users.with_file_name(format!("referee-index-{}-{number}", std::process::id())));
        match copy_with_time(&users, &copy.0) {
            // Nothing was ever added.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(copy),
            Err(source) => Err(GitError::Folder { dir: copy.0.clone(), source }),
            Ok(()) => Ok(copy),
        }
    }

    fn with_index(&self, name: &str, index: &Index) -> Command {
        let mut command = self.command_with(name, &["-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false"]);
        command.env("GIT_INDEX_FILE", &index.0);
        command
    }

    fn pending(&self, index: &Index, what: &str) -> Result<Sha, GitError> {
        let tree = answer("write-tree", self.finish(&mut self.with_index("write-tree", index))?)?;
        let tree = object("write-tree", &tree)?;
        let head = self.resolve("HEAD")?;
        let time = match &head {
            Some(head) => self.commit(head)?.time,
            None => 0,
        };
        let mut commit = self.command_with("commit-tree", &["-c", "i18n.commitEncoding=UTF-8"]);
        commit.args(["--no-gpg-sign", "-m", &format!("referee: {what}")]);
        for who in ["AUTHOR", "COMMITTER"] {
            commit
                .env(format!("GIT_{who}_NAME"), "referee")
                .env(format!("GIT_{who}_EMAIL"), "referee@localhost")
                .env(format!("GIT_{who}_DATE"), format!("@{time} +0000"));
        }
        if let Some(head) = &head {
            commit.args(["-p", full(head)?]);
        }
        let commit = answer("commit-tree", self.finish(commit.arg(full(&tree)?))?)?;
        object("commit-tree", &commit)
    }
}

/// Git takes a file for unchanged only where it is older than the index: a copy that is younger hides what was written in
/// the same moment as the index.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    let time = from.metadata()?.modified()?;
    let mut to = File::create(to)?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(time)
}

/// An index of our own, gone with the value.
struct Index(PathBuf);

impl Drop for Index {
    fn drop(&mut self) {
        // It may never have been written, and a file left over harms nobody.
        let _ = std::fs::remove_file(&self.0);
    }
}
