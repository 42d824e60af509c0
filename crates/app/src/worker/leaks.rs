//! Searches every new commit of a worker for the secrets that it was given: message and headers, file names, and all
//! blobs, also of files that a later commit removes (D44).

use std::collections::BTreeSet;

use referee_core::model::Sha;
use referee_git::{AddedEntry, Git, GitError, RawCommit};

use super::secrets::WorkerSecrets;

/// Limit for the files of all new commits together.
const MAX_ADDED_BYTES: u64 = 256 << 20;
/// How many blobs are in memory at the same time.
const BLOB_BATCH: usize = 16;

/// Refuses commits that are too large to be searched, and commits with a secret that the pull does not contain already.
/// The error is a sentence that may be posted on the pull.
pub(super) fn refuse_leaks(
    git: &Git,
    new: &[RawCommit],
    pull: impl FnOnce() -> Result<Vec<RawCommit>, String>,
    secrets: &WorkerSecrets<'_>,
) -> Result<(), String> {
    let to_text = |error: GitError| error.to_string();
    let entries = git.list_added_entries(new).map_err(to_text)?;
    let blobs: BTreeSet<&str> = entries.iter().filter_map(|entry| entry.blob.as_deref()).collect();
    let size = git.measure_objects(&blobs.into_iter().collect::<Vec<_>>()).map_err(to_text)?;
    if size > MAX_ADDED_BYTES {
        return Err(format!("its commits contain more than {} MiB", MAX_ADDED_BYTES >> 20));
    }
    if secrets.is_empty() {
        return Ok(());
    }
    let found = find_secrets(git, new, &entries, secrets).map_err(to_text)?;
    if found.is_empty() {
        return Ok(());
    }
    // A rebase repeats what the author committed. That is public already, and not the worker's leak.
    let pull = pull()?;
    let entries = git.list_added_entries(&pull).map_err(to_text)?;
    let known = find_secrets(git, &pull, &entries, secrets).map_err(to_text)?;
    match found.iter().find(|(name, _)| !known.iter().any(|(known, _)| known == name)) {
        Some((name, commit)) => {
            Err(format!("commit {} contains the value of `{name}`, which it was given", commit.short()))
        }
        None => Ok(()),
    }
}

/// Returns the names of the secrets in these commits, each with a commit that contains it.
fn find_secrets<'s>(
    git: &Git,
    commits: &[RawCommit],
    entries: &[AddedEntry],
    secrets: &WorkerSecrets<'s>,
) -> Result<BTreeSet<(&'s str, Sha)>, GitError> {
    let mut found = BTreeSet::new();
    let mut note =
        |names: Vec<&'s str>, commit: &Sha| found.extend(names.into_iter().map(|name| (name, commit.clone())));
    for commit in commits {
        note(secrets.find_in(&commit.bytes), &commit.sha);
    }
    for entry in entries {
        note(secrets.find_in(&entry.path), &entry.commit);
    }
    let files: Vec<(&AddedEntry, &str)> =
        entries.iter().filter_map(|entry| Some((entry, entry.blob.as_deref()?))).collect();
    for batch in files.chunks(BLOB_BATCH) {
        let ids: Vec<&str> = batch.iter().map(|(_, blob)| *blob).collect();
        for ((entry, _), content) in batch.iter().zip(git.read_blobs(&ids)?) {
            let names = secrets.find_in(&content.unwrap_or_default());
            if names.is_empty() {
                continue;
            }
            let old = entry.old_blob.as_deref().map(|old| git.read_blobs(&[old])).transpose()?;
            let known = secrets.find_in(&old.and_then(|mut old| old.pop().flatten()).unwrap_or_default());
            note(names.into_iter().filter(|name| !known.contains(name)).collect(), &entry.commit);
        }
    }
    Ok(found)
}
