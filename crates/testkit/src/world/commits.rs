//! Commits as trees of texts: enough of git for merge bases, patches and conflicts per file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use referee_core::hash::Hash;
use referee_core::model::{Mergeable, Sha};
use referee_core::track::Side;

use super::rows::{StoredPull, StoredRepo, StoredThread};

/// The files of a commit.
pub type FileTree = BTreeMap<String, Arc<str>>;

/// The texts before and after a change, by path.
pub(crate) type TreePatch = BTreeMap<String, (Option<Arc<str>>, Option<Arc<str>>)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredCommit {
    pub(crate) tree: FileTree,
    pub(crate) parents: Vec<Sha>,
}

impl StoredRepo {
    /// Stores a commit. Its id is unique even for equal contents, as if the dates differed.
    pub(crate) fn store_commit(&mut self, tree: FileTree, parents: Vec<Sha>) -> Sha {
        let serial = self.next_commit_serial().to_string();
        let first = Hash::digest_parts([serial.as_str()]).0;
        let second = Hash::digest_parts([serial.as_str(), first.as_str()]).0;
        let queued = self.next_commit_ids.pop_front();
        let sha = queued.unwrap_or_else(|| Sha(format!("{first}{}", &second[..8])));
        self.commits.insert(sha.clone(), Arc::new(StoredCommit { tree, parents }));
        sha
    }

    pub(crate) fn tree(&self, sha: &Sha) -> FileTree {
        self.commits.get(sha).map(|commit| commit.tree.clone()).unwrap_or_default()
    }

    pub(crate) fn text_at(&self, sha: &Sha, path: &str) -> Option<Arc<str>> {
        self.commits.get(sha)?.tree.get(path).cloned()
    }

    pub(crate) fn branch(&self, name: &str) -> Option<&Sha> {
        self.branches.get(name)
    }

    /// Returns the commit and its ancestors, nearest first.
    pub(crate) fn ancestry(&self, sha: &Sha) -> Vec<Sha> {
        let mut seen = BTreeSet::new();
        let mut queue = VecDeque::from([sha.clone()]);
        let mut order = Vec::new();
        while let Some(sha) = queue.pop_front() {
            if !seen.insert(sha.clone()) {
                continue;
            }
            queue.extend(self.commits.get(&sha).into_iter().flat_map(|commit| commit.parents.iter().cloned()));
            order.push(sha);
        }
        order
    }

    pub(crate) fn merge_base(&self, one: &Sha, other: &Sha) -> Option<Sha> {
        let known: BTreeSet<Sha> = self.ancestry(other).into_iter().collect();
        self.ancestry(one).into_iter().find(|sha| known.contains(sha))
    }

    /// Returns the changes of `head` since its merge base with `base`.
    pub(crate) fn diff_since_base(&self, base: &Sha, head: &Sha) -> TreePatch {
        let before = self.merge_base(base, head).map(|sha| self.tree(&sha)).unwrap_or_default();
        let after = self.tree(head);
        before
            .keys()
            .chain(after.keys())
            .filter(|path| before.get(*path) != after.get(*path))
            .map(|path| (path.clone(), (before.get(path).cloned(), after.get(path).cloned())))
            .collect()
    }

    pub(crate) fn diff_of_pull(&self, pull: &StoredPull) -> TreePatch {
        self.branch(&pull.base).map(|base| self.diff_since_base(base, &pull.head)).unwrap_or_default()
    }

    pub(crate) fn mergeable(&self, pull: &StoredPull) -> Mergeable {
        let base = self.branch(&pull.base).filter(|_| !pull.draft);
        base.map_or(Mergeable::Unknown, |base| self.check_merge(base, &pull.head))
    }

    /// Checks for conflicts: a file that both sides changed differently.
    pub(crate) fn check_merge(&self, base: &Sha, head: &Sha) -> Mergeable {
        let theirs = self.tree(base);
        let conflicts = self
            .diff_since_base(base, head)
            .into_iter()
            .any(|(path, (before, after))| theirs.get(&path) != before.as_ref() && theirs.get(&path) != after.as_ref());
        if conflicts { Mergeable::Conflict } else { Mergeable::Clean }
    }

    /// Returns whether a thread's line no longer exists.
    pub(crate) fn is_outdated(&self, pull: &StoredPull, thread: &StoredThread) -> bool {
        if thread.commit == pull.head {
            return false;
        }
        match (thread.side, thread.line) {
            (Side::New, Some(line)) => {
                let commented_line = self.text_at(&thread.commit, &thread.path).and_then(|text| nth_line(&text, line));
                let current = self.text_at(&pull.head, &thread.path);
                !commented_line
                    .zip(current)
                    .is_some_and(|(commented, current)| current.lines().any(|line| line == commented))
            }
            (Side::Old, _) | (_, None) => !self.diff_of_pull(pull).contains_key(&thread.path),
        }
    }

    /// Returns whether a line can be commented on at that commit.
    pub(crate) fn is_commentable(
        &self,
        pull: &StoredPull,
        commit: &Sha,
        path: &str,
        line: Option<u32>,
        side: Side,
    ) -> bool {
        let revision = match side {
            Side::New => Some(commit.clone()),
            Side::Old => self.branch(&pull.base).and_then(|base| self.merge_base(base, commit)),
        };
        let text = revision.and_then(|sha| self.text_at(&sha, path));
        match (text, line) {
            (Some(text), Some(line)) => nth_line(&text, line).is_some(),
            (Some(_), None) => true,
            (None, None) => self.diff_of_pull(pull).contains_key(path),
            (None, Some(_)) => false,
        }
    }
}

/// Returns a line of a text, counted from one.
pub(crate) fn nth_line(text: &str, line: u32) -> Option<String> {
    let index = usize::try_from(line.checked_sub(1)?).ok()?;
    text.lines().nth(index).map(str::to_owned)
}
