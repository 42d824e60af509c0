//! Which commit of a rebased branch continues which old commit, and whose name it is in (D44).

use std::collections::{BTreeMap, BTreeSet};

use super::{ConflictArea, PatchId};
use crate::model::Sha;

/// A commit with what a rebase keeps of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkCommit {
    pub sha: Sha,
    /// As git shows it: `Name <address>`.
    pub author: String,
    /// Name, address and time, which a rebase keeps.
    pub author_line: String,
    /// As git shows it: `Name <address>`.
    pub committer: String,
    /// The changed paths. Empty for a merge.
    pub paths: Vec<String>,
    /// `None` for a merge.
    pub patch: Option<PatchId>,
}

/// The commits of a worker, compared with those of the pull.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitPairs {
    /// New commits in another name than that of the fixing identity, or of the commit that they continue.
    pub foreign: Vec<Sha>,
    /// Old commits that no new commit continues. Merges, and commits without a change, do not count: a rebase leaves
    /// them out.
    pub dropped: Vec<Sha>,
}

impl CommitPairs {
    /// Removes the dropped commits that a rebase may drop: the base has the same patch, or the commit touches a file with
    /// conflicts, whose solution may leave nothing of it.
    pub fn remove_explained(
        dropped: Vec<Sha>,
        old: &[WorkCommit],
        in_base: &[Sha],
        conflicts: &BTreeMap<String, ConflictArea>,
    ) -> Vec<Sha> {
        let conflicts = |sha: &Sha| {
            let commit = old.iter().find(|it| it.sha == *sha);
            commit.is_some_and(|it| it.paths.iter().any(|path| conflicts.contains_key(path)))
        };
        dropped.into_iter().filter(|sha| !in_base.contains(sha) && !conflicts(sha)).collect()
    }
}

/// Compares the new commits with those that they replace. `identity` is the name and address of the fixing identity.
///
/// | new commit | its author must be |
/// |---|---|
/// | has the patch of an old commit | the author of that commit, at the same time |
/// | has author and time of an old commit, such as after a solved conflict | – |
/// | any other | the fixing identity |
///
/// The committer is always the fixing identity.
pub fn pair_commits(old: &[WorkCommit], new: &[WorkCommit], identity: &str) -> CommitPairs {
    let mut continued: BTreeSet<&Sha> = BTreeSet::new();
    let mut foreign: BTreeSet<&Sha> = new.iter().filter(|it| it.committer != identity).map(|it| &it.sha).collect();
    let mut unpaired = Vec::new();
    for commit in new {
        let mut same_patch =
            old.iter().filter(|it| it.patch.is_some() && it.patch == commit.patch && !continued.contains(&it.sha));
        let first = same_patch.clone().next();
        let same_author = same_patch.find(|it| it.author_line == commit.author_line);
        match same_author.or(first) {
            Some(found) => {
                if same_author.is_none() {
                    foreign.insert(&commit.sha);
                }
                continued.insert(&found.sha);
            }
            None => unpaired.push(commit),
        }
    }
    for commit in unpaired {
        let found = old.iter().find(|it| it.author_line == commit.author_line && !continued.contains(&it.sha));
        match found {
            Some(found) => drop(continued.insert(&found.sha)),
            None if commit.author == identity => {}
            None => drop(foreign.insert(&commit.sha)),
        }
    }
    let dropped = old.iter().filter(|it| !it.paths.is_empty() && !continued.contains(&it.sha));
    CommitPairs {
        foreign: new.iter().map(|it| &it.sha).filter(|sha| foreign.contains(sha)).cloned().collect(),
        dropped: dropped.map(|it| it.sha.clone()).collect(),
    }
}
