//! Runs the worker that a pass started (DSP-14, DSP-15).
//!
//! ```text
//!  claim ─► job folder ─► work copy ─► sandbox ─► result, commit ─► push ─► record ─► answers ─► release
//!             └───────────┴──────────────┴─────────┴─ an error here is recorded as the outcome `failed`
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use referee_core::decide::settle::settle;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Answer, Sha, WorkResult};
use referee_core::plan::{Delivery, Gate, Job, JobKind, Refusal};
use referee_sandbox::{
    Egress, ResourceLimits, RunProgress, Sandbox, SandboxExit, Tier, is_installed, resolve_requirements,
};
use referee_turn::{ClaimedWorker, NoWait, Receipt, StepOutcome, Turn, WorkSubject, release_worker};

use super::prepare::PreparedJob;
use super::{DispatchMode, LoadedProject, ProjectRepository};
use crate::console::Console;
use crate::failure::Failure;
use crate::session::claim_waiter::{CLAIM_WAIT, TerminalWaiter};
use crate::session::config_files::env;
use crate::worker::{
    CheckedResult, CollectedWork, ExpectedResult, PushIdentity, RunnableWorker, WorkDelivery, WorkStart, WorkerRun,
    WorkerSecrets, collect_work, deliver_work, read_result,
};

/// Interval of the lines that report a running worker.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

impl ProjectRepository {
    /// Returns the project's workers by kind of job. Reports a worker that cannot run before anything is claimed.
    pub(crate) fn resolve_workers(
        &self,
        project: &LoadedProject,
    ) -> Result<BTreeMap<JobKind, RunnableWorker>, Failure> {
        let lease = self.policy.work.as_ref().map(|work| work.wip_max_age).unwrap_or_default();
        let workers = self.workers.resolve_workers(&project.file.workers, lease, &env)?;
        if !workers.is_empty() && self.gates(DispatchMode::Run).permit_gate(Gate::Work).is_err() {
            return Err(Failure::usage("no worker was started: the gate `work` is off, so nothing could be pushed")
                .with_hint(
                    "set `work = \"ask\"` in `referee.toml` on the default branch, and allow it in the operator file",
                ));
        }
        for (kind, worker) in &workers {
            resolve_requirements(worker.sandbox, &worker.egress)?;
            check_installed(worker)?;
            self.build_prompt(project, *kind, 0, None)?;
        }
        Ok(workers)
    }

    /// Runs the worker that a pass started, delivers its result, and releases its claim however it ends. Returns `None`
    /// if the project names no worker for this kind of job; then only its line is printed.
    pub(crate) async fn run_worker(
        &self,
        claimed: &ClaimedWorker,
        workers: &BTreeMap<JobKind, RunnableWorker>,
        project: &LoadedProject,
        out: &Console,
    ) -> Result<Option<WorkerRun>, Failure> {
        let run = match workers.get(&claimed.job.kind) {
            Some(worker) => self.run_and_deliver(claimed, worker, project, out).await.map(Some),
            None => Ok(None),
        };
        let (journals, gates) = (self.journals(), self.gates(DispatchMode::Run));
        release_worker(&self.turn_context(&journals, &gates, &NoWait), claimed).await;
        run
    }

    async fn run_and_deliver(
        &self,
        claimed: &ClaimedWorker,
        worker: &RunnableWorker,
        project: &LoadedProject,
        out: &Console,
    ) -> Result<WorkerRun, Failure> {
        let mut draft = WorkerRunDraft::default();
        let (mut result, answers) =
            self.run_in_sandbox(claimed, worker, project, out, &mut draft).unwrap_or_else(|reason| {
                let failed = CheckedResult::from_failure(reason);
                (self.build_result(claimed, &failed), Vec::new())
            });
        let (journals, gates) = (self.journals(), self.gates(DispatchMode::Run));
        let waiter = TerminalWaiter::new(out, CLAIM_WAIT);
        let context = self.turn_context(&journals, &gates, &waiter);
        let author = PushIdentity { site: &self.site, login: self.user(), token: &self.author_token };
        let delivery = deliver_work(&context, &self.source, &*self.forge, &author, claimed, &result, answers).await;
        let WorkDelivery { delivered, answered } = match delivery {
            Ok(delivery) => delivery,
            Err(error) => {
                draft.refusals.push(format!("the worker's result was not delivered: {error}"));
                return Ok(draft.into_run(claimed, result, true));
            }
        };
        match &delivered.delivery {
            Some(Delivery::Push { commit, .. }) => draft.pushed_commit = Some(commit.to_string()),
            Some(Delivery::OpenPull { branch, .. }) => draft.opened_branch = Some(branch.clone()),
            None => {}
        }
        result.outcome = delivered.recorded_outcome.unwrap_or(result.outcome);
        draft.refusals.extend(delivered.refused.iter().map(render_refusal));
        draft.refusals.extend(delivered.receipts.iter().filter_map(describe_undone));
        let mut unsettled = delivered.needs_rerun;
        match answered {
            Some(Ok(Turn { snapshot, receipts, needs_rerun, .. })) => {
                let refused = settle(&snapshot, &self.policy).refused;
                draft.refusals.extend(refused.iter().filter(|it| !it.what.starts_with("resolve ")).map(render_refusal));
                draft.refusals.extend(receipts.iter().filter_map(describe_undone));
                unsettled |= needs_rerun;
            }
            Some(Err(error)) => {
                draft.refusals.push(format!("its answers were not sent: {error}"));
                unsettled = true;
            }
            None => {}
        }
        Ok(draft.into_run(claimed, result, unsettled))
    }

