//! A pass as a document: `referee/pass-1`.

use referee_core::model::snapshot::WorkOutcome;
use referee_core::plan::{Job, JobKind, Reason};
use referee_turn::{PassOutcome, PassPull, Receipt, StartOutcome};
use schemars::JsonSchema;
use serde::Serialize;

use super::Calls;
use super::turn::{NextOf, RefusedOf, StepOf, build_next, build_refusal, build_step, format_reason};
use crate::worker::WorkerRun;

/// A pass, and what is known of the run.
#[derive(Debug)]
pub(crate) struct PassView<'a> {
    /// The pass.
    pub(crate) passed: &'a PassOutcome,
    /// Over which repository.
    pub(crate) repo: String,
    /// Requests that left for the forge.
    pub(crate) calls: Calls,
    /// Nothing was written.
    pub(crate) dry_run: bool,
    /// What came of the worker, where it was run.
    pub(crate) worker_run: Option<&'a WorkerRun>,
}

/// `--json` of `dispatch`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PassDocument {
    schema: &'static str,
    repo: String,
    dry_run: bool,
    /// What is printed without `--json`.
    lines: Vec<String>,
    /// Every open pull, by number.
    pulls: Vec<PullOf>,
    /// Why an issue was taken, or none.
    issue: ReasonOf,
    /// The worker that was to start.
    worker: Option<WorkerOf>,
    /// Something was not done for now: pass again later.
    unsettled: bool,
    calls: Calls,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct PullOf {
    number: u64,
    head: String,
    /// The project looks at it.
    takes_part: bool,
    reason: ReasonOf,
    next: NextOf,
    steps: Vec<StepOf>,
    refused: Vec<RefusedOf>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ReasonOf {
    rule: String,
    facts: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct WorkerOf {
    r#type: JobKind,
    number: u64,
    head: Option<String>,
    cause: String,
    /// It was started before and left no outcome.
    retry: bool,
    became: Became,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default)]
    note: String,
    /// How it ended, where `--run` ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<WorkOutcome>,
    /// What it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// The commit that was pushed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed: Option<String>,
    /// The branch that was opened as a pull.
    #[serde(skip_serializing_if = "Option::is_none")]
    opened: Option<String>,
    /// What was not done with what it left, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    refused: Vec<String>,
    /// Where its prints are.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
}

/// What became of a worker that was to start.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Became {
    /// A dry run, or the pass ended before.
    Planned,
    /// It is recorded, and its line was printed.
    Named,
    /// Another process is about to.
    Held,
    /// Its cause was gone, or is being answered.
    Changed,
    /// It could not be recorded.
    Unrecorded,
    /// Another process recorded one at the same time.
    Outrun,
    /// The forge could not be asked.
    Failed,
}

impl PassDocument {
    /// The document of a pass.
    pub(crate) fn from_view(of: &PassView<'_>) -> Self {
        let PassView { passed, repo, calls, dry_run, worker_run: ran } = of;
        let pulls = passed.pulls.iter().map(|looked| build_pull(passed, looked)).collect();
        Self {
            schema: "referee/pass-1",
            repo: repo.clone(),
            dry_run: *dry_run,
            lines: passed.lines.iter().map(ToString::to_string).collect(),
            pulls,
            issue: build_reason(&passed.pass.issue_reason),
            worker: passed.pass.spawn.as_ref().map(|job| build_worker(job, passed.started.as_ref(), *ran)),
            unsettled: passed.needs_rerun || ran.is_some_and(|ran| ran.unsettled),
            calls: *calls,
        }
    }
}

/// A reason in a line.
pub(crate) fn render_reason(reason: &Reason) -> String {
    format_reason(reason)
}

fn build_pull(passed: &PassOutcome, looked: &PassPull) -> PullOf {
    let PassPull { snapshot, plan, is_eligible: takes_part, receipts } = looked;
    let why = passed.pass.reasons.iter().find(|(number, _)| *number == plan.pull).map_or(&plan.why, |(_, why)| why);
    PullOf {
        number: plan.pull.0,
        head: snapshot.pull.head.to_string(),
        takes_part: *takes_part,
        reason: build_reason(why),
        next: build_next(plan),
        steps: plan.steps.iter().enumerate().map(|(at, step)| build_step(step, receipts.get(at))).collect(),
        refused: plan.refused.iter().map(build_refusal).collect(),
    }
}

fn build_reason(reason: &Reason) -> ReasonOf {
    ReasonOf { rule: reason.rule.clone(), facts: reason.facts.clone() }
}

fn build_worker(job: &Job, started: Option<&StartOutcome>, ran: Option<&WorkerRun>) -> WorkerOf {
    let note = |receipt: &Receipt| receipt.note.clone();
    let (became, note) = match started {
        None => (Became::Planned, String::new()),
        Some(StartOutcome::Started(rest)) => (Became::Named, rest.iter().map(note).collect::<Vec<_>>().join(", ")),
        Some(StartOutcome::ClaimHeld) => (Became::Held, String::new()),
        Some(StartOutcome::CauseChanged) => (Became::Changed, String::new()),
        Some(StartOutcome::Unrecorded(receipt)) => (Became::Unrecorded, note(receipt)),
        Some(StartOutcome::LostRace) => (Became::Outrun, String::new()),
        Some(StartOutcome::Failed(error)) => (Became::Failed, error.to_string()),
    };
    WorkerOf {
        r#type: job.kind,
        number: job.number,
        head: job.head.as_ref().map(ToString::to_string),
        cause: job.cause.clone(),
        retry: job.retry,
        became,
        note,
        outcome: ran.map(|ran| ran.outcome),
        summary: ran.map(|ran| ran.summary.clone()),
        pushed: ran.and_then(|ran| ran.pushed_commit.clone()),
        opened: ran.and_then(|ran| ran.opened_branch.clone()),
        refused: ran.map(|ran| ran.refusals.clone()).unwrap_or_default(),
        log: ran.and_then(|ran| ran.log.as_ref()).map(|log| log.display().to_string()),
    }
}
