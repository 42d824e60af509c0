//! Where a pull is now: a push is simply a moved branch, so git is asked each time.

use referee_core::model::{PullState, Push, Sha, Time};
use referee_git::Git;

use super::LocalError;
use super::names::local_name;
use super::pulls::{Follows, Kept, Seen};

/// A pull's two ends now.
#[derive(Clone, Debug)]
pub(super) struct Tip {
    pub(super) head: Sha,
    pub(super) base_sha: Sha,
    pub(super) state: PullState,
    /// All pushes, the one that nobody wrote down yet among them.
    pub(super) pushes: Vec<Push>,
}

impl Tip {
    /// A pull's ends, by git.
    ///
    /// | the pull | its head |
    /// |---|---|
    /// | closed or merged | the last that was seen |
    /// | set by hand | the last that was set |
    /// | its branch is there | the branch's |
    /// | its branch is gone, its last commit is not | that commit: it stays open, nothing is lost |
    /// | both are gone | an error that says so |
    pub(super) fn of(git: &Git, kept: &Kept) -> Result<Self, LocalError> {
        let last = kept.pushes.last();
        let moves = kept.state == PullState::Open && kept.follows == Follows::Branch;
        let branch = if moves { revision(git, &kept.branch)? } else { None };
        let head = match (branch, last) {
            (Some(head), _) => head,
            (None, None) => return Err(LocalError::NoSuchRevision(kept.branch.clone())),
            (None, Some(last)) => git.resolve(last.push.head.as_str())?.ok_or_else(|| LocalError::HeadGone {
                pull: local_name(kept.number),
                branch: kept.branch.clone(),
                head: last.push.head.short().to_owned(),
            })?,
        };
        let base_sha = revision(git, &kept.base)?.ok_or_else(|| LocalError::NoSuchRevision(kept.base.clone()))?;
        let mut pushes: Vec<Push> = kept.pushes.iter().map(|seen| seen.push.clone()).collect();
        match last {
            Some(last) if last.push.head == head => {}
            _ => pushes.push(push(git, kept, &head)?),
        }
        let state = match last {
            Some(last) if kept.state == PullState::Open && is_merged(git, last, &head, &base_sha)? => PullState::Merged,
            _ => kept.state,
        };
        Ok(Self { head, base_sha, state, pushes })
    }

    /// Since when the head is there.
    pub(super) fn since(&self) -> Time {
        self.pushes.last().map_or(Time(0), |push| push.at)
    }
}

/// A branch of that name first; else whatever else git knows by it.
pub(super) fn revision(git: &Git, name: &str) -> Result<Option<Sha>, LocalError> {
    match git.resolve(&format!("refs/heads/{name}"))? {
        Some(sha) => Ok(Some(sha)),
        None => Ok(git.resolve(name)?),
    }
}

/// The push that brought a head: when its branch was moved there, else when it was committed.
fn push(git: &Git, kept: &Kept, head: &Sha) -> Result<Push, LocalError> {
    let at = match git.moved_at(&kept.branch, head)? {
        Some(at) => at,
        None => git.commit(head)?.time,
    };
    // Clocks of machines differ and reflogs are trimmed; the order of pushes is known all the same.
    let before = kept.pushes.last().map_or(Time(i64::MIN), |seen| seen.push.at);
    Ok(Push { head: head.clone(), by: Some(kept.author.clone()), at: before.max(Time(at)) })
}

/// The head came into the base since it was first seen. A branch that never had anything of its own is not merged.
fn is_merged(git: &Git, last: &Seen, head: &Sha, base_sha: &Sha) -> Result<bool, LocalError> {
    Ok(last.push.head == *head
        && last.base_sha != *base_sha
        && git.is_ancestor(head, base_sha)?
        && !git.is_ancestor(head, &last.base_sha)?)
}
