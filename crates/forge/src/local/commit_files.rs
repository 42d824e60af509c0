//! Locations in files: whether they exist at a commit, and whether they changed since.

use std::collections::BTreeMap;

use referee_core::model::Sha;
use referee_core::plan::DiffLocation;
use referee_core::track::{LineMap, Side, count_lines};
use referee_git::{Git, GitError};

use super::LocalError;
use super::column::ColumnValue;

/// Refuses locations that do not exist at a commit, compared with a base.
pub(super) fn check_locations(git: &Git, commit: &Sha, base: &Sha, places: &[&DiffLocation]) -> Result<(), LocalError> {
    let texts = CommitFiles::load(git, base, places.iter().map(|place| (commit, *place)))?;
    for place in places {
        let lines = texts.find_text(commit, place).map(count_lines);
        let fits = match (lines, place.line) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(lines), Some(line)) => (1..=lines).contains(&line) && place.start_line.is_none_or(|it| it <= line),
        };
        if !fits {
            return Err(LocalError::Refused(format!("`{}` has no such line", place.path)));
        }
    }
    Ok(())
}

/// Files at commits, read with one git call per commit.
pub(super) struct CommitFiles {
    /// What is compared: for the old side of a commit's change, where the commit left the base.
    side_commits: BTreeMap<(Sha, &'static str), Option<Sha>>,
    files: BTreeMap<Sha, BTreeMap<String, Option<Vec<u8>>>>,
}

impl CommitFiles {
    /// Reads the files of these locations at their commits.
    pub(super) fn load<'p>(
        git: &Git,
        base: &Sha,
        wanted: impl Iterator<Item = (&'p Sha, &'p DiffLocation)>,
    ) -> Result<Self, LocalError> {
        let mut texts = Self { side_commits: BTreeMap::new(), files: BTreeMap::new() };
        for (commit, place) in wanted {
            let key = (commit.clone(), place.side.column_text());
            let version = match texts.side_commits.get(&key) {
                Some(version) => version.clone(),
                None => {
                    let version = resolve_side_commit(git, base, commit, place.side)?;
                    texts.side_commits.insert(key, version.clone());
                    version
                }
            };
            // No file's name contains a NUL, which separates the names that git reads.
            if let Some(version) = version.filter(|_| !place.path.contains('\0')) {
                texts.files.entry(version).or_default().insert(place.path.clone(), None);
            }
        }
        for (version, files) in &mut texts.files {
            let paths: Vec<&str> = files.keys().map(String::as_str).collect();
            let contents = match git.read_files(version, &paths) {
                // Git removed the commit, so its files are gone.
                Err(GitError::CommitNotFound(_)) => continue,
                contents => contents?,
            };
            for (slot, content) in files.values_mut().zip(contents) {
                *slot = content;
            }
        }
        Ok(texts)
    }

    /// Returns whether a location of `then` is outdated at `now`: its file is gone, or its line changed.
    pub(super) fn is_outdated(&self, place: &DiffLocation, then: &Sha, now: &Sha) -> bool {
        match (self.find_text(then, place), self.find_text(now, place), place.line) {
            (_, None, _) | (None, _, _) => true,
            (Some(_), Some(_), None) => false,
            (Some(before), Some(after), Some(_)) if before == after => false,
            (Some(before), Some(after), Some(line)) => {
                LineMap::from_exact_diff(&String::from_utf8_lossy(before), &String::from_utf8_lossy(after))
                    .to_new_line(line)
                    .is_none()
            }
        }
    }

    fn find_text(&self, commit: &Sha, place: &DiffLocation) -> Option<&[u8]> {
        let version = self.side_commits.get(&(commit.clone(), place.side.column_text()))?.as_ref()?;
        self.files.get(version)?.get(&place.path)?.as_deref()
    }
}

/// Returns the commit whose files are one side of a change, if there is one.
fn resolve_side_commit(git: &Git, base: &Sha, commit: &Sha, side: Side) -> Result<Option<Sha>, LocalError> {
    match side {
        Side::New => Ok(Some(commit.clone())),
        Side::Old if git.has_commit(commit)? => Ok(git.merge_base(base, commit)?),
        Side::Old => Ok(None),
    }
}
