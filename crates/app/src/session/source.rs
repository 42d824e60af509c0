//! Commits, diffs and files of a repository, each read from git once per run.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use referee_core::model::{Changes, Mergeable, Sha};
use referee_git::{Git, GitError, MergeOutcome, parse_diff};
use referee_turn::{GatherError, Source, SourceError, compute_changes};

use crate::failure::{Failure, FailureKind};
use crate::session::diff_cache::{CachedChanges, DiffCache};
use crate::session::remote_commits::RemoteCommits;

/// A repository as a `Source`: this checkout, or a cache that fetches missing commits.
#[derive(Debug)]
pub(crate) struct GitSource {
    git: Git,
    remote: Option<RemoteCommits>,
    diffs: Mutex<BTreeMap<(Sha, Sha), Vec<u8>>>,
    files: Mutex<BTreeMap<Sha, FileContents>>,
    /// Merge bases by base and head, filled by `work_out`.
    merge_bases: Mutex<BTreeMap<(Sha, Sha), Option<Sha>>>,
    changes: Mutex<DiffCache>,
}

/// How many changes are computed together; their file contents are in memory at the same time.
const DIFF_BATCH: usize = 100;

/// Files of one commit by path; `None` if the commit has no such file.
type FileContents = BTreeMap<String, Option<Vec<u8>>>;

impl GitSource {
    /// A source that reads the repository of this checkout.
    pub(crate) fn from_checkout(git: Git) -> Self {
        let (diffs, files) = (Mutex::default(), Mutex::default());
        let (merge_bases, changes) = (Mutex::default(), Mutex::default());
        Self { git, remote: None, diffs, files, merge_bases, changes }
    }

    /// A source that fetches commits when they are first used.
    pub(crate) fn from_remote(remote: RemoteCommits) -> Self {
        let git = remote.git();
        Self { remote: Some(remote), ..Self::from_checkout(git) }
    }

    /// Loads the changes that earlier runs computed.
    pub(crate) fn with_change_cache(mut self) -> Self {
        if let Some(file) = self.remote.as_ref().and_then(|remote| remote.sibling_path("changes.json")) {
            self.changes = Mutex::new(DiffCache::load(file));
        }
        self
    }

