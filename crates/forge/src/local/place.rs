//! Places in the code: whether they are there, and whether they still are.

use std::collections::BTreeMap;

use referee_core::model::Sha;
use referee_core::plan::Place;
use referee_core::track::{LineMap, Side, line_count};
use referee_git::Git;

use super::LocalError;

/// Refuses places that are not there at a commit, compared with a base.
pub(super) fn check(git: &Git, commit: &Sha, base: &Sha, places: &[&Place]) -> Result<(), LocalError> {
    let mut texts = Texts::new(git, base);
    for place in places {
        let text = texts.at(commit, place.side, &place.path)?;
        let lines = text.as_ref().map(|text| line_count(text));
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

/// Files at commits, each read once.
pub(super) struct Texts<'a> {
    git: &'a Git,
    base: &'a Sha,
    old: BTreeMap<Sha, Option<Sha>>,
    read: BTreeMap<(Sha, String), Option<Vec<u8>>>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(git: &'a Git, base: &'a Sha) -> Self {
        Self { git, base, old: BTreeMap::new(), read: BTreeMap::new() }
    }

    /// Whether a place that was there at `then` is not there any more at `now`: its file is gone, or its line changed.
    pub(super) fn is_outdated(&mut self, place: &Place, then: &Sha, now: &Sha) -> Result<bool, LocalError> {
        if then == now {
            return Ok(false);
        }
        let after = self.at(now, place.side, &place.path)?;
        let before = self.at(then, place.side, &place.path)?;
        Ok(match (before, after, place.line) {
            (_, None, _) | (None, Some(_), _) => true,
            (Some(_), Some(_), None) => false,
            (Some(before), Some(after), Some(_)) if before == after => false,
            (Some(before), Some(after), Some(line)) => {
                LineMap::exact(&String::from_utf8_lossy(&before), &String::from_utf8_lossy(&after))
                    .forward(line)
                    .is_none()
            }
        })
    }

    /// A file on one side of the change that a commit makes; nothing where there is none.
    fn at(&mut self, commit: &Sha, side: Side, path: &str) -> Result<Option<Vec<u8>>, LocalError> {
        let version = match side {
            Side::New => Some(commit.clone()),
            Side::Old => self.old_side(commit)?,
        };
        let Some(version) = version else { return Ok(None) };
        let key = (version, path.to_owned());
        if let Some(text) = self.read.get(&key) {
            return Ok(text.clone());
        }
        // Git's batch cannot carry such a name, and a commit that is gone has no files.
        let readable = !path.contains(['\n', '\0']) && self.git.has(&key.0)?;
        let text = if readable { self.git.files(&key.0, &[path])?.pop().flatten() } else { None };
        self.read.insert(key, text.clone());
        Ok(text)
    }

    fn old_side(&mut self, commit: &Sha) -> Result<Option<Sha>, LocalError> {
        if let Some(known) = self.old.get(commit) {
            return Ok(known.clone());
        }
        let old = if self.git.has(commit)? { self.git.merge_base(self.base, commit)? } else { None };
        self.old.insert(commit.clone(), old.clone());
        Ok(old)
    }
}
