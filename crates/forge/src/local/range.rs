//! Pulls from ranges: found or opened, previewed, and seen as they move.

use referee_core::model::{Login, PullNumber, PullState, Push, Sha};

use super::pulls::{self, Follows, Kept, Opening, Seen};
use super::tip::{Tip, revision};
use super::{LocalError, LocalForge};

impl LocalForge {
    /// The open pull of a branch and its base, opened if there is none.
    pub fn open_range(&self, branch: &str, base: &str, author: &Login) -> Result<PullNumber, LocalError> {
        match self.find(branch, base)? {
            Some(pull) => self.observe(pull).map(|()| pull),
            None => self.open_kept(&self.unopened(branch, base, author, None)?, ""),
        }
    }

    /// The open pull of a named range whose head is set and does not move by itself: `staged`, a work tree.
    pub fn open_range_at(&self, name: &str, base: &str, author: &Login, head: &Sha) -> Result<PullNumber, LocalError> {
        let fresh = self.unopened(name, base, author, Some(head))?;
        let Some(pull) = self.find(name, base)? else { return self.open_kept(&fresh, "") };
        if let Some(seen) = fresh.pushes.last() {
            self.keep(head)?;
            self.write(|tx| pulls::see(tx, pull, seen))?;
        }
        Ok(pull)
    }

    /// The same forge with a pull for a range that is only looked at: nothing is written. A pull that is open for the
    /// range is used as it is, but for a head that is set.
    pub fn preview(
        &self,
        branch: &str,
        base: &str,
        author: &Login,
        head: Option<&Sha>,
    ) -> Result<(Self, PullNumber), LocalError> {
        let mut fresh = self.unopened(branch, base, author, head)?;
        let kept = match self.find(branch, base)? {
            None => Kept { number: self.store.read(pulls::next_number)?.unwrap_or(PullNumber(1)), ..fresh },
            Some(pull) => {
                let mut kept = self.kept(pull)?;
                let known = kept.pushes.last().map(|seen| seen.push.head.clone());
                let set = fresh.pushes.pop().filter(|seen| head.is_some() && known.as_ref() != Some(&seen.push.head));
                kept.pushes.extend(set);
                kept
            }
        };
        let number = kept.number;
        Ok((Self { preview: Some(kept), ..self.clone() }, number))
    }

    /// Writes down where a pull is now, and keeps its head from being cleaned away. A branch that came into its base
    /// since is written down as merged.
    pub fn observe(&self, pull: PullNumber) -> Result<(), LocalError> {
        self.observed(pull).map(drop)
    }

    /// Where a pull is now, written down.
    pub(super) fn observed(&self, pull: PullNumber) -> Result<Tip, LocalError> {
        let kept = self.kept(pull)?;
        let tip = Tip::of(&self.git, &kept)?;
        let known = kept.pushes.last().is_some_and(|seen| seen.push.head == tip.head);
        let Some(push) = tip.pushes.last().filter(|_| !known || tip.state != kept.state) else { return Ok(tip) };
        self.keep(&tip.head)?;
        let seen = Seen { push: push.clone(), base_sha: tip.base_sha.clone() };
        self.write(|tx| {
            pulls::see(tx, pull, &seen)?;
            pulls::set_state(tx, pull, tip.state, None, (self.now)())
        })?;
        Ok(tip)
    }

    pub(super) fn open_kept(&self, fresh: &Kept, body: &str) -> Result<PullNumber, LocalError> {
        let Some(seen) = fresh.pushes.last() else { return Err(LocalError::NoSuchRevision(fresh.branch.clone())) };
        self.keep(&seen.push.head)?;
        let Kept { branch, base, follows, title, author, opened_at, .. } = fresh;
        let opening = Opening { branch, base, follows: *follows, title, body, author, at: *opened_at, seen };
        self.write(|tx| {
            self.ensure_repository(tx)?;
            pulls::open(tx, &opening)
        })
    }

    /// Holds on to a head before its row is written: a row without its commit would be of no use.
    fn keep(&self, head: &Sha) -> Result<(), LocalError> {
        self.may_write()?;
        Ok(self.git.keep(head)?)
    }

    /// A pull as it would be opened now.
    pub(super) fn unopened(
        &self,
        branch: &str,
        base: &str,
        author: &Login,
        head: Option<&Sha>,
    ) -> Result<Kept, LocalError> {
        let now = (self.now)();
        let missing = |name: &str| LocalError::NoSuchRevision(name.to_owned());
        let base_sha = revision(&self.git, base)?.ok_or_else(|| missing(base))?;
        let mut fresh = Kept {
            number: PullNumber(0),
            branch: branch.to_owned(),
            base: base.to_owned(),
            follows: if head.is_some() { Follows::Nothing } else { Follows::Branch },
            title: String::new(),
            author: author.clone(),
            state: PullState::Open,
            opened_at: now,
            reopens: Vec::new(),
            pushes: Vec::new(),
        };
        let push = match head {
            Some(head) => Some(Push { head: head.clone(), by: Some(author.clone()), at: now }),
            None => Tip::of(&self.git, &fresh)?.pushes.pop(),
        };
        let push = push.ok_or_else(|| missing(branch))?;
        let subject = self.git.commit(&push.head)?.subject;
        fresh.title = if subject.trim().is_empty() { branch.to_owned() } else { subject };
        fresh.pushes.push(Seen { push, base_sha });
        Ok(fresh)
    }
}
