//! Where a pull is now: a push is simply a moved branch, so git is asked each time.

use referee_core::model::{PullState, Push, Sha, Time};
use referee_git::Git;

use super::LocalError;
use super::names::format_local_name;
use super::pulls::{HeadSource, LocalPullRecord, RecordedPush};

/// A pull's two ends now.
#[derive(Clone, Debug)]
pub(super) struct ResolvedPull {
    pub(super) head: Sha,
    pub(super) base_sha: Sha,
    pub(super) state: PullState,
    /// All pushes, the one that nobody wrote down yet among them.
    pub(super) pushes: Vec<Push>,
}

impl ResolvedPull {
    /// A pull's ends, by git.
    ///
    /// | the pull | its head |
    /// |---|---|
    /// | closed or merged | the last that was seen |
    /// | set by hand | the last that was set |
    /// | its branch is there | the branch's |
    /// | its branch is gone, its last commit is not | that commit: it stays open, nothing is lost |
    /// | both are gone | an error that says so |
    pub(super) fn resolve(git: &Git, kept: &LocalPullRecord) -> Result<Self, LocalError> {
        let last = kept.pushes.last();
        let moves = kept.state == PullState::Open && kept.head_source == HeadSource::Branch;
        let branch = if moves { resolve_revision(git, &kept.branch)? } else { None };
        let head = match (branch, last) {
            (Some(head), _) => head,
            (None, None) => return Err(LocalError::NoSuchRevision(kept.branch.clone())),
            (None, Some(last)) => git.resolve(last.push.head.as_str())?.ok_or_else(|| LocalError::HeadGone {
                pull: format_local_name(kept.number),
                branch: kept.branch.clone(),
                head: last.push.head.short().to_owned(),
            })?,
        };
        let base_sha =
            resolve_revision(git, &kept.base)?.ok_or_else(|| LocalError::NoSuchRevision(kept.base.clone()))?;
        let mut pushes: Vec<Push> = kept.pushes.iter().map(|seen| seen.push.clone()).collect();
        match last {
            Some(last) if last.push.head == head => {}
            _ => pushes.push(infer_push(git, kept, &head)?),
        }
        let state = match last {
            Some(last) if kept.state == PullState::Open && is_merged(git, last, &head, &base_sha)? => PullState::Merged,
            _ => kept.state,
        };
        Ok(Self { head, base_sha, state, pushes })
    }

    /// Since when the head is there.
    pub(super) fn head_since(&self) -> Time {
        self.pushes.last().map_or(Time(0), |push| push.at)
    }
}

/// A branch of that name first; else whatever else git knows by it.
pub(super) fn resolve_revision(git: &Git, name: &str) -> Result<Option<Sha>, LocalError> {
    match git.resolve(&format!("refs/heads/{name}"))? {
        Some(sha) => Ok(Some(sha)),
        None => Ok(git.resolve(name)?),
    }
}

/// The push that brought a head: when its branch was moved there, else when it was committed.
fn infer_push(git: &Git, kept: &LocalPullRecord, head: &Sha) -> Result<Push, LocalError> {
    let at = match git.branch_moved_at(&kept.branch, head)? {
        Some(at) => at,
        None => git.read_commit(head)?.committed_at,
    };
    // Clocks of machines differ and reflogs are trimmed; the order of pushes is known all the same.
    let before = kept.pushes.last().map_or(Time(i64::MIN), |seen| seen.push.at);
    Ok(Push { head: head.clone(), by: Some(kept.author.clone()), at: before.max(Time(at)) })
}

/// The head came into the base since it was first seen. A branch that never had anything of its own is not merged.
fn is_merged(git: &Git, last: &RecordedPush, head: &Sha, base_sha: &Sha) -> Result<bool, LocalError> {
    Ok(last.push.head == *head
        && last.base_sha != *base_sha
        && git.is_ancestor(head, base_sha)?
        && !git.is_ancestor(head, &last.base_sha)?)
}
