//! What a worker gets before it starts: its folder, its copy of the repository, what it is told.

use referee_core::decide::{PlanScope, decide};
use referee_core::model::{Author, Checks, Sha};
use referee_core::plan::JobKind;
use referee_git::{GitIdentity, WorkCopy};
use referee_turn::{ClaimedWorker, Source, SourceError, WorkSubject};

use super::{LoadedProject, ProjectRepository};
use crate::failure::Failure;
use crate::user_dirs;
use crate::worker::{
    Audience, JobFolder, JobInputs, PromptValues, RunnableWorker, Talk, load_task, remove_old_folders, render_prompt,
};

/// What a worker gets.
#[derive(Debug)]
pub(super) struct PreparedJob {
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

impl ProjectRepository {
    /// Lays it all out.
    pub(super) fn prepare_job(
        &self,
        held: &ClaimedWorker,
        worker: &RunnableWorker,
        found: &LoadedProject,
    ) -> Result<PreparedJob, Failure> {
        let unread = |error: SourceError| Failure::failed(format!("the change cannot be read: {error}"));
        let (kind, number, head) = (held.job.kind, held.job.number, self.start_commit(held));
        let prompt = self.build_prompt(found, kind, number, Some(head))?;
        let nothing = Checks::default();
        let (talk, base, diff, checks) = match &held.subject {
            WorkSubject::Pull(snapshot) => {
                let plan = decide(snapshot, &self.policy, &PlanScope::Everything);
                let talk = Talk::from_pull(snapshot, &plan.findings, &self.policy);
                let base = &snapshot.pull.base_sha;
                let from = snapshot.changes.merge_base.as_ref().unwrap_or(base);
                (talk, base, self.texts.diff(from, head).map_err(unread)?, &snapshot.checks)
            }
            WorkSubject::Issue(board) => {
                let issue = board.issues.iter().find(|issue| issue.number.0 == number);
                let issue = issue.ok_or_else(|| Failure::failed(format!("issue #{number} is not open any more")))?;
                (Talk::from_issue(issue), &self.default_tip, Vec::new(), &nothing)
            }
        };
        let Some(jobs) = user_dirs::state_dir().map(|state| state.join("jobs")) else {
            return Err(
                Failure::usage("a worker has no place: there is no home").with_hint("`XDG_STATE_HOME` names one")
            );
        };
        remove_old_folders(&jobs);
        let layout = JobInputs {
            project: &found.name(),
            kind,
            repo: &self.name(),
            number,
            epoch: held.job.epoch,
            head,
            base,
            timeout: worker.timeout,
            prompt: &prompt,
            diff: &diff,
            talk: &talk,
            checks,
            guidance: &self.load_guidance()?,
        };
        let folder = JobFolder::create(&jobs, &layout)?;
        let base = base.clone();
        let copy = self.texts.git().create_work_copy(&folder.work_dir(), head, &base, &self.committer())?;
        Ok(PreparedJob { folder, copy, talk, prompt, base })
    }

    /// What a worker of that type is told.
    pub(super) fn build_prompt(
        &self,
        found: &LoadedProject,
        kind: JobKind,
        number: u64,
        head: Option<&Sha>,
    ) -> Result<String, Failure> {
        let wip = self.policy.work.as_ref().map_or("wip", |work| work.wip.as_str());
        let (repo, head) = (self.name(), head.map(Sha::as_str));
        let brief = PromptValues { repo: &repo, number, head, user: self.user().as_str(), wip_label: wip };
        render_prompt(&load_task(&found.tasks_dir(), kind)?, &brief, Audience::Managed)
    }

    /// The files with guidance that roles name, as they are at the tip of the default branch (SAF-2).
    fn load_guidance(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut texts = Vec::new();
        for path in &self.guidance_paths {
            if let Some(text) = self.texts.read_text(&self.default_tip, path)? {
                texts.push((path.clone(), text));
            }
        }
        Ok(texts)
    }

    /// The fixing side, by the address that its server gives to who has none.
    fn committer(&self) -> GitIdentity {
        let login = self.user();
        let host = self.site.server.host_str().unwrap_or("localhost");
        GitIdentity { name: Some(login.to_string()), email: Some(format!("{login}@noreply.{host}")) }
    }

    /// Whether somebody's change may be read by a worker that only promises to behave.
    pub(super) fn is_trusted(&self, author: &Author) -> bool {
        author.may_write() || author.has_login(self.user())
    }
}
