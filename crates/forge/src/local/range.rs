//! Pulls from ranges of commits: opening, previewing, and recording their pushes.

use referee_core::model::{Login, PullNumber, PullState, Push, Sha};

use super::pulls::{self, HeadSource, LocalPullRecord, NewLocalPull, RecordedPush};
use super::resolved_pull::{ResolvedPull, resolve_revision};
use super::{LocalError, LocalForge};

impl LocalForge {
    /// Returns the open pull of a branch and its base, and opens one if there is none.
    pub fn open_range(&self, branch: &str, base: &str, author: &Login) -> Result<PullNumber, LocalError> {
        match self.find_open_pull(branch, base)? {
            Some(pull) => self.sync_pull(pull).map(|()| pull),
            None => self.open_from_record(&self.build_record(branch, base, author, None)?, ""),
        }
    }

    /// Returns the open pull of a named range with a fixed head, such as `staged`, and opens one if there is none.
    pub fn open_range_at(&self, name: &str, base: &str, author: &Login, head: &Sha) -> Result<PullNumber, LocalError> {
        let fresh = self.build_record(name, base, author, Some(head))?;
        let Some(pull) = self.find_open_pull(name, base)? else { return self.open_from_record(&fresh, "") };
        if let Some(seen) = fresh.pushes.last() {
            self.pin_head(head)?;
            self.write(|tx| pulls::record_push(tx, pull, seen))?;
        }
        Ok(pull)
    }

    /// Returns a forge that shows a pull for the range without writing anything. An open pull of that range is shown as it
    /// is, with `head` if one is given.
    pub fn preview_range(
        &self,
        branch: &str,
        base: &str,
        author: &Login,
        head: Option<&Sha>,
    ) -> Result<(Self, PullNumber), LocalError> {
        let mut fresh = self.build_record(branch, base, author, head)?;
        let kept = match self.find_open_pull(branch, base)? {
            None => {
                LocalPullRecord { number: self.database.read(pulls::next_number)?.unwrap_or(PullNumber(1)), ..fresh }
            }
            Some(pull) => {
                let mut kept = self.load_record(pull)?;
                let known = kept.pushes.last().map(|seen| seen.push.head.clone());
                let set = fresh.pushes.pop().filter(|seen| head.is_some() && known.as_ref() != Some(&seen.push.head));
                kept.pushes.extend(set);
                kept
            }
        };
        let number = kept.number;
        Ok((Self { preview: Some(kept), ..self.clone() }, number))
    }

    /// Records a pull's current head and protects it from git's garbage collection. A branch that was merged into its base
    /// is recorded as merged.
    pub fn sync_pull(&self, pull: PullNumber) -> Result<(), LocalError> {
        self.sync_and_resolve(pull).map(drop)
    }

    /// Records and returns a pull's current head and base.
    pub(super) fn sync_and_resolve(&self, pull: PullNumber) -> Result<ResolvedPull, LocalError> {
        let kept = self.load_record(pull)?;
        let tip = ResolvedPull::resolve(&self.git, &kept)?;
        let known = kept.pushes.last().is_some_and(|seen| seen.push.head == tip.head);
        let Some(push) = tip.pushes.last().filter(|_| !known || tip.state != kept.state) else { return Ok(tip) };
        self.pin_head(&tip.head)?;
        let seen = RecordedPush { push: push.clone(), base_sha: tip.base_sha.clone() };
        self.write(|tx| {
            pulls::record_push(tx, pull, &seen)?;
            pulls::set_state(tx, pull, tip.state, None, (self.now)())
        })?;
        Ok(tip)
    }

    pub(super) fn open_from_record(&self, fresh: &LocalPullRecord, body: &str) -> Result<PullNumber, LocalError> {
        let Some(seen) = fresh.pushes.last() else { return Err(LocalError::NoSuchRevision(fresh.branch.clone())) };
        self.pin_head(&seen.push.head)?;
        let LocalPullRecord { branch, base, head_source: follows, title, author, opened_at, .. } = fresh;
        let opening =
            NewLocalPull { branch, base, head_source: *follows, title, body, author, at: *opened_at, first_push: seen };
        self.write(|tx| {
            self.ensure_repository_id(tx)?;
            pulls::insert_pull(tx, &opening)
        })
    }

    /// Protects a head from garbage collection before its row is written: a row without its commit is useless.
    fn pin_head(&self, head: &Sha) -> Result<(), LocalError> {
        self.check_writable()?;
        Ok(self.git.pin_commit(head)?)
    }

    /// Builds the record of a pull as it would be opened now.
    pub(super) fn build_record(
        &self,
        branch: &str,
        base: &str,
        author: &Login,
        head: Option<&Sha>,
    ) -> Result<LocalPullRecord, LocalError> {
        let now = (self.now)();
        let missing = |name: &str| LocalError::NoSuchRevision(name.to_owned());
        let base_sha = resolve_revision(&self.git, base)?.ok_or_else(|| missing(base))?;
        let mut fresh = LocalPullRecord {
            number: PullNumber(0),
            branch: branch.to_owned(),
            base: base.to_owned(),
            head_source: if head.is_some() { HeadSource::Fixed } else { HeadSource::Branch },
            title: String::new(),
            author: author.clone(),
            state: PullState::Open,
            opened_at: now,
            reopens: Vec::new(),
            pushes: Vec::new(),
        };
        let push = match head {
            Some(head) => Some(Push { head: head.clone(), by: Some(author.clone()), at: now }),
            None => ResolvedPull::resolve(&self.git, &fresh)?.pushes.pop(),
        };
        let push = push.ok_or_else(|| missing(branch))?;
        let subject = self.git.read_commit(&push.head)?.subject;
        fresh.title = if subject.trim().is_empty() { branch.to_owned() } else { subject };
        fresh.pushes.push(RecordedPush { push, base_sha });
        Ok(fresh)
    }
}
