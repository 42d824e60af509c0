//! What a worker left in its copy: a commit, and whether that leads out of the tree.

use referee_core::model::Sha;
use referee_git::{WorkCopy, parse_diff};
use referee_turn::{Source, SourceError};

use super::secrets::WorkerSecrets;
use crate::session::source::GitSource;

/// What a worker left. What its change is, is measured when it is delivered: against the base as it is then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CollectedWork {
    /// The commit; none if it made none.
    pub(crate) head: Option<Sha>,
    /// What it added that leads out of the tree: links and submodules. Hooks and the like are protected paths, and a
    /// tree that holds a git folder does not come back at all.
    pub(crate) escapes: Vec<String>,
}

/// How many bytes a copy's git folder may grow by.
const MAX_GIT_GROWTH_BYTES: u64 = 256 << 20;
/// How many bytes a worker may add to the diff of a change.
const MAX_DIFF_GROWTH_BYTES: usize = 8 << 20;

/// Brings back what a worker left that started at a commit. Its branch wants into the base. The error says in words why
/// nothing of it can be had.
pub(crate) fn collect_work(
    texts: &GitSource,
    copy: &WorkCopy,
    started_at: &Sha,
    base: &Sha,
    given: &WorkerSecrets<'_>,
) -> Result<CollectedWork, String> {
    let head = texts.git().fetch_from_work_copy(copy, MAX_GIT_GROWTH_BYTES).map_err(|error| error.to_string())?;
    if head == *started_at {
        return Ok(CollectedWork { head: None, escapes: Vec::new() });
    }
    let escapes = find_escapes(texts, started_at, base, &head, given)?;
    Ok(CollectedWork { head: Some(head), escapes })
}

/// Of the change itself: what came in with the base is none of the worker's.
fn find_escapes<S: Source + ?Sized>(
    source: &S,
    started_at: &Sha,
    base: &Sha,
    head: &Sha,
    given: &WorkerSecrets<'_>,
) -> Result<Vec<String>, String> {
    let told = |error: SourceError| error.to_string();
    if source.merge_base(started_at, head).map_err(told)?.is_none() {
        return Err("its commit has nothing in common with where it started".to_owned());
    }
    let change = |to: &Sha| {
        let parted = source.merge_base(base, to)?;
        source.diff(parted.as_ref().unwrap_or(base), to)
    };
    let (before, after) = (change(started_at).map_err(told)?, change(head).map_err(told)?);
    if after.len().saturating_sub(before.len()) > MAX_DIFF_GROWTH_BYTES {
        return Err(format!("its change is larger than {} MiB", MAX_DIFF_GROWTH_BYTES >> 20));
    }
    if let Some(name) = given.find_leak(&before, &after) {
        return Err(format!("its change holds the value of `{name}`, which it was given"));
    }
    let unread = |error: referee_git::DiffError| error.to_string();
    let (before, after) = (parse_diff(&before).map_err(unread)?, parse_diff(&after).map_err(unread)?);
    let was_there = |path: &str, mode: u32, blob: Option<&str>| {
        before.iter().any(|it| it.path == path && it.new_mode == Some(mode) && it.new_blob == blob)
    };
    let mut escapes = Vec::new();
    for file in &after {
        let Some(mode @ (SYMLINK_MODE | SUBMODULE_MODE)) = file.new_mode else { continue };
        if was_there(&file.path, mode, file.new_blob) {
            continue;
        }
        let target = source.read_files(head, &[&file.path]).map_err(told)?.pop().flatten();
        if mode == SUBMODULE_MODE || target.is_none_or(|target| leaves_tree(&file.path, &target)) {
            escapes.push(file.path.clone());
        }
    }
    Ok(escapes)
}

const SYMLINK_MODE: u32 = 0o120_000;
const SUBMODULE_MODE: u32 = 0o160_000;

/// Whether a link at that path leads out of the tree, or into the git folder. A name on its way may be a link itself, and
/// then nobody knows from its text what is above it: going up is for its beginning only.
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
