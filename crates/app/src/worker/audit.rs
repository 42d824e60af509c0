//! Reports on a worker's commits: whether they keep those of the author, and whose names they carry (D44). `decide` judges
//! the report.

use std::collections::BTreeMap;

use referee_core::decide::{TreeEntry, find_protected_links};
use referee_core::model::{CommitAudit, RebaseAudit, Sha};
use referee_core::plan::JobKind;
use referee_core::track::{CommitPairs, ConflictArea, FileDiff, PatchId, WorkCommit, find_lost_changes, pair_commits};
use referee_git::{Git, GitError, MergeOutcome, RawCommit, parse_diff};

use super::collect::{SYMLINK_MODE, WorkStart};

/// Compares the new commits with the commit that the worker started from. `changed` are the paths of the pull's change,
/// with and without the new commits. The error is a sentence that may be posted on the pull.
pub(super) fn audit_commits(
    git: &Git,
    start: &WorkStart<'_>,
    head: &Sha,
    new: &[RawCommit],
    identity: &str,
    changed: &[&str],
) -> Result<CommitAudit, String> {
    let to_text = |error: GitError| error.to_string();
    let before = list_entries(git, start.commit).map_err(to_text)?;
    let after = list_entries(git, head).map_err(to_text)?;
    let mut audit = CommitAudit {
        descends: git.is_ancestor(start.commit, head).map_err(to_text)?,
        foreign: Vec::new(),
        protected_links: find_protected_links(start.policy, &before, &after, changed),
        rebase: None,
    };
    if start.kind != JobKind::Rebase {
        let new: Vec<WorkCommit> = new.iter().map(|commit| describe_commit(commit, None)).collect();
        audit.foreign = pair_commits(&[], &new, identity).foreign;
        return Ok(audit);
    }
    let replaced = start.list_replaced_commits(git, head)?;
    let (old, new) = (describe_commits(git, &replaced)?, describe_commits(git, new)?);
    let CommitPairs { foreign, dropped } = pair_commits(&old, &new, identity);
    audit.foreign = foreign;
    let merged = MergedFiles::load(git, start)?;
    let in_base = git.list_commits_in_base(start.base, start.commit).map_err(to_text)?;
    let dropped = CommitPairs::remove_explained(dropped, &old, &in_base, &merged.conflicts);
    audit.rebase = Some(RebaseAudit {
        contains_base: git.is_ancestor(start.base, head).map_err(to_text)?,
        dropped,
        lost: merged.find_lost(git, start.base, head)?,
        conflicts: merged.conflicts.into_keys().collect(),
    });
    Ok(audit)
}

/// Lists a commit's files with the targets of its links.
fn list_entries(git: &Git, commit: &Sha) -> Result<Vec<TreeEntry>, GitError> {
    let files = git.list_tree(commit)?;
    let links: Vec<&str> = files.iter().filter(|file| file.mode == SYMLINK_MODE).map(|file| file.id.as_str()).collect();
    let mut targets = if links.is_empty() { Vec::new() } else { git.read_blobs(&links)? }.into_iter();
    let entries = files.into_iter().map(|file| {
        let target = if file.mode == SYMLINK_MODE { targets.next().flatten() } else { None };
        let link_target = target.map(|target| String::from_utf8_lossy(&target).into_owned());
        TreeEntry { path: file.path, link_target }
    });
    Ok(entries.collect())
}

/// Describes commits with their patches.
fn describe_commits(git: &Git, commits: &[RawCommit]) -> Result<Vec<WorkCommit>, String> {
    let pairs: Vec<(&Sha, &Sha)> =
        commits.iter().filter_map(|commit| Some((single_parent(commit)?, &commit.sha))).collect();
    let diffs =
        if pairs.is_empty() { Vec::new() } else { git.diff_pairs(&pairs).map_err(|error| error.to_string())? };
    let mut diffs = diffs.iter();
    let described = commits.iter().map(|commit| {
        let diff = single_parent(commit).and_then(|_| diffs.next());
        let files = diff.map(|diff| parse_diff(diff)).transpose().map_err(|error| error.to_string())?;
        Ok(describe_commit(commit, files.as_deref()))
    });
    described.collect()
}

/// A merge, and a commit without a parent, have no patch.
fn single_parent(commit: &RawCommit) -> Option<&Sha> {
    match commit.parents.as_slice() {
        [parent] => Some(parent),
        _ => None,
    }
}

fn describe_commit(commit: &RawCommit, files: Option<&[FileDiff<'_>]>) -> WorkCommit {
    let paths = files.unwrap_or_default().iter().flat_map(|file| [Some(file.path.clone()), file.old_path.clone()]);
    WorkCommit {
        sha: commit.sha.clone(),
        author: commit.author.clone(),
        author_line: commit.author_line.clone(),
        committer: commit.committer.clone(),
        paths: paths.flatten().collect(),
        patch: files.map(|files| PatchId::from_files(files, |_| None)),
    }
}

/// The merge of the pull's head and its base, made by git alone.
struct MergedFiles {
    tree: Sha,
    conflicts: BTreeMap<String, ConflictArea>,
}

impl MergedFiles {
    fn load(git: &Git, start: &WorkStart<'_>) -> Result<Self, String> {
        let to_text = |error: GitError| error.to_string();
        let (tree, paths) = match git.try_merge(start.base, start.commit).map_err(to_text)? {
            MergeOutcome::Clean(tree) => (tree, Vec::new()),
            MergeOutcome::Conflicts { tree, paths } => (tree, paths),
            MergeOutcome::Unrelated => return Err("the pull shares no history with its base".to_owned()),
        };
        let names: Vec<&str> = paths.iter().map(String::as_str).collect();
        let texts = if names.is_empty() { Vec::new() } else { git.read_files(&tree, &names).map_err(to_text)? };
        let (ours, theirs) = (start.base.as_str(), start.commit.as_str());
        let areas = texts
            .into_iter()
            .map(|text| text.map_or(ConflictArea::WholeFile, |text| ConflictArea::from_markers(&text, ours, theirs)));
        let conflicts = paths.iter().cloned().zip(areas).collect();
        Ok(Self { tree, conflicts })
    }

    /// Returns the paths where the result lacks a change of the merge.
    fn find_lost(&self, git: &Git, base: &Sha, head: &Sha) -> Result<Vec<String>, String> {
        let read = |to: &Sha| git.diff(base, to).map_err(|error| error.to_string());
        let (merged, result) = (read(&self.tree)?, read(head)?);
        let parse = |diff| parse_diff(diff).map_err(|error| error.to_string());
        Ok(find_lost_changes(&parse(&merged)?, &parse(&result)?, &self.conflicts))
    }
}
