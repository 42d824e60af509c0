//! The texts of changes, read from git once: gather and the reviewers ask for the same ones.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use referee_core::model::{Changes, Mergeable, Sha};
use referee_git::{Git, GitError, MergeOutcome, parse_diff};
use referee_turn::{GatherError, Source, SourceError, compute_changes};

use crate::elsewhere::Elsewhere;
use crate::failure::{Failure, FailureKind};
use crate::ledger::{Known, Ledger};

/// git's objects, each read once a run.
#[derive(Debug)]
pub(crate) struct Texts {
    git: Git,
    elsewhere: Option<Elsewhere>,
    diffs: Mutex<BTreeMap<(Sha, Sha), Vec<u8>>>,
    files: Mutex<BTreeMap<Sha, Tree>>,
    /// Where heads left their bases, as far as they were worked out together.
    left: Mutex<BTreeMap<(Sha, Sha), Option<Sha>>>,
    ledger: Mutex<Ledger>,
}

/// So many changes are worked out at once: their texts are in memory together.
const SOME: usize = 100;

/// The files of one commit that were asked for; none where there is no such file.
type Tree = BTreeMap<String, Option<Vec<u8>>>;

impl Texts {
    /// Those of a repository that is here. Nothing is read yet.
    pub(crate) fn of(git: Git) -> Self {
        let (diffs, files) = (Mutex::default(), Mutex::default());
        Self { git, elsewhere: None, diffs, files, left: Mutex::default(), ledger: Mutex::default() }
    }

    /// Those of a repository elsewhere: a commit is fetched when it is first asked for.
    pub(crate) fn fetched(elsewhere: Elsewhere) -> Self {
        let git = elsewhere.git();
        Self { elsewhere: Some(elsewhere), ..Self::of(git) }
    }

    /// The same, with what earlier runs made of these commits.
    pub(crate) fn remembering(mut self) -> Self {
        if let Some(file) = self.elsewhere.as_ref().and_then(|elsewhere| elsewhere.beside("changes.json")) {
            self.ledger = Mutex::new(Ledger::at(file));
        }
        self
    }

    /// Leaves what was made of them to the next run.
    pub(crate) fn keep(&self) {
        locked(&self.ledger).keep();
    }

    /// The repository that they are read from.
    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    /// A text file at a commit.
    pub(crate) fn text_at(&self, commit: &Sha, path: &str) -> Result<Option<String>, Failure> {
        // What is elsewhere git brings when it is read.
        let unreadable = |error: SourceError| match &self.elsewhere {
            Some(_) => Failure::new(FailureKind::TryLater, format!("`{path}` could not be fetched: {error}"))
                .with_hint("run it again"),
            None => Failure::failed(error.to_string()),
        };
        let found = self.read_files(commit, &[path]).map_err(unreadable)?.pop().flatten();
        found
            .map(|bytes| {
                String::from_utf8(bytes)
                    .map_err(|_| Failure::usage(format!("`{path}` at {} is no UTF-8 text", commit.short())))
            })
            .transpose()
    }

    fn have(&self, commits: &[&Sha]) -> Result<(), SourceError> {
        self.elsewhere.as_ref().map_or(Ok(()), |elsewhere| elsewhere.have(commits))
    }

    /// Takes note of changes to one base, with about as many calls of git as one of them takes.
    fn work_out(&self, elsewhere: &Elsewhere, base: &Sha, heads: &[&Sha]) -> Result<(), GatherError> {
        let git = |error: GitError| GatherError::from(into(error));
        let left = self.git.merge_bases(base, heads).map_err(git)?;
        // A head that only has another base now changes what it did.
        let mut known: Vec<Option<Changes>> = {
            let ledger = locked(&self.ledger);
            heads.iter().zip(&left).map(|(head, left)| ledger.since(left.as_ref(), head)).collect()
        };
        let all = heads.iter().zip(&left).map(|(head, left)| (left.as_ref().unwrap_or(base), *head));
        let new: Vec<(&Sha, &Sha)> =
            all.zip(&known).filter(|(_, known)| known.is_none()).map(|(sides, _)| sides).collect();
        elsewhere.fetch_contents(&new).map_err(git)?;
        let diffs = self.git.diff_pairs(&new).map_err(git)?;
        self.read_sides(
            &new.iter().zip(&diffs).map(|((old, new), diff)| (*old, *new, diff.as_slice())).collect::<Vec<_>>(),
        );
        let named = new.iter().map(|(old, new)| ((*old).clone(), (*new).clone()));
        locked(&self.diffs).extend(named.zip(diffs));
        for ((head, left), known) in heads.iter().zip(&left).zip(&mut known) {
            if known.is_none() {
                locked(&self.left).insert((base.clone(), (*head).clone()), left.clone());
                *known = Some(compute_changes(self, base, head)?);
            }
        }
        // Texts are not asked for again, and many pulls have many.
        locked(&self.diffs).retain(|sides, _| !new.contains(&(&sides.0, &sides.1)));
        locked(&self.files).retain(|commit, _| !new.iter().any(|(old, new)| commit == *old || commit == *new));
        let pairs: Vec<(&Sha, &Sha)> = heads.iter().map(|head| (base, *head)).collect();
        let merges = self.git.try_merge_pairs(&pairs).map(|all| all.iter().map(mergeable).collect());
        // Each is asked for alone then.
        let merges: Vec<Mergeable> = merges.unwrap_or_else(|_| vec![Mergeable::Unknown; heads.len()]);
        let mut ledger = locked(&self.ledger);
        for ((head, changes), merges) in heads.iter().zip(known.into_iter().flatten()).zip(merges) {
            ledger.note(head, Known { base: base.clone(), merges, changes });
        }
        Ok(())
    }

