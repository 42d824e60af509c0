//! Pulls and the commits that people push to them.

use std::sync::Arc;

use referee_core::model::{PullNumber, PullState, Sha};
use referee_forge::ForgeError;

use super::WorldPerson;
use crate::world::{FileTree, NewPull, PushKind, StoredRepo};

impl WorldPerson {
    /// Opens a pull with these files changed.
    #[track_caller]
    pub fn open_pull(&self, branch: &str, files: &[(&str, &str)]) -> PullNumber {
        self.open_branch(branch, files, PullOrigin::SameRepo)
    }

    /// Opens a pull from a fork, to which only its author may push.
    #[track_caller]
    pub fn open_from_fork(&self, branch: &str, files: &[(&str, &str)]) -> PullNumber {
        self.open_branch(branch, files, PullOrigin::Fork)
    }

    /// Pushes a commit that changes one file. The closure receives "" for a new file.
    #[track_caller]
    pub fn push(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.commit(|tree| edit_file(tree, path, edit))
    }

    /// Pushes a commit that deletes a file.
    #[track_caller]
    pub fn remove(&self, path: &str) -> Sha {
        self.commit(|tree| drop(tree.remove(path)))
    }

    /// Pushes a commit that renames a file.
    #[track_caller]
    pub fn rename(&self, from: &str, to: &str) -> Sha {
        self.commit(|tree| {
            if let Some(text) = tree.remove(from) {
                tree.insert(to.to_owned(), text);
            }
        })
    }

    /// Pushes a commit that edits the tree in any way.
    #[track_caller]
    pub fn commit(&self, edit: impl FnOnce(&mut FileTree)) -> Sha {
        self.act("push", |repo, pull| {
            repo.check_may_push(&self.login, pull)?;
            let row = repo.pull(pull)?;
            let (branch, head) = (row.branch.clone(), row.head.clone());
            let mut tree = repo.tree(&head);
            edit(&mut tree);
            Ok::<_, ForgeError>(repo.push(&self.login, &branch, tree, vec![head], PushKind::Forward))
        })
    }

    /// Force-pushes the same patch as a different commit.
    #[track_caller]
    pub fn amend(&self) -> Sha {
        self.replace_commits("amend", |_| {})
    }

    /// Replaces all commits of the pull by one with another patch.
    #[track_caller]
    pub fn force_push(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.replace_commits("force-push", |tree| edit_file(tree, path, edit))
    }

    /// Rebases the pull's changes onto the current base.
    #[track_caller]
    pub fn rebase(&self) -> Sha {
        self.act("rebase", |repo, pull| {
            repo.check_may_push(&self.login, pull)?;
            let branch = repo.pull(pull)?.branch.clone();
            let (tree, base) = rebase_tree(repo, pull)?;
            Ok::<_, ForgeError>(repo.push(&self.login, &branch, tree, vec![base], PushKind::Forced))
        })
    }

    /// Pushes to the base branch.
    #[track_caller]
    pub fn push_base(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.world.tick_and_change(|repo| {
            let branch = repo.default_branch.clone();
            let parents: Vec<Sha> = repo.branch(&branch).cloned().into_iter().collect();
            let mut tree = parents.first().map(|base| repo.tree(base)).unwrap_or_default();
            edit_file(&mut tree, path, edit);
            repo.push(&self.login, &branch, tree, parents, PushKind::Forward)
        })
    }

    /// Commits on top of the head without pushing, as a worker does in its clone.
    #[track_caller]
    pub fn prepare_commit(&self, path: &str, edit: impl FnOnce(&str) -> String) -> Sha {
        self.act("commit", |repo, pull| {
            let head = repo.pull(pull)?.head.clone();
            let mut tree = repo.tree(&head);
            edit_file(&mut tree, path, edit);
            Ok::<_, ForgeError>(repo.store_commit(tree, vec![head]))
        })
    }

    /// Rebases the pull's changes onto the current base without pushing.
    #[track_caller]
    pub fn prepare_rebase(&self) -> Sha {
        self.act("commit", |repo, pull| {
            let (tree, base) = rebase_tree(repo, pull)?;
            Ok::<_, ForgeError>(repo.store_commit(tree, vec![base]))
        })
    }

    /// Commits on top of the default branch without pushing.
    pub fn prepare_branch(&self, path: &str, text: &str) -> Sha {
        self.world.tick_and_change(|repo| {
            let base: Vec<Sha> = repo.branch(&repo.default_branch).cloned().into_iter().collect();
            let mut tree = base.first().map(|base| repo.tree(base)).unwrap_or_default();
            edit_file(&mut tree, path, |_| text.to_owned());
            repo.store_commit(tree, base)
        })
    }