    /// Runs the worker and collects its work. The error is a sentence that may be posted on the pull.
    fn run_in_sandbox(
        &self,
        claimed: &ClaimedWorker,
        worker: &RunnableWorker,
        project: &LoadedProject,
        out: &Console,
        draft: &mut WorkerRunDraft,
    ) -> Result<(WorkResult, Vec<Answer>), String> {
        let job = &claimed.job;
        let _span = tracing::info_span!("worker", kind = %job.kind, number = job.number, name = worker.name).entered();
        // Problems of this machine are printed for its operator and not posted on the pull.
        let not_started = |failure: Failure| {
            out.print_always(&failure.render());
            "it could not be started".to_owned()
        };
        let (tier, egress) = self.resolve_isolation(claimed, worker).map_err(not_started)?;
        let prepared = self.prepare_job(claimed, worker, project).map_err(not_started)?;
        let folder = &prepared.folder;
        draft.log = Some(folder.log_path());
        let secrets = WorkerSecrets::from_env(&worker.env);
        let sandbox = Sandbox {
            tier,
            work_dir: folder.work_dir(),
            job_dir: folder.job_dir(),
            home_dir: folder.home_dir(),
            egress,
            env: worker.env.clone(),
            timeout: worker.timeout,
            log_path: folder.log_path(),
            secrets: secrets.to_patterns(),
            limits: ResourceLimits::default(),
        };
        let mut progress = ProgressReport::start(job, worker, out);
        let exit = sandbox
            .run(&worker.argv, &prepared.prompt, &mut |now| progress.report(now))
            .map_err(Failure::from)
            .map_err(not_started)?;
        tracing::info!(?exit, "ended");
        match exit {
            SandboxExit::TimedOut => Err(format!("it was ended after {}", format_duration(worker.timeout))),
            SandboxExit::Signalled => Err("it was ended from outside".to_owned()),
            // The result decides about success, not the exit code.
            SandboxExit::Exited(_) => self
                .read_work(claimed, &secrets, &prepared, draft)
                // A reason may repeat a name that the worker chose.
                .map_err(|reason| secrets.redact_text(&reason)),
        }
    }

    /// Returns the tier and the network access of the sandbox; an untrusted author's change needs a stronger tier.
    fn resolve_isolation(
        &self,
        claimed: &ClaimedWorker,
        worker: &RunnableWorker,
    ) -> Result<(Tier, Vec<Egress>), Failure> {
        let is_untrusted =
            matches!(&claimed.subject, WorkSubject::Pull(snapshot) if !self.is_trusted(&snapshot.pull.author));
        let required_tier = if is_untrusted { worker.sandbox_for_untrusted() } else { worker.sandbox };
        Ok(resolve_requirements(required_tier, &worker.egress)?)
    }

    /// Reads the result file and the commits that the worker left.
    fn read_work(
        &self,
        claimed: &ClaimedWorker,
        secrets: &WorkerSecrets<'_>,
        prepared: &PreparedJob,
        draft: &mut WorkerRunDraft,
    ) -> Result<(WorkResult, Vec<Answer>), String> {
        let PreparedJob { folder, copy, talk, base, .. } = prepared;
        let expected = ExpectedResult { kind: claimed.job.kind, nonce: folder.nonce(), talk, secrets };
        let checked = read_result(&folder.result_path(), &expected)?;
        draft.refusals.extend(checked.dropped.iter().map(|reason| secrets.redact_text(reason)));
        let mut result = self.build_result(claimed, &checked);
        if checked.outcome == WorkOutcome::Done {
            let commit = self.start_commit(claimed);
            let start = WorkStart { kind: claimed.job.kind, commit, base, policy: &self.policy };
            let CollectedWork { head, escapes, audit } = collect_work(&self.source, copy, &start, secrets)?;
            (result.head, result.escapes, result.audit) = (head, escapes, audit);
        }
        Ok((result, checked.answers))
    }

