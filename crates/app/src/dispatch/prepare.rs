//! What a worker gets before it starts: its folder, its copy of the repository, what it is told.

use referee_core::decide::decide;
use referee_core::model::{Author, Checks, Sha};
use referee_core::plan::JobKind;
use referee_git::{User, WorkCopy};
use referee_turn::{Held, Source, SourceError, View};

use super::{Found, Repository};
use crate::failure::Failure;
use crate::folders;
use crate::worker::{Audience, Brief, Hired, JobFolder, Layout, Talk, render, sweep, task_in};

/// What a worker gets.
#[derive(Debug)]
pub(super) struct Prepared {
    /// Its folder.
    pub(super) folder: JobFolder,
    /// Its copy; it goes with this.
    pub(super) copy: WorkCopy,
    /// What it was shown.
    pub(super) talk: Talk,
    /// What it is told.
    pub(super) prompt: String,
    /// Where its change goes.
    pub(super) base: Sha,
}

impl Repository {
    /// Lays it all out.
    pub(super) fn prepare(&self, held: &Held, worker: &Hired, found: &Found) -> Result<Prepared, Failure> {
        let unread = |error: SourceError| Failure::failed(format!("the change cannot be read: {error}"));
        let (kind, number, head) = (held.job.kind, held.job.number, self.start_of(held));
        let prompt = self.prompt(found, kind, number, Some(head))?;
        let nothing = Checks::default();
        let (talk, base, diff, checks) = match &held.view {
            View::Pull(snapshot) => {
                let plan = decide(snapshot, &self.policy);
                let talk = Talk::on_pull(snapshot, &plan.findings, &self.policy);
                let base = &snapshot.pull.base_sha;
                let from = snapshot.changes.merge_base.as_ref().unwrap_or(base);
                (talk, base, self.texts.diff(from, head).map_err(unread)?, &snapshot.checks)
            }
            View::Issue(board) => {
                let issue = board.issues.iter().find(|issue| issue.number.0 == number);
                let issue = issue.ok_or_else(|| Failure::failed(format!("issue #{number} is not open any more")))?;
                (Talk::on_issue(issue), &self.tip, Vec::new(), &nothing)
            }
        };
        let Some(jobs) = folders::state().map(|state| state.join("jobs")) else {
            return Err(Failure::usage("a worker has no place: there is no home").hint("`XDG_STATE_HOME` names one"));
        };
        sweep(&jobs);
        let layout = Layout {
            project: &found.name(),
            kind,
            repo: &self.name(),
            number,
            epoch: held.job.epoch,
            head,
            base,
            time: worker.time,
            prompt: &prompt,
            diff: &diff,
            talk: &talk,
            checks,
            rules: &self.guidance()?,
        };
        let folder = JobFolder::make(&jobs, &layout)?;
        let base = base.clone();
        let copy = self.texts.git().work_copy(&folder.work(), head, &base, &self.committer())?;
        Ok(Prepared { folder, copy, talk, prompt, base })
    }

    /// What a worker of that type is told.
    pub(super) fn prompt(
        &self,
        found: &Found,
        kind: JobKind,
        number: u64,
        head: Option<&Sha>,
    ) -> Result<String, Failure> {
        let wip = self.policy.work.as_ref().map_or("wip", |work| work.wip.as_str());
        let (repo, head) = (self.name(), head.map(Sha::as_str));
        let brief = Brief { repo: &repo, number, head, user: self.user().as_str(), wip };
        render(&task_in(&found.tasks(), kind)?, &brief, Audience::Inside)
    }

    /// The files with guidance that roles name, as they are at the tip of the default branch (SAF-2).
    fn guidance(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut texts = Vec::new();
        for path in &self.rules {
            if let Some(text) = self.texts.text_at(&self.tip, path)? {
                texts.push((path.clone(), text));
            }
        }
        Ok(texts)
    }

    /// The fixing side, by the address that its server gives to who has none.
    fn committer(&self) -> User {
        let login = self.user();
        let host = self.site.server.host_str().unwrap_or("localhost");
        User { name: Some(login.to_string()), email: Some(format!("{login}@noreply.{host}")) }
    }

    /// Whether somebody's change may be read by a worker that only promises to behave.
    pub(super) fn is_trusted(&self, author: &Author) -> bool {
        author.may_write() || author.is(self.user())
    }
}
