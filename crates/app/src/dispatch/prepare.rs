//! Prepares a worker's job: the job folder, the work copy and the prompt.

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

/// Everything that a worker needs to run.
#[derive(Debug)]
pub(super) struct PreparedJob {
    pub(super) folder: JobFolder,
    /// The work copy. Dropping it removes it.
    pub(super) copy: WorkCopy,
    /// The findings and threads that the worker is shown.
    pub(super) talk: Talk,
    pub(super) prompt: String,
    /// The tip of the target branch.
    pub(super) base: Sha,
}

impl ProjectRepository {
    /// Creates the job folder and the work copy.
    pub(super) fn prepare_job(
        &self,
        claimed: &ClaimedWorker,
        worker: &RunnableWorker,
        project: &LoadedProject,
    ) -> Result<PreparedJob, Failure> {
        let unread = |error: SourceError| Failure::failed(format!("the change cannot be read: {error}"));
        let (kind, number, head) = (claimed.job.kind, claimed.job.number, self.start_commit(claimed));
        let prompt = self.build_prompt(project, kind, number, Some(head))?;
        let no_checks = Checks::default();
        let (talk, base, diff, checks) = match &claimed.subject {
            WorkSubject::Pull(snapshot) => {
                let plan = decide(snapshot, &self.policy, &PlanScope::Everything);
                let talk = Talk::from_pull(snapshot, &plan.findings, &self.policy);
                let base = &snapshot.pull.base_sha;
                let from = snapshot.changes.merge_base.as_ref().unwrap_or(base);
                (talk, base, self.source.diff(from, head).map_err(unread)?, &snapshot.checks)
            }
            WorkSubject::Issue(board) => {
                let issue = board.issues.iter().find(|issue| issue.number.0 == number);
                let issue = issue.ok_or_else(|| Failure::failed(format!("issue #{number} is no longer open")))?;
                (Talk::from_issue(issue), &self.default_tip, Vec::new(), &no_checks)
            }
        };
        let Some(jobs) = user_dirs::state_dir().map(|state| state.join("jobs")) else {
            return Err(Failure::usage("no worker was started: there is no home directory for its job folder")
                .with_hint("set `HOME` or `XDG_STATE_HOME`"));
        };
        remove_old_folders(&jobs);
        let inputs = JobInputs {
            project: &project.name(),
            kind,
            repo: &self.name(),
            number,
            epoch: claimed.job.epoch,
            head,
            base,
            timeout: worker.timeout,
            prompt: &prompt,
            diff: &diff,
            talk: &talk,
            checks,
            guidance: &self.load_guidance()?,
        };
        let folder = JobFolder::create(&jobs, &inputs)?;
        let base = base.clone();
        let copy = self.source.git().create_work_copy(&folder.work_dir(), head, &base, &self.committer())?;
        Ok(PreparedJob { folder, copy, talk, prompt, base })
    }

    /// Renders the prompt for a kind of job.
    pub(super) fn build_prompt(
        &self,
        project: &LoadedProject,
        kind: JobKind,
        number: u64,
        head: Option<&Sha>,
    ) -> Result<String, Failure> {
        let wip = self.policy.work.as_ref().map_or("wip", |work| work.wip.as_str());
        let (repo, head) = (self.name(), head.map(Sha::as_str));
        let values = PromptValues { repo: &repo, number, head, user: self.user().as_str(), wip_label: wip };
        render_prompt(&load_task(&project.tasks_dir(), kind)?, &values, Audience::Managed)
    }

    /// Reads the guidance files of the roles at the tip of the default branch (SAF-2).
    fn load_guidance(&self) -> Result<Vec<(String, String)>, Failure> {
        let mut files = Vec::new();
        for path in &self.guidance_paths {
            if let Some(text) = self.source.read_text(&self.default_tip, path)? {
                files.push((path.clone(), text));
            }
        }
        Ok(files)
    }

    /// Returns the author identity as committer. The address has the form that Gitea gives accounts without a public one.
    fn committer(&self) -> GitIdentity {
        let login = self.user();
        let host = self.site.server.host_str().unwrap_or("localhost");
        GitIdentity { name: Some(login.to_string()), email: Some(format!("{login}@noreply.{host}")) }
    }

    /// Returns whether a worker without an isolating sandbox may read this author's change.
    pub(super) fn is_trusted(&self, author: &Author) -> bool {
        author.may_write() || author.has_login(self.user())
    }
}
