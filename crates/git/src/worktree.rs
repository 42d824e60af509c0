//! Linked worktrees.

use std::path::{Path, PathBuf};

use referee_core::model::Sha;

use crate::git::{require_full_sha, require_success, set_config_env};
use crate::{Git, GitError};

/// A linked worktree with a detached `HEAD`. The directory is deleted on drop, with everything in it.
#[derive(Debug)]
pub struct Worktree {
    repository: Git,
    dir: PathBuf,
    needs_removal: bool,
}

impl Git {
    /// Checks a commit out into a new directory. The files are exactly as committed: no hook or filter runs, so an LFS
    /// file is its pointer, and submodules stay empty.
    pub fn add_worktree(&self, dir: &Path, commit: &Sha) -> Result<Worktree, GitError> {
        let dir = std::path::absolute(dir).map_err(|source| GitError::Filesystem { dir: dir.to_owned(), source })?;
        self.check_tree_size(commit)?;
        let mut command =
            self.command_with_options(WORKTREE, &["-c", "core.sparseCheckout=false", "-c", "submodule.recurse=false"]);
        // `--force`: git still lists a worktree whose directory was deleted by hand, and would refuse to create it
        // again.
        command.args(["add", "--detach", "--force", "--"]).arg(&dir).arg(require_full_sha(commit)?);
        set_config_env(&mut command, &[self.credential_config(), self.disable_filters_config()?].concat());
        let added = require_success(WORKTREE, self.execute(&mut command)?);
        added.map_err(|error| self.map_missing_commit(&[commit], error))?;
        Ok(Worktree { repository: self.clone(), dir, needs_removal: true })
    }

    /// Returns config that disables every configured filter. The commit's attributes choose the filter, so none may
    /// run.
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
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the repository with this worktree as its work tree.
    pub fn git(&self) -> Git {
        Git { dir: self.dir.clone(), work_tree_root: Some(self.dir.clone()), ..self.repository.clone() }
    }

    /// Removes the worktree. Unlike dropping it, reports an error.
    pub fn remove(mut self) -> Result<(), GitError> {
        self.needs_removal = false;
        self.force_remove()
    }

    fn force_remove(&self) -> Result<(), GitError> {
        let mut command = self.repository.command(WORKTREE);
        // Twice: removes a locked worktree too.
        command.args(["remove", "--force", "--force", "--"]).arg(&self.dir);
        require_success(WORKTREE, self.repository.execute(&mut command)?).map(drop)
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        if self.needs_removal {
            // `drop` cannot report an error; `remove` does.
            let _ = self.force_remove();
        }
    }
}
