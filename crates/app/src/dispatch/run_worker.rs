//! Running the worker that a pass started (DSP-14, DSP-15).
//!
//! ```text
//!  held ─► job folder ─► work copy ─► sandbox ─► result, commit ─► push ─► record ─► answers ─► release
//!            └───────────┴──────────────┴─────────┴─ what goes wrong here is recorded as failed
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use referee_core::decide::settle::settle;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Answer, Sha, WorkResult};
use referee_core::plan::{Delivery, Gate, JobKind, Refusal};
use referee_sandbox::{ResourceLimits, RunProgress, Sandbox, SandboxExit, is_installed, resolve_requirements};
use referee_turn::{ClaimedWorker, Receipt, StepOutcome, Turn, WorkSubject, release_worker};

use super::prepare::PreparedJob;
use super::{DispatchMode, LoadedProject, ProjectRepository};
use crate::console::Console;
use crate::failure::Failure;
use crate::session::config_files::env;
use crate::worker::{
    CheckedResult, ExpectedResult, PushIdentity, RunnableWorker, WorkDelivery, WorkerRun, WorkerSecrets, collect_work,
    deliver_work, read_result,
};

/// How often a line says that the worker still works.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

impl ProjectRepository {
    /// The project's workers by what they do. What is wrong with one is told before anything is claimed.
    pub(crate) fn resolve_workers(&self, found: &LoadedProject) -> Result<BTreeMap<JobKind, RunnableWorker>, Failure> {
        let lease = self.policy.work.as_ref().map(|work| work.wip_max_age).unwrap_or_default();
        let hired = self.workers.resolve_workers(&found.file.workers, lease, &env)?;
        if !hired.is_empty() && self.gates(DispatchMode::Run).permit_gate(Gate::Work).is_err() {
            return Err(Failure::usage("no worker runs: the gate `work` is off, and nothing of it could be pushed")
                .with_hint(
                    "`referee.toml` on the default branch says `work = \"ask\"`, and the operator file allows it",
                ));
        }
        for (kind, worker) in &hired {
            resolve_requirements(worker.sandbox, &worker.egress)?;
            check_installed(worker)?;
            self.build_prompt(found, *kind, 0, None)?;
        }
        Ok(hired)
    }

    /// Runs the worker that a pass started, and delivers what it leaves. However it ends, its claim is given back. None
    /// where nobody was hired for it: then its line is all there is.
    pub(crate) async fn run_worker(
        &self,
        held: &ClaimedWorker,
        hired: &BTreeMap<JobKind, RunnableWorker>,
        found: &LoadedProject,
        out: &Console,
    ) -> Result<Option<WorkerRun>, Failure> {
        let ran = match hired.get(&held.job.kind) {
            Some(worker) => self.run_and_deliver(held, worker, found, out).await.map(Some),
            None => Ok(None),
        };
        let (books, gates) = (self.journals(), self.gates(DispatchMode::Run));
        release_worker(&self.turn_context(&books, &gates), held).await;
        ran
    }

    async fn run_and_deliver(
        &self,
        held: &ClaimedWorker,
        worker: &RunnableWorker,
        found: &LoadedProject,
        out: &Console,
    ) -> Result<WorkerRun, Failure> {
        let mut told = WorkerRunDraft::default();
        let (mut result, answers) = self.run_in_sandbox(held, worker, found, out, &mut told).unwrap_or_else(|why| {
            let failed = CheckedResult::from_failure(why);
            (self.build_result(held, &failed), Vec::new())
        });
        let (books, gates) = (self.journals(), self.gates(DispatchMode::Run));
        let desk = self.turn_context(&books, &gates);
        let author = PushIdentity { site: &self.site, login: self.user(), token: &self.author_token };
        let handed = deliver_work(&desk, &self.texts, &*self.forge, &author, held, &result, answers).await;
        let WorkDelivery { delivered, answered } = match handed {
            Ok(handed) => handed,
            Err(error) => {
                let why = format!("what it left was not delivered: {error}");
                told.refusals.push(why);
                return Ok(told.into_run(held, result, true));
            }
        };
        match &delivered.delivery {
            Some(Delivery::Push { commit, .. }) => told.pushed_commit = Some(commit.to_string()),
            Some(Delivery::OpenPull { branch, .. }) => told.opened_branch = Some(branch.clone()),
            None => {}
        }
        result.outcome = delivered.recorded_outcome.unwrap_or(result.outcome);
        told.refusals.extend(delivered.refused.iter().map(render_refusal));
        told.refusals.extend(delivered.receipts.iter().filter_map(describe_undone));
        let mut unsettled = delivered.needs_rerun;
        match answered {
            Some(Ok(Turn { snapshot, receipts, needs_rerun: later, .. })) => {
                let refused = settle(&snapshot, &self.policy).refused;
                told.refusals.extend(refused.iter().filter(|it| !it.what.starts_with("resolve ")).map(render_refusal));
                told.refusals.extend(receipts.iter().filter_map(describe_undone));
                unsettled |= later;
            }
            Some(Err(error)) => {
                told.refusals.push(format!("its answers were not sent: {error}"));
                unsettled = true;
            }
            None => {}
        }
        Ok(told.into_run(held, result, unsettled))
    }