    /// Saves the computed changes for the next run.
    pub(crate) fn save_change_cache(&self) {
        lock(&self.changes).save();
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    /// Reads a text file at a commit; `None` if there is none.
    pub(crate) fn read_text(&self, commit: &Sha, path: &str) -> Result<Option<String>, Failure> {
        // Git fetches blobs of a remote repository while it reads, so the read itself may fail for now.
        let unreadable = |error: SourceError| match &self.remote {
            Some(_) => Failure::new(FailureKind::TryLater, format!("`{path}` could not be fetched: {error}"))
                .with_hint("run it again"),
            None => Failure::failed(error.to_string()),
        };
        let found = self.read_files(commit, &[path]).map_err(unreadable)?.pop().flatten();
        found
            .map(|bytes| {
                String::from_utf8(bytes)
                    .map_err(|_| Failure::usage(format!("`{path}` at {} is not UTF-8", commit.short())))
            })
            .transpose()
    }

    fn ensure(&self, commits: &[&Sha]) -> Result<(), SourceError> {
        self.remote.as_ref().map_or(Ok(()), |remote| remote.ensure(commits))
    }

    /// Computes the changes of several heads to one base with about as many git calls as one of them needs.
    fn compute_batch(&self, remote: &RemoteCommits, base: &Sha, heads: &[&Sha]) -> Result<(), GatherError> {
        let git = |error: GitError| GatherError::from(source_error(error));
        let merge_bases = self.git.merge_bases(base, heads).map_err(git)?;
        // A change that is too large would end the whole batch. It is reported when it is used.
        let sides: Vec<(&Sha, &Sha)> =
            heads.iter().zip(&merge_bases).map(|(head, from)| (from.as_ref().unwrap_or(base), *head)).collect();
        let oversized = self.git.find_oversized(&sides).map_err(git)?;
        let fits = |index: &usize| !oversized.contains(index);
        let heads: Vec<&Sha> = heads.iter().enumerate().filter(|(at, _)| fits(at)).map(|(_, head)| *head).collect();
        let merge_bases: Vec<Option<Sha>> =
            merge_bases.into_iter().enumerate().filter(|(at, _)| fits(at)).map(|(_, from)| from).collect();
        // A head whose base moved without changing the merge base changes the same as before.
        let mut known: Vec<Option<Changes>> = {
            let cache = lock(&self.changes);
            heads
                .iter()
                .zip(&merge_bases)
                .map(|(head, merge_base)| cache.find_since(merge_base.as_ref(), head))
                .collect()
        };
        let all = heads.iter().zip(&merge_bases).map(|(head, merge_base)| (merge_base.as_ref().unwrap_or(base), *head));
        let new: Vec<(&Sha, &Sha)> =
            all.zip(&known).filter(|(_, known)| known.is_none()).map(|(sides, _)| sides).collect();
        remote.fetch_blobs(&new).map_err(git)?;
        let diffs = self.git.diff_pairs(&new).map_err(git)?;
        self.prefetch_files(
            &new.iter().zip(&diffs).map(|((old, new), diff)| (*old, *new, diff.as_slice())).collect::<Vec<_>>(),
        );
        let named = new.iter().map(|(old, new)| ((*old).clone(), (*new).clone()));
        lock(&self.diffs).extend(named.zip(diffs));
        for ((head, merge_base), known) in heads.iter().zip(&merge_bases).zip(&mut known) {
            if known.is_none() {
                lock(&self.merge_bases).insert((base.clone(), (*head).clone()), merge_base.clone());
                *known = Some(compute_changes(self, base, head)?);
            }
        }
        // The contents are not used again, and many pulls have many.
        lock(&self.diffs).retain(|sides, _| !new.contains(&(&sides.0, &sides.1)));
        lock(&self.files).retain(|commit, _| !new.iter().any(|(old, new)| commit == *old || commit == *new));
        let pairs: Vec<(&Sha, &Sha)> = heads.iter().map(|head| (base, *head)).collect();
        let merges = self.git.try_merge_pairs(&pairs).map(|all| all.iter().map(mergeable).collect());
        // On failure each merge is tried alone when it is used.
        let merges: Vec<Mergeable> = merges.unwrap_or_else(|_| vec![Mergeable::Unknown; heads.len()]);
        let mut cache = lock(&self.changes);
        for ((head, changes), merges) in heads.iter().zip(known.into_iter().flatten()).zip(merges) {
            cache.insert(head, CachedChanges { base: base.clone(), merges, changes });
        }
        Ok(())
    }

    /// Reads old and new contents of the files in these diffs, both sides in parallel: the reader of a diff needs them next.
    fn prefetch_files(&self, diffs: &[(&Sha, &Sha, &[u8])]) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (old, new, diff) in diffs {
            // An unreadable diff is reported by its reader.
            for file in parse_diff(diff).unwrap_or_default() {
                before.push((*old, file.old_path.unwrap_or_else(|| file.path.clone()), file.old_blob));
                after.push((*new, file.path, file.new_blob));
            }
        }
        let (before, after) = std::thread::scope(|scope| {
            let git = &self.git;
            let before = scope.spawn(|| read_side(git, before));
            let after = read_side(git, after);
            (before.join().unwrap_or_default(), after)
        });
        let mut all = lock(&self.files);
        for (commit, path, content) in before.into_iter().chain(after) {
            let known = all.entry(commit.clone()).or_default().entry(path).or_default();
            // A file that becomes a symlink is in the diff twice under the same name, deleted and added.
            *known = content.or(known.take());
        }
    }
}

/// Files of one side of a diff: commit, path, and the blob id or the content.
type DiffSide<'a, T> = Vec<(&'a Sha, String, Option<T>)>;

/// Reads the blobs of one side. Entries that are no blobs, such as submodules, are dropped and read by path later.
fn read_side<'a>(git: &Git, side: DiffSide<'a, &str>) -> DiffSide<'a, Vec<u8>> {
    let named: Vec<&str> = side.iter().filter_map(|(_, _, blob)| *blob).collect();
    let Ok(contents) = git.read_blobs(&named) else { return Vec::new() };
    let mut contents = contents.into_iter();
    let read = side.into_iter().filter_map(|(commit, path, blob)| match blob {
        Some(_) => contents.next().flatten().map(|content| (commit, path, Some(content))),
        None => Some((commit, path, None)),
    });
    read.collect()
}

