//! The current head and base of a pull. A push is a moved branch, so git is asked every time.

use referee_core::model::{PullState, Push, Sha, Time};
use referee_git::Git;

use super::LocalError;
use super::names::format_local_name;
use super::pulls::{HeadSource, LocalPullRecord, RecordedPush};

/// The current head and base of a pull.
#[derive(Clone, Debug)]
pub(super) struct ResolvedPull {
    pub(super) head: Sha,
    pub(super) base_sha: Sha,
    pub(super) state: PullState,
    /// All pushes, including one that is not recorded yet.
    pub(super) pushes: Vec<Push>,
}

impl ResolvedPull {
    /// Resolves head and base through git.
    ///
    /// | the pull | its head |
    /// |---|---|
    /// | closed or merged | the last recorded one |
    /// | with a fixed head | the last one set |
    /// | its branch exists | the branch's |
    /// | its branch is gone, its last commit is not | that commit: the pull stays open |
    /// | both are gone | an error |
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

    /// Returns since when the head is there.
    pub(super) fn head_since(&self) -> Time {
        self.pushes.last().map_or(Time(0), |push| push.at)
    }
}

/// Resolves a name: a branch first, otherwise any revision.
pub(super) fn resolve_revision(git: &Git, name: &str) -> Result<Option<Sha>, LocalError> {
    match git.resolve(&format!("refs/heads/{name}"))? {
        Some(sha) => Ok(Some(sha)),
        None => Ok(git.resolve(name)?),
    }
}

/// Builds the push of a head, dated by the reflog of the branch, otherwise by the commit.
fn infer_push(git: &Git, kept: &LocalPullRecord, head: &Sha) -> Result<Push, LocalError> {
    let at = match git.branch_moved_at(&kept.branch, head)? {
        Some(at) => at,
        None => git.read_commit(head)?.committed_at,
    };
    // Clocks differ and reflogs expire, but a later push is never dated before an earlier one.
    let before = kept.pushes.last().map_or(Time(i64::MIN), |seen| seen.push.at);
    Ok(Push { head: head.clone(), by: Some(kept.author.clone()), at: before.max(Time(at)) })
}

/// Returns whether the head was merged into the base since it was first seen. A branch without commits of its own was not.
fn is_merged(git: &Git, last: &RecordedPush, head: &Sha, base_sha: &Sha) -> Result<bool, LocalError> {
    Ok(last.push.head == *head
        && last.base_sha != *base_sha
        && git.is_ancestor(head, base_sha)?
        && !git.is_ancestor(head, &last.base_sha)?)
}