    /// Pushes a prepared commit if the branch still points at the expected commit.
    pub fn push_with_lease(&self, commit: &Sha, expected: &Sha) -> Result<(), ForgeError> {
        let pull = self.pull();
        self.world.tick_and_change(|repo| {
            repo.check_may_push(&self.login, pull)?;
            let row = repo.pull(pull)?;
            if row.head != *expected {
                return Err(ForgeError::Conflict("the branch".to_owned()));
            }
            let branch = row.branch.clone();
            repo.advance_branch(&self.login, &branch, commit, PushKind::Forced);
            Ok(())
        })
    }

    #[track_caller]
    pub fn close(&self) {
        self.act("close", |repo, pull| repo.set_state(pull, &self.login, PullState::Closed));
    }

    #[track_caller]
    pub fn reopen(&self) {
        self.act("reopen", |repo, pull| repo.set_state(pull, &self.login, PullState::Open));
    }

    /// Merges the pull, regardless of reviews and checks.
    #[track_caller]
    pub fn merge(&self) {
        self.act("merge", |repo, pull| {
            if !repo.may_write(&self.login) {
                return Err(ForgeError::Forbidden("merge".to_owned()));
            }
            repo.merge(pull);
            Ok(())
        });
    }

    /// Changes the title.
    #[track_caller]
    pub fn retitle(&self, title: &str) {
        self.act("retitle", |repo, pull| repo.pull_mut(pull).map(|row| title.clone_into(&mut row.title)));
    }

    /// Converts the pull to a draft.
    #[track_caller]
    pub fn mark_draft(&self) {
        self.act("convert the pull to a draft", |repo, pull| repo.pull_mut(pull).map(|row| row.draft = true));
    }

    /// Marks a draft as ready for review.
    #[track_caller]
    pub fn mark_ready(&self) {
        self.act("mark the pull as ready", |repo, pull| repo.pull_mut(pull).map(|row| row.draft = false));
    }

    #[track_caller]
    fn open_branch(&self, branch: &str, files: &[(&str, &str)], origin: PullOrigin) -> PullNumber {
        let opened = self.world.tick_and_change(|repo| {
            let base: Vec<Sha> = repo.branch(&repo.default_branch).cloned().into_iter().collect();
            let mut tree = base.first().map(|base| repo.tree(base)).unwrap_or_default();
            for (path, text) in files {
                tree.insert((*path).to_owned(), Arc::from(*text));
            }
            repo.push(&self.login, branch, tree, base, PushKind::Forward);
            repo.open_pull(&NewPull { by: &self.login, branch, title: branch, from_fork: origin == PullOrigin::Fork })
        });
        self.expect_ok("open a pull", opened)
    }

    #[track_caller]
    fn replace_commits(&self, what: &str, edit: impl FnOnce(&mut FileTree)) -> Sha {
        self.act(what, |repo, pull| {
            repo.check_may_push(&self.login, pull)?;
            let row = repo.pull(pull)?;
            let (branch, head) = (row.branch.clone(), row.head.clone());
            let parents = repo.merge_base(&find_base(repo, pull)?, &head).into_iter().collect();
            let mut tree = repo.tree(&head);
            edit(&mut tree);
            Ok::<_, ForgeError>(repo.push(&self.login, &branch, tree, parents, PushKind::Forced))
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PullOrigin {
    SameRepo,
    Fork,
}

fn edit_file(tree: &mut FileTree, path: &str, edit: impl FnOnce(&str) -> String) {
    let text = edit(tree.get(path).map_or("", AsRef::as_ref));
    tree.insert(path.to_owned(), Arc::from(text));
}

/// Returns the pull's changes applied to the current base, and that base.
fn rebase_tree(repo: &StoredRepo, pull: PullNumber) -> Result<(FileTree, Sha), ForgeError> {
    let patch = repo.diff_of_pull(repo.pull(pull)?);
    let base = find_base(repo, pull)?;
    let mut tree = repo.tree(&base);
    for (path, (_, after)) in patch {
        match after {
            Some(text) => tree.insert(path, text),
            None => tree.remove(&path),
        };
    }
    Ok((tree, base))
}

fn find_base(repo: &StoredRepo, pull: PullNumber) -> Result<Sha, ForgeError> {
    let base = &repo.pull(pull)?.base;
    repo.branch(base).cloned().ok_or_else(|| ForgeError::NotFound(base.clone()))
}