impl Source for GitSource {
    fn prefetch(&self, changes: &[(&Sha, &Sha)]) -> Result<(), SourceError> {
        let Some(remote) = &self.remote else { return Ok(()) };
        let mut new: BTreeMap<&Sha, Vec<&Sha>> = BTreeMap::new();
        for (base, head) in changes {
            if lock(&self.changes).find(base, head).is_none() {
                new.entry(base).or_default().push(head);
            }
        }
        let commits: Vec<&Sha> = new.iter().flat_map(|(base, heads)| heads.iter().chain([base])).copied().collect();
        // Failures are reported when a change is used: one missing commit must not fail the others.
        if remote.fetch(&commits).is_ok() {
            for (base, heads) in new {
                for some in heads.chunks(DIFF_BATCH) {
                    let _ = self.compute_batch(remote, base, some);
                }
            }
        }
        Ok(())
    }

    fn load_changes(&self, base: &Sha, head: &Sha) -> Result<Changes, GatherError> {
        if let Some(known) = lock(&self.changes).find(base, head) {
            return Ok(known.changes.clone());
        }
        let changes = compute_changes(self, base, head)?;
        let (merges, known) = (self.check_mergeable(base, head), changes.clone());
        lock(&self.changes).insert(head, CachedChanges { base: base.clone(), merges, changes: known });
        Ok(changes)
    }

    fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, SourceError> {
        if let Some(known) = lock(&self.merge_bases).get(&(one.clone(), other.clone())) {
            return Ok(known.clone());
        }
        self.ensure(&[one, other])?;
        self.git.merge_base(one, other).map_err(source_error)
    }

    fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, SourceError> {
        let key = (old.clone(), new.clone());
        if let Some(known) = lock(&self.diffs).get(&key) {
            return Ok(known.clone());
        }
        self.ensure(&[old, new])?;
        let read = self.git.diff(old, new).map_err(source_error)?;
        self.prefetch_files(&[(old, new, &read)]);
        lock(&self.diffs).insert(key, read.clone());
        Ok(read)
    }

    fn read_files(&self, at: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, SourceError> {
        let mut all = lock(&self.files);
        let known = all.entry(at.clone()).or_default();
        let missing: Vec<&str> = paths.iter().copied().filter(|path| !known.contains_key(*path)).collect();
        if !missing.is_empty() {
            self.ensure(&[at])?;
            let read = self.git.read_files(at, &missing).map_err(source_error)?;
            known.extend(missing.into_iter().map(str::to_owned).zip(read));
        }
        Ok(paths.iter().map(|path| known.get(*path).cloned().flatten()).collect())
    }

    fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, SourceError> {
        self.ensure(&[ancestor, of])?;
        self.git.is_ancestor(ancestor, of).map_err(source_error)
    }

    fn check_mergeable(&self, base: &Sha, head: &Sha) -> Mergeable {
        match lock(&self.changes).find(base, head) {
            Some(known) if known.merges != Mergeable::Unknown => known.merges,
            _ => self.git.try_merge(base, head).map_or(Mergeable::Unknown, |merges| mergeable(&merges)),
        }
    }
}

fn mergeable(merges: &MergeOutcome) -> Mergeable {
    match merges {
        MergeOutcome::Clean(_) => Mergeable::Clean,
        MergeOutcome::Conflicts { .. } => Mergeable::Conflict,
        MergeOutcome::Unrelated => Mergeable::Unknown,
    }
}

/// Locks a cache. A poisoned one is used as it is: entries are complete or absent.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn source_error(error: GitError) -> SourceError {
    match error {
        GitError::CommitNotFound(sha) => SourceError::Missing(sha.to_string()),
        GitError::TooLarge(what) => SourceError::TooLarge(what),
        other => SourceError::Unreadable(other.to_string()),
    }
}