    /// Reads both sides of diffs, side by side: whoever asks for a diff asks for its texts next, and the diff names their
    /// blobs.
    fn read_sides(&self, diffs: &[(&Sha, &Sha, &[u8])]) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (old, new, diff) in diffs {
            // A diff that cannot be read is told by whoever reads it.
            for file in parse_diff(diff).unwrap_or_default() {
                before.push((*old, file.old_path.unwrap_or_else(|| file.path.clone()), file.old_blob));
                after.push((*new, file.path, file.new_blob));
            }
        }
        let (before, after) = std::thread::scope(|scope| {
            let git = &self.git;
            let before = scope.spawn(|| side(git, before));
            let after = side(git, after);
            (before.join().unwrap_or_default(), after)
        });
        let mut all = locked(&self.files);
        for (commit, path, content) in before.into_iter().chain(after) {
            let known = all.entry(commit.clone()).or_default().entry(path).or_default();
            // A file that becomes a link is one that goes and one that comes, by the same name.
            *known = content.or(known.take());
        }
    }
}

/// A file of a side: its commit, its name, and the blob that a diff names or the content.
type Side<'a, T> = Vec<(&'a Sha, String, Option<T>)>;

/// One side of diffs, by the blobs that they name. What is no blob, a submodule, is left to be asked for by its path.
fn side<'a>(git: &Git, side: Side<'a, &str>) -> Side<'a, Vec<u8>> {
    let named: Vec<&str> = side.iter().filter_map(|(_, _, blob)| *blob).collect();
    let Ok(contents) = git.read_blobs(&named) else { return Vec::new() };
    let mut contents = contents.into_iter();
    let read = side.into_iter().filter_map(|(commit, path, blob)| match blob {
        Some(_) => contents.next().flatten().map(|content| (commit, path, Some(content))),
        None => Some((commit, path, None)),
    });
    read.collect()
}

impl Source for Texts {
    fn prefetch(&self, changes: &[(&Sha, &Sha)]) -> Result<(), SourceError> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        let mut new: BTreeMap<&Sha, Vec<&Sha>> = BTreeMap::new();
        for (base, head) in changes {
            if locked(&self.ledger).find(base, head).is_none() {
                new.entry(base).or_default().push(head);
            }
        }
        let commits: Vec<&Sha> = new.iter().flat_map(|(base, heads)| heads.iter().chain([base])).copied().collect();
        // One that is gone is told of when it is asked for, and so is whatever cannot be worked out.
        if elsewhere.fetch(&commits).is_ok() {
            for (base, heads) in new {
                for some in heads.chunks(SOME) {
                    let _ = self.work_out(elsewhere, base, some);
                }
            }
        }
        Ok(())
    }

    fn load_changes(&self, base: &Sha, head: &Sha) -> Result<Changes, GatherError> {
        if let Some(known) = locked(&self.ledger).find(base, head) {
            return Ok(known.changes.clone());
        }
        let changes = compute_changes(self, base, head)?;
        let (merges, known) = (self.check_mergeable(base, head), changes.clone());
        locked(&self.ledger).note(head, Known { base: base.clone(), merges, changes: known });
        Ok(changes)
    }

    fn merge_base(&self, one: &Sha, other: &Sha) -> Result<Option<Sha>, SourceError> {
        if let Some(known) = locked(&self.left).get(&(one.clone(), other.clone())) {
            return Ok(known.clone());
        }
        self.have(&[one, other])?;
        self.git.merge_base(one, other).map_err(into)
    }

    fn diff(&self, old: &Sha, new: &Sha) -> Result<Vec<u8>, SourceError> {
        let key = (old.clone(), new.clone());
        if let Some(known) = locked(&self.diffs).get(&key) {
            return Ok(known.clone());
        }
        self.have(&[old, new])?;
        let read = self.git.diff(old, new).map_err(into)?;
        self.read_sides(&[(old, new, &read)]);
        locked(&self.diffs).insert(key, read.clone());
        Ok(read)
    }

    fn read_files(&self, at: &Sha, paths: &[&str]) -> Result<Vec<Option<Vec<u8>>>, SourceError> {
        let mut all = locked(&self.files);
        let known = all.entry(at.clone()).or_default();
        let missing: Vec<&str> = paths.iter().copied().filter(|path| !known.contains_key(*path)).collect();
        if !missing.is_empty() {
            self.have(&[at])?;
            let read = self.git.read_files(at, &missing).map_err(into)?;
            known.extend(missing.into_iter().map(str::to_owned).zip(read));
        }
        Ok(paths.iter().map(|path| known.get(*path).cloned().flatten()).collect())
    }

    fn is_ancestor(&self, ancestor: &Sha, of: &Sha) -> Result<bool, SourceError> {
        self.have(&[ancestor, of])?;
        self.git.is_ancestor(ancestor, of).map_err(into)
    }

    fn check_mergeable(&self, base: &Sha, head: &Sha) -> Mergeable {
        match locked(&self.ledger).find(base, head) {
            Some(known) if known.merges != Mergeable::Unknown => known.merges,
            _ => self.git.try_merge(base, head).map_or(Mergeable::Unknown, |merges| mergeable(&merges)),
        }
    }
}

fn mergeable(merges: &MergeOutcome) -> Mergeable {
    match merges {
        MergeOutcome::Clean(_) => Mergeable::Clean,
        MergeOutcome::Conflicts(_) => Mergeable::Conflict,
        MergeOutcome::Unrelated => Mergeable::Unknown,
    }
}

/// A panic in another thread leaves nothing half done here.
pub(crate) fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn into(error: GitError) -> SourceError {
    match error {
        GitError::CommitNotFound(sha) => SourceError::Missing(sha.to_string()),
        other => SourceError::Unreadable(other.to_string()),
    }
}
