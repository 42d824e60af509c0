//! A commit as files.

use std::path::{Path, PathBuf};

use referee_core::model::Sha;

use crate::program::{answer, configure, full};
use crate::{Git, GitError};

/// A commit as files in a folder of its own, without a branch. The folder goes with the value, whatever was put there.
#[derive(Debug)]
pub struct Worktree {
    of: Git,
    dir: PathBuf,
    is_there: bool,
}

impl Git {
    /// Puts a commit into a new folder. The files are as they are committed: neither a hook nor a filter runs, so a file of
    /// LFS is its pointer; submodules stay empty.
    pub fn add_worktree(&self, dir: &Path, at: &Sha) -> Result<Worktree, GitError> {
        let dir = std::path::absolute(dir).map_err(|source| GitError::Folder { dir: dir.to_owned(), source })?;
        let mut command = self.command_with(ADD, &["-c", "core.sparseCheckout=false", "-c", "submodule.recurse=false"]);
        // Git knows a folder that was removed by hand as a worktree still: `--force` lets it be made again.
        command.args(["add", "--detach", "--force", "--"]).arg(&dir).arg(full(at)?);
        configure(&mut command, &[self.settings(), self.no_filters()?].concat());
        let added = answer(ADD, self.finish(&mut command)?);
        added.map_err(|error| self.unless_missing(&[at], error))?;
        Ok(Worktree { of: self.clone(), dir, is_there: true })
    }

    /// What turns off every filter that any configuration knows: which of them runs is said by the commit's attributes.
    pub(crate) fn no_filters(&self) -> Result<Vec<(String, String)>, GitError> {
        let keys = self.line("config", &["--name-only", "-z", "--get-regexp", r"^filter\..*\."])?.unwrap_or_default();
        let mut names: Vec<&str> = keys.split('\0').filter_map(|key| Some(key.rsplit_once('.')?.0)).collect();
        names.sort_unstable();
        names.dedup();
        let off = [("smudge", ""), ("process", ""), ("required", "false")];
        Ok(names.iter().flat_map(|name| off.map(|(key, value)| (format!("{name}.{key}"), value.to_owned()))).collect())
    }
}

const ADD: &str = "worktree";

impl Worktree {
    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The repository, seen from the folder.
    pub fn git(&self) -> Git {
        Git { dir: self.dir.clone(), top: Some(self.dir.clone()), ..self.of.clone() }
    }

    /// Takes the folder away, and says if that does not work.
    pub fn remove(mut self) -> Result<(), GitError> {
        self.is_there = false;
        self.take_away()
    }

    fn take_away(&self) -> Result<(), GitError> {
        let mut command = self.of.command(ADD);
        // Twice: also one that somebody locked.
        command.args(["remove", "--force", "--force", "--"]).arg(&self.dir);
        answer(ADD, self.of.finish(&mut command)?).map(drop)
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        if self.is_there {
            // Nobody is left to be told; whoever wants to know calls `remove`.
            let _ = self.take_away();
        }
    }
}
