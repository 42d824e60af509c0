//! The JSON document of a dispatch pass, `referee/pass-1`.

use referee_core::model::snapshot::WorkOutcome;
use referee_core::plan::{Job, JobKind, Reason};
use referee_turn::{PassOutcome, PassPull, Receipt, StartOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use super::Calls;
use super::turn_document::{
    NextEntry, RefusalEntry, ReviewEntry, StepEntry, build_next, build_refusal, build_review, build_step, format_reason,
};
use crate::worker::WorkerRun;

/// What a pass document is built from.
#[derive(Debug)]
pub(crate) struct PassView<'a> {
    pub(crate) outcome: &'a PassOutcome,
    pub(crate) repo: String,
    pub(crate) calls: Calls,
    pub(crate) dry_run: bool,
    /// `None` unless `--run` started a worker.
    pub(crate) worker_run: Option<&'a WorkerRun>,
}

/// The document that `dispatch` prints with `--json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PassDocument {
    schema: &'static str,
    repo: String,
    dry_run: bool,
    /// The `SPAWN` and `HANDOFF` lines that are printed without `--json`.
    lines: Vec<String>,
    /// Every open pull, ordered by number.
    pulls: Vec<PassPullEntry>,
    /// Why the pass took an issue, or why it took none.
    issue: ReasonEntry,
    /// The worker that the pass chose to start.
    worker: Option<PassWorker>,
    /// Whether something was postponed: run the pass again later.
    unsettled: bool,
    calls: Calls,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PassPullEntry {
    number: u64,
    head: String,
    /// Whether the project file selects this pull.
    takes_part: bool,
    reason: ReasonEntry,
    next: NextEntry,
    reviews: Vec<ReviewEntry>,
    steps: Vec<StepEntry>,
    refused: Vec<RefusalEntry>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ReasonEntry {
    rule: String,
    facts: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PassWorker {
    r#type: JobKind,
    number: u64,
    head: Option<String>,
    cause: String,
    /// Whether an earlier worker was started for the same cause and recorded no outcome.
    retry: bool,
    became: WorkerStartStatus,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    note: String,
    /// Outcome of the run; only with `--run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<WorkOutcome>,
    /// The worker's own summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// The commit that was pushed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed: Option<String>,
    /// The branch for which a pull was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    opened: Option<String>,
    /// Parts of the worker's result that were not carried out, each with its reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    refused: Vec<String>,
    /// Path of the worker's output log.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
}

/// What became of the worker that the pass chose to start.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WorkerStartStatus {
    /// Not started: a dry run, or the pass ended first.
    Planned,
    /// Recorded on the forge, and its `SPAWN` line was printed.
    Named,
    /// Not started: another process holds the claim.
    Held,
    /// Not started: its cause is gone, or a person is answering it.
    Changed,
    /// Not started: the start could not be recorded on the forge.
    Unrecorded,
    /// Not started: another process recorded a worker at the same time.
    Outrun,
    /// Not started: a request to the forge failed.
    Failed,
}

impl PassDocument {
    pub(crate) fn from_view(view: &PassView<'_>) -> Self {
        let PassView { outcome, repo, calls, dry_run, worker_run } = view;
        let pulls = outcome.pulls.iter().map(|pull| build_pull(outcome, pull)).collect();
        Self {
            schema: "referee/pass-1",
            repo: repo.clone(),
            dry_run: *dry_run,
            lines: outcome.lines.iter().map(ToString::to_string).collect(),
            pulls,
            issue: build_reason(&outcome.pass.issue_reason),
            worker: outcome.pass.spawn.as_ref().map(|job| build_worker(job, outcome.started.as_ref(), *worker_run)),
            unsettled: outcome.needs_rerun || worker_run.is_some_and(|run| run.unsettled),
            calls: *calls,
        }
    }
}

/// Renders a reason on one line.
pub(crate) fn render_reason(reason: &Reason) -> String {
    format_reason(reason)
}

fn build_pull(outcome: &PassOutcome, pull: &PassPull) -> PassPullEntry {
    let PassPull { snapshot, plan, is_eligible, receipts } = pull;
    let pass_reason = outcome.pass.reasons.iter().find(|(number, _)| *number == plan.pull);
    let reason = pass_reason.map_or(&plan.why, |(_, reason)| reason);
    PassPullEntry {
        number: plan.pull.0,
        head: snapshot.pull.head.to_string(),
        takes_part: *is_eligible,
        reason: build_reason(reason),
        next: build_next(plan),
        reviews: plan.reviews.iter().map(build_review).collect(),
        steps: plan.steps.iter().enumerate().map(|(index, step)| build_step(step, receipts.get(index))).collect(),
        refused: plan.refused.iter().map(build_refusal).collect(),
    }
}

fn build_reason(reason: &Reason) -> ReasonEntry {
    ReasonEntry { rule: reason.rule.to_string(), facts: reason.facts.clone() }
}

fn build_worker(job: &Job, started: Option<&StartOutcome>, run: Option<&WorkerRun>) -> PassWorker {
    let note = |receipt: &Receipt| receipt.note.clone();
    let (became, note) = match started {
        None => (WorkerStartStatus::Planned, String::new()),
        Some(StartOutcome::Started(rest)) => {
            (WorkerStartStatus::Named, rest.iter().map(note).collect::<Vec<_>>().join(", "))
        }
        Some(StartOutcome::ClaimHeld) => (WorkerStartStatus::Held, String::new()),
        Some(StartOutcome::CauseChanged) => (WorkerStartStatus::Changed, String::new()),
        Some(StartOutcome::Unrecorded(receipt)) => (WorkerStartStatus::Unrecorded, note(receipt)),
        Some(StartOutcome::LostRace) => (WorkerStartStatus::Outrun, String::new()),
        Some(StartOutcome::Failed(error)) => (WorkerStartStatus::Failed, error.to_string()),
    };
    PassWorker {
        r#type: job.kind,
        number: job.number,
        head: job.head.as_ref().map(ToString::to_string),
        cause: job.cause.clone(),
        retry: job.retry,
        became,
        note,
        outcome: run.map(|run| run.outcome),
        summary: run.map(|run| run.summary.clone()),
        pushed: run.and_then(|run| run.pushed_commit.clone()),
        opened: run.and_then(|run| run.opened_branch.clone()),
        refused: run.map(|run| run.refusals.clone()).unwrap_or_default(),
        log: run.and_then(|run| run.log.as_ref()).map(|log| log.display().to_string()),
    }
}
