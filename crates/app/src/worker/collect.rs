//! Collects what a worker committed in its work copy, and checks it for links out of the tree and leaked secrets.

use referee_core::model::{CommitAudit, Sha};
use referee_core::plan::JobKind;
use referee_core::policy::Policy;
use referee_core::track::FileDiff;
use referee_git::{Git, RawCommit, WorkCopy, parse_diff};
use referee_turn::{Source, SourceError};

use super::audit::audit_commits;
use super::leaks::refuse_leaks;
use super::secrets::WorkerSecrets;
use crate::session::source::GitSource;

/// The work of a worker. Its diff is computed at delivery, against the base at that time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CollectedWork {
    /// `None` if the worker made no commit.
    pub(crate) head: Option<Sha>,
    /// Paths of added symbolic links that leave the tree, and of added submodules. Hooks are covered by the protected
    /// paths, and git refuses a tree that contains a `.git` folder.
    pub(crate) escapes: Vec<String>,
    /// `None` if the worker made no commit.
    pub(crate) audit: Option<CommitAudit>,
}

/// What a worker started from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkStart<'a> {
    pub(crate) kind: JobKind,
    /// The pull's head, or the tip of the default branch.
    pub(crate) commit: &'a Sha,
    /// The tip of the target branch.
    pub(crate) base: &'a Sha,
    pub(crate) policy: &'a Policy,
}

/// Limit for the growth of the work copy's git folder.
const MAX_GIT_GROWTH_BYTES: u64 = 256 << 20;
/// Limit for what a worker adds to the diff of a change.
const MAX_DIFF_GROWTH_BYTES: usize = 8 << 20;
/// Limit for the commits of a worker, and for those of a pull that it rebases.
const MAX_COMMITS: usize = 1000;

impl WorkStart<'_> {
    /// Lists the pull's commits that `head` does not contain.
    pub(super) fn list_replaced_commits(&self, git: &Git, head: &Sha) -> Result<Vec<RawCommit>, String> {
        list_commits(git, self.commit, &[self.base, head])
    }
}

fn list_commits(git: &Git, head: &Sha, known: &[&Sha]) -> Result<Vec<RawCommit>, String> {
    let commits = git.list_new_commits(head, known, MAX_COMMITS).map_err(|error| error.to_string())?;
    commits.ok_or_else(|| format!("there are more than {MAX_COMMITS} commits"))
}

/// Fetches and examines the work of a worker. The error is a sentence that may be posted on the pull.
pub(crate) fn collect_work(
    texts: &GitSource,
    copy: &WorkCopy,
    start: &WorkStart<'_>,
    secrets: &WorkerSecrets<'_>,
) -> Result<CollectedWork, String> {
    let git = texts.git();
    let head = git.fetch_from_work_copy(copy, MAX_GIT_GROWTH_BYTES).map_err(|error| error.to_string())?;
    if head == *start.commit {
        return Ok(CollectedWork::default());
    }
    let to_text = |error: SourceError| error.to_string();
    if texts.merge_base(start.commit, &head).map_err(to_text)?.is_none() {
        return Err("its commit shares no history with the commit it started from".to_owned());
    }
    let new = list_commits(git, &head, &[start.commit, start.base])?;
    refuse_leaks(git, &new, || list_commits(git, start.commit, &[start.base]), secrets)?;
    let diff_from_base = |to: &Sha| {
        let merge_base = texts.merge_base(start.base, to)?;
        texts.diff(merge_base.as_ref().unwrap_or(start.base), to)
    };
    let (before, after) = (diff_from_base(start.commit).map_err(to_text)?, diff_from_base(&head).map_err(to_text)?);
    if after.len().saturating_sub(before.len()) > MAX_DIFF_GROWTH_BYTES {
        return Err(format!("its change is larger than {} MiB", MAX_DIFF_GROWTH_BYTES >> 20));
    }
    let diff_error = |error: referee_git::DiffError| error.to_string();
    let (before, after) = (parse_diff(&before).map_err(diff_error)?, parse_diff(&after).map_err(diff_error)?);
    let escapes = find_escapes(texts, &head, &before, &after)?;
    let changed: Vec<&str> = before
        .iter()
        .chain(&after)
        .flat_map(|file| std::iter::once(file.path.as_str()).chain(file.old_path.as_deref()))
        .collect();
    let audit = audit_commits(git, start, &head, &new, copy.identity(), &changed)?;
    Ok(CollectedWork { head: Some(head), escapes, audit: Some(audit) })
}

/// Returns the links and submodules that the worker added. Those that came with the base are not the worker's.
fn find_escapes(
    source: &GitSource,
    head: &Sha,
    before: &[FileDiff<'_>],
    after: &[FileDiff<'_>],
) -> Result<Vec<String>, String> {
    let existed_before = |path: &str, mode: u32, blob: Option<&str>| {
        before.iter().any(|file| file.path == path && file.new_mode == Some(mode) && file.new_blob == blob)
    };
    let mut escapes = Vec::new();
    for file in after {
        let Some(mode @ (SYMLINK_MODE | SUBMODULE_MODE)) = file.new_mode else { continue };
        if existed_before(&file.path, mode, file.new_blob) {
            continue;
        }
        let read = source.read_files(head, &[&file.path]).map_err(|error| error.to_string())?;
        let target = read.into_iter().next().flatten();
        if mode == SUBMODULE_MODE || target.is_none_or(|target| leaves_tree(&file.path, &target)) {
            escapes.push(file.path.clone());
        }
    }
    Ok(escapes)
}

pub(super) const SYMLINK_MODE: u32 = 0o120_000;
const SUBMODULE_MODE: u32 = 0o160_000;

/// Returns whether a symbolic link at `path` may lead out of the tree, or into the git folder. `..` is allowed only at the
/// start of the target: any later component may itself be a link, and then `..` leads somewhere else.
fn leaves_tree(path: &str, target: &[u8]) -> bool {
    let Ok(target) = std::str::from_utf8(target) else { return true };
    if target.is_empty() || target.starts_with('/') {
        return true;
    }
    let mut parts = target.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
    let mut up = 0;
    while parts.next_if_eq(&"..").is_some() {
        up += 1;
    }
    up > path.matches('/').count() || parts.any(|part| part == ".." || part.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests;
