//! Collects what a worker committed in its work copy, and checks it for links out of the tree and leaked secrets.

use referee_core::model::Sha;
use referee_git::{WorkCopy, parse_diff};
use referee_turn::{Source, SourceError};

use super::secrets::WorkerSecrets;
use crate::session::source::GitSource;

/// The work of a worker. Its diff is computed at delivery, against the base at that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CollectedWork {
    /// `None` if the worker made no commit.
    pub(crate) head: Option<Sha>,
    /// Paths of added symbolic links that leave the tree, and of added submodules. Hooks are covered by the protected
    /// paths, and git refuses a tree that contains a `.git` folder.
    pub(crate) escapes: Vec<String>,
}

/// Limit for the growth of the work copy's git folder.
const MAX_GIT_GROWTH_BYTES: u64 = 256 << 20;
/// Limit for what a worker adds to the diff of a change.
const MAX_DIFF_GROWTH_BYTES: usize = 8 << 20;

/// Fetches the work of a worker that started at `started_at` on a branch with the target `base`. The error is a sentence
/// that may be posted on the pull.
pub(crate) fn collect_work(
    texts: &GitSource,
    copy: &WorkCopy,
    started_at: &Sha,
    base: &Sha,
    secrets: &WorkerSecrets<'_>,
) -> Result<CollectedWork, String> {
    let head = texts.git().fetch_from_work_copy(copy, MAX_GIT_GROWTH_BYTES).map_err(|error| error.to_string())?;
    if head == *started_at {
        return Ok(CollectedWork { head: None, escapes: Vec::new() });
    }
    let escapes = find_escapes(texts, started_at, base, &head, secrets)?;
    Ok(CollectedWork { head: Some(head), escapes })
}

/// Returns the links and submodules that the worker added. Those that came with the base are not the worker's.
fn find_escapes<S: Source + ?Sized>(
    source: &S,
    started_at: &Sha,
    base: &Sha,
    head: &Sha,
    secrets: &WorkerSecrets<'_>,
) -> Result<Vec<String>, String> {
    let to_text = |error: SourceError| error.to_string();
    if source.merge_base(started_at, head).map_err(to_text)?.is_none() {
        return Err("its commit shares no history with the commit it started from".to_owned());
    }
    let diff_from_base = |to: &Sha| {
        let merge_base = source.merge_base(base, to)?;
        source.diff(merge_base.as_ref().unwrap_or(base), to)
    };
    let (before, after) = (diff_from_base(started_at).map_err(to_text)?, diff_from_base(head).map_err(to_text)?);
    if after.len().saturating_sub(before.len()) > MAX_DIFF_GROWTH_BYTES {
        return Err(format!("its change is larger than {} MiB", MAX_DIFF_GROWTH_BYTES >> 20));
    }
    if let Some(name) = secrets.find_leak(&before, &after) {
        return Err(format!("its change contains the value of `{name}`, which it was given"));
    }
    let diff_error = |error: referee_git::DiffError| error.to_string();
    let (before, after) = (parse_diff(&before).map_err(diff_error)?, parse_diff(&after).map_err(diff_error)?);
    let existed_before = |path: &str, mode: u32, blob: Option<&str>| {
        before.iter().any(|file| file.path == path && file.new_mode == Some(mode) && file.new_blob == blob)
    };
    let mut escapes = Vec::new();
    for file in &after {
        let Some(mode @ (SYMLINK_MODE | SUBMODULE_MODE)) = file.new_mode else { continue };
        if existed_before(&file.path, mode, file.new_blob) {
            continue;
        }
        let target = source.read_files(head, &[&file.path]).map_err(to_text)?.pop().flatten();
        if mode == SUBMODULE_MODE || target.is_none_or(|target| leaves_tree(&file.path, &target)) {
            escapes.push(file.path.clone());
        }
    }
    Ok(escapes)
}

const SYMLINK_MODE: u32 = 0o120_000;
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
