//! Places in the code: whether they are there, and whether they still are.

use std::collections::BTreeMap;

use referee_core::model::Sha;
use referee_core::plan::Place;
use referee_core::track::{LineMap, Side, line_count};
use referee_git::{Git, GitError};

use super::LocalError;
use super::words::Word;

/// Refuses places that are not there at a commit, compared with a base.
pub(super) fn check(git: &Git, commit: &Sha, base: &Sha, places: &[&Place]) -> Result<(), LocalError> {
    let texts = Texts::read(git, base, places.iter().map(|place| (commit, *place)))?;
    for place in places {
        let lines = texts.of(commit, place).map(line_count);
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

/// Files at commits, read once: one call of git for each commit, however many places there are.
pub(super) struct Texts {
    /// What is compared: for the old side of a commit's change, where the commit left the base.
    versions: BTreeMap<(Sha, &'static str), Option<Sha>>,
    read: BTreeMap<Sha, BTreeMap<String, Option<Vec<u8>>>>,
}

impl Texts {
    /// Reads the files of all these places at these commits.
    pub(super) fn read<'p>(
        git: &Git,
        base: &Sha,
        wanted: impl Iterator<Item = (&'p Sha, &'p Place)>,
    ) -> Result<Self, LocalError> {
        let mut texts = Self { versions: BTreeMap::new(), read: BTreeMap::new() };
        for (commit, place) in wanted {
            let key = (commit.clone(), place.side.word());
            let version = match texts.versions.get(&key) {
                Some(version) => version.clone(),
                None => {
                    let version = version(git, base, commit, place.side)?;
                    texts.versions.insert(key, version.clone());
                    version
                }
            };
            // Git's batch cannot carry such a name: no place is in such a file.
            if let Some(version) = version.filter(|_| !place.path.contains(['\n', '\0'])) {
                texts.read.entry(version).or_default().insert(place.path.clone(), None);
            }
        }
        for (version, files) in &mut texts.read {
            let paths: Vec<&str> = files.keys().map(String::as_str).collect();
            let contents = match git.files(version, &paths) {
                // A commit that was cleaned away has no file any more.
                Err(GitError::Missing(_)) => continue,
                contents => contents?,
            };
            for (slot, content) in files.values_mut().zip(contents) {
                *slot = content;
            }
        }
        Ok(texts)
    }

    /// Whether a place that was there at `then` is not there any more at `now`: its file is gone, or its line changed.
    pub(super) fn is_outdated(&self, place: &Place, then: &Sha, now: &Sha) -> bool {
        match (self.of(then, place), self.of(now, place), place.line) {
            (_, None, _) | (None, _, _) => true,
            (Some(_), Some(_), None) => false,
            (Some(before), Some(after), Some(_)) if before == after => false,
            (Some(before), Some(after), Some(line)) => {
                LineMap::exact(&String::from_utf8_lossy(before), &String::from_utf8_lossy(after))
                    .forward(line)
                    .is_none()
            }
        }
    }

    fn of(&self, commit: &Sha, place: &Place) -> Option<&[u8]> {
        let version = self.versions.get(&(commit.clone(), place.side.word()))?.as_ref()?;
        self.read.get(version)?.get(&place.path)?.as_deref()
    }
}

/// The commit whose files are one side of a change; nothing where there is none.
fn version(git: &Git, base: &Sha, commit: &Sha, side: Side) -> Result<Option<Sha>, LocalError> {
    match side {
        Side::New => Ok(Some(commit.clone())),
        Side::Old if git.has(commit)? => Ok(git.merge_base(base, commit)?),
        Side::Old => Ok(None),
    }
}