    /// Runs it. The error says why there is no result, in words that may stand on a pull.
    fn run_in_sandbox(
        &self,
        held: &ClaimedWorker,
        worker: &RunnableWorker,
        found: &LoadedProject,
        out: &Console,
        told: &mut WorkerRunDraft,
    ) -> Result<(WorkResult, Vec<Answer>), String> {
        // What is wrong with this machine is for whoever runs it, and nobody else.
        let not_started = |failure: Failure| {
            out.print_always(&failure.render());
            "it could not be started".to_owned()
        };
        let stranger = matches!(&held.subject, WorkSubject::Pull(snapshot) if !self.is_trusted(&snapshot.pull.author));
        let required_tier = if stranger { worker.sandbox_for_untrusted() } else { worker.sandbox };
        let (tier, egress) =
            resolve_requirements(required_tier, &worker.egress).map_err(Failure::from).map_err(not_started)?;
        let PreparedJob { folder, copy, talk, prompt, base } =
            self.prepare_job(held, worker, found).map_err(not_started)?;
        told.log = Some(folder.log_path());
        let sandbox = Sandbox {
            tier,
            work_dir: folder.work_dir(),
            job_dir: folder.job_dir(),
            home_dir: folder.home_dir(),
            egress,
            env: worker.env.clone(),
            timeout: worker.timeout,
            log_path: folder.log_path(),
            limits: ResourceLimits::default(),
        };
        let about = format!("{} #{}", held.job.kind, held.job.number);
        out.print_info(&format!("{about} is started: `{}`, at most {}", worker.name, format_duration(worker.timeout)));
        let mut next = PROGRESS_INTERVAL;
        let mut tick = |beat: RunProgress| {
            if beat.elapsed >= next {
                next = beat.elapsed + PROGRESS_INTERVAL;
                out.print_info(&format!(
                    "{about}, {} min, {} kB printed",
                    beat.elapsed.as_secs() / 60,
                    beat.output_bytes >> 10
                ));
            }
        };
        match sandbox.run(&worker.argv, &prompt, &mut tick).map_err(Failure::from).map_err(not_started)? {
            SandboxExit::TimedOut => return Err(format!("it was ended after {}", format_duration(worker.timeout))),
            SandboxExit::Signalled => return Err("it was ended from outside".to_owned()),
            // Its result says how it ended, whatever its code.
            SandboxExit::Exited(_) => {}
        }
        let given = WorkerSecrets::from_env(&worker.env);
        let expected = ExpectedResult { kind: held.job.kind, nonce: folder.nonce(), talk: &talk, secrets: &given };
        let account = read_result(&folder.result_path(), &expected)?;
        told.refusals.extend(account.dropped.iter().cloned());
        let mut result = self.build_result(held, &account);
        if account.outcome == WorkOutcome::Done {
            let left = collect_work(&self.texts, &copy, &result.started_at, &base, &given)?;
            (result.head, result.escapes) = (left.head, left.escapes);
        }
        Ok((result, account.answers))
    }

    fn build_result(&self, held: &ClaimedWorker, account: &CheckedResult) -> WorkResult {
        let CheckedResult { outcome, summary, answers: _, clean, fix_plan: plan, pull_text: pull, dropped: _ } =
            account.clone();
        WorkResult {
            kind: held.job.kind,
            epoch: held.job.epoch,
            started_at: self.start_commit(held).clone(),
            outcome,
            summary,
            head: None,
            patch: None,
            files: Vec::new(),
            escapes: Vec::new(),
            clean,
            plan,
            pull,
        }
    }

    /// Where the worker starts: at the pull's head, or where the default branch is.
    pub(super) fn start_commit<'a>(&'a self, held: &'a ClaimedWorker) -> &'a Sha {
        match &held.subject {
            WorkSubject::Pull(snapshot) => &snapshot.pull.head,
            WorkSubject::Issue(_) => &self.default_tip,
        }
    }
}

/// What is told of a worker, as it comes.
#[derive(Default)]
struct WorkerRunDraft {
    log: Option<PathBuf>,
    pushed_commit: Option<String>,
    opened_branch: Option<String>,
    refusals: Vec<String>,
}

impl WorkerRunDraft {
    fn into_run(self, held: &ClaimedWorker, result: WorkResult, unsettled: bool) -> WorkerRun {
        let Self { log, pushed_commit: pushed, opened_branch: opened, refusals: refused } = self;
        let (kind, number) = (held.job.kind, held.job.number);
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

/// Told before the claim: what cannot start would count as having failed.
fn check_installed(worker: &RunnableWorker) -> Result<(), Failure> {
    let program = worker.argv.first().map(String::as_str).unwrap_or_default();
    if is_installed(program) {
        return Ok(());
    }
    Err(Failure::usage(format!("`[workers.{}]` cannot be run: `{program}` is not on the PATH", worker.name))
        .with_hint("install the agent, or mend its `argv` in the operator file"))
}

fn render_refusal(refusal: &Refusal) -> String {
    format!("refused: {}: {}", refusal.what, refusal.why.facts.join(", "))
}

/// What was not done. That nobody asked for a resolution is no news: who opened a thread resolves it.
fn describe_undone(receipt: &Receipt) -> Option<String> {
    let Receipt { outcome, action, note, .. } = receipt;
    let expected = matches!(outcome, StepOutcome::Done | StepOutcome::AlreadySo)
        || *outcome == StepOutcome::Withheld && *action == "resolve";
    (!expected).then(|| format!("{} {action}: {note}", outcome.name()))
}
