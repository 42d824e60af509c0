//! A commit as files.

use std::path::{Path, PathBuf};

use referee_core::model::Sha;

use crate::git::{require_full_sha, require_success, set_config_env};
use crate::{Git, GitError};

/// A commit as files in a folder of its own, without a branch. The folder goes with the value, whatever was put there.
#[derive(Debug)]
pub struct Worktree {
    repository: Git,
    dir: PathBuf,
    needs_removal: bool,
}

impl Git {
    /// Puts a commit into a new folder. The files are as they are committed: neither a hook nor a filter runs, so a file of
    /// LFS is its pointer; submodules stay empty.
    pub fn add_worktree(&self, dir: &Path, at: &Sha) -> Result<Worktree, GitError> {
        let dir = std::path::absolute(dir).map_err(|source| GitError::Filesystem { dir: dir.to_owned(), source })?;
        let mut command =
            self.command_with_options(WORKTREE, &["-c", "core.sparseCheckout=false", "-c", "submodule.recurse=false"]);
        // Git knows a folder that was removed by hand as a worktree still: `--force` lets it be made again.
        command.args(["add", "--detach", "--force", "--"]).arg(&dir).arg(require_full_sha(at)?);
        set_config_env(&mut command, &[self.credential_config(), self.disable_filters_config()?].concat());
        let added = require_success(WORKTREE, self.execute(&mut command)?);
        added.map_err(|error| self.map_missing_commit(&[at], error))?;
        Ok(Worktree { repository: self.clone(), dir, needs_removal: true })
    }

    /// What turns off every filter that any configuration knows: which of them runs is said by the commit's attributes.
    pub(crate) fn disable_filters_config(&self) -> Result<Vec<(String, String)>, GitError> {
        let keys =
            self.run_line("config", &["--name-only", "-z", "--get-regexp", r"^filter\..*\."])?.unwrap_or_default();
        let mut names: Vec<&str> = keys.split('\0').filter_map(|key| Some(key.rsplit_once('.')?.0)).collect();
        names.sort_unstable();
        names.dedup();
        let off = [("smudge", ""), ("process", ""), ("required", "false")];
        Ok(names.iter().flat_map(|name| off.map(|(key, value)| (format!("{name}.{key}"), value.to_owned()))).collect())
    }
}

const WORKTREE: &str = "worktree";

impl Worktree {
    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The repository, seen from the folder.
    pub fn git(&self) -> Git {
        Git { dir: self.dir.clone(), work_tree_root: Some(self.dir.clone()), ..self.repository.clone() }
    }

    /// Takes the folder away, and says if that does not work.
    pub fn remove(mut self) -> Result<(), GitError> {
        self.needs_removal = false;
        self.force_remove()
    }

    fn force_remove(&self) -> Result<(), GitError> {
        let mut command = self.repository.command(WORKTREE);
        // Twice: also one that somebody locked.
        command.args(["remove", "--force", "--force", "--"]).arg(&self.dir);
        require_success(WORKTREE, self.repository.execute(&mut command)?).map(drop)
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        if self.needs_removal {
            // Nobody is left to be told; whoever wants to know calls `remove`.
            let _ = self.force_remove();
        }
    }
}