    fn build_result(&self, claimed: &ClaimedWorker, checked: &CheckedResult) -> WorkResult {
        let CheckedResult { outcome, summary, answers: _, clean, fix_plan: plan, pull_text: pull, dropped: _ } =
            checked.clone();
        WorkResult {
            kind: claimed.job.kind,
            epoch: claimed.job.epoch,
            started_at: self.start_commit(claimed).clone(),
            outcome,
            summary,
            head: None,
            patch: None,
            files: Vec::new(),
            escapes: Vec::new(),
            audit: None,
            clean,
            plan,
            pull,
        }
    }

    /// Returns the commit that the worker starts from: the pull's head, or the tip of the default branch.
    pub(super) fn start_commit<'a>(&'a self, claimed: &'a ClaimedWorker) -> &'a Sha {
        match &claimed.subject {
            WorkSubject::Pull(snapshot) => &snapshot.pull.head,
            WorkSubject::Issue(_) => &self.default_tip,
        }
    }
}

/// Prints a line now and then while a worker runs.
struct ProgressReport<'a> {
    /// For example `findings #7`.
    job: String,
    next: Duration,
    out: &'a Console,
}

impl<'a> ProgressReport<'a> {
    fn start(job: &Job, worker: &RunnableWorker, out: &'a Console) -> Self {
        let job = format!("{} #{}", job.kind, job.number);
        out.print_line(&format!("{job} is started: `{}`, at most {}", worker.name, format_duration(worker.timeout)));
        Self { job, next: PROGRESS_INTERVAL, out }
    }

    fn report(&mut self, progress: RunProgress) {
        if progress.elapsed < self.next {
            return;
        }
        self.next = progress.elapsed + PROGRESS_INTERVAL;
        let (minutes, kilobytes) = (progress.elapsed.as_secs() / 60, progress.output_bytes >> 10);
        self.out.print_line(&format!("{}, {minutes} min, {kilobytes} kB printed", self.job));
    }
}

/// Collects the parts of a [`WorkerRun`] while the worker runs and its result is delivered.
#[derive(Default)]
struct WorkerRunDraft {
    log: Option<PathBuf>,
    pushed_commit: Option<String>,
    opened_branch: Option<String>,
    refusals: Vec<String>,
}

impl WorkerRunDraft {
    fn into_run(self, claimed: &ClaimedWorker, result: WorkResult, unsettled: bool) -> WorkerRun {
        let Self { log, pushed_commit: pushed, opened_branch: opened, refusals: refused } = self;
        let (kind, number) = (claimed.job.kind, claimed.job.number);
        let WorkResult { outcome, summary, .. } = result;
        WorkerRun {
            kind,
            number,
            outcome,
            summary,
            pushed_commit: pushed,
            opened_branch: opened,
            refusals: refused,
            log,
            unsettled,
        }
    }
}

fn format_duration(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds => format!("{} min", seconds / 60),
    }
}

/// Checks the worker's program before the claim: a worker that cannot start would count as failed.
fn check_installed(worker: &RunnableWorker) -> Result<(), Failure> {
    let program = worker.argv.first().map(String::as_str).unwrap_or_default();
    if is_installed(program) {
        return Ok(());
    }
    Err(Failure::usage(format!("`[workers.{}]` cannot be run: `{program}` is not on the PATH", worker.name))
        .with_hint("install the agent, or correct its `argv` in the operator file"))
}

fn render_refusal(refusal: &Refusal) -> String {
    format!("refused: {}: {}", refusal.what, refusal.why.facts.join(", "))
}

/// Describes a step that was not carried out. A withheld resolution is expected: the person who opened a thread resolves
/// it.
fn describe_undone(receipt: &Receipt) -> Option<String> {
    let Receipt { outcome, action, note, .. } = receipt;
    let expected = matches!(outcome, StepOutcome::Done | StepOutcome::AlreadySo)
        || *outcome == StepOutcome::Withheld && *action == "resolve";
    (!expected).then(|| format!("{} {action}: {note}", outcome.name()))
}
