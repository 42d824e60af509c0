//! `referee dispatch`: makes one pass over a project's open pull requests.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use clap::builder::FalseyValueParser;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::plan::JobKind;
use referee_turn::{PassOutcome, PassPull, Receipt, StartOutcome, StepOutcome};

use crate::console::Console;
use crate::dispatch::{DispatchMode, ProjectRepository, find_project};
use crate::failure::{CliOutcome, Failure};
use crate::output::{Calls, PassDocument, PassView, render_reason};
use crate::session::Options;
use crate::store::StoreAccess;
use crate::worker::{RunnableWorker, WorkerRun};

/// Print which worker a project needs next and which pull requests are ready for a person
#[derive(Debug, Args)]
pub(super) struct DispatchArgs {
    /// The project: a file, or a name in the directory of projects
    project: String,
    /// The directory of projects [default: `projects` beside the operator file]
    #[arg(long, value_name = "DIR")]
    projects: Option<PathBuf>,
    /// Print the lines without writing anything
    #[arg(long, env = "DRY_RUN", value_parser = FalseyValueParser::new())]
    dry_run: bool,
    /// Also run the worker, if the project configures one for this kind of job
    #[arg(long)]
    run: bool,
}

impl DispatchArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let project = find_project(options, &self.project, self.projects.as_deref())?;
        let access = if self.dry_run { StoreAccess::Read } else { StoreAccess::Write };
        let repository = ProjectRepository::open(options, &project, access, out).await?;
        let workers = if self.run { repository.resolve_workers(&project)? } else { BTreeMap::new() };
        let outcome = repository
            .run_pass(
                self.mode(),
                |line| {
                    if !out.json {
                        out.print_data(&format!("{line}\n"));
                    }
                },
                out,
            )
            .await?;
        print_pass(&outcome, out);
        if self.dry_run {
            print_dry_run(&outcome, &workers, out);
        }
        let claimed = outcome.claimed_worker.as_ref();
        let worker_run = match claimed {
            Some(claimed) => repository.run_worker(claimed, &workers, &project, out).await?,
            None => None,
        };
        if let Some(run) = &worker_run {
            run.render_lines().iter().for_each(|line| out.print_line(line));
        }
        if out.json {
            let referee_http::RequestCounts { reads, writes } = repository.calls();
            let (repo, calls) = (repository.name(), Calls { reads, writes });
            let (dry_run, worker_run) = (self.dry_run, worker_run.as_ref());
            out.print_json(&PassDocument::from_view(&PassView { outcome: &outcome, repo, calls, dry_run, worker_run }));
        }
        Ok(choose_ending(outcome.needs_rerun, worker_run.as_ref()))
    }

    fn mode(&self) -> DispatchMode {
        match (self.dry_run, self.run) {
            (true, _) => DispatchMode::DryRun,
            (false, true) => DispatchMode::Run,
            (false, false) => DispatchMode::Print,
        }
    }
}

fn choose_ending(needs_rerun: bool, worker_run: Option<&WorkerRun>) -> CliOutcome {
    match worker_run.map(|run| run.outcome) {
        _ if needs_rerun || worker_run.is_some_and(|run| run.unsettled) => CliOutcome::TryLater,
        Some(WorkOutcome::NeedsHuman) => CliOutcome::HumanNeeded,
        Some(WorkOutcome::Failed) => CliOutcome::Failed,
        Some(WorkOutcome::Done | WorkOutcome::NothingToDo) | None => CliOutcome::Done,
    }
}

/// Prints which worker a real run would start.
fn print_dry_run(outcome: &PassOutcome, workers: &BTreeMap<JobKind, RunnableWorker>, out: &Console) {
    let Some((job, worker)) = outcome.pass.spawn.as_ref().and_then(|job| Some((job, workers.get(&job.kind)?))) else {
        return;
    };
    let (program, minutes) = (worker.argv.first().map_or("", String::as_str), worker.timeout.as_secs() / 60);
    out.print_line(&format!(
        "would start `{}` for {} #{}: `{program}`, {minutes} min",
        worker.name, job.kind, job.number
    ));
}

/// Prints the reason for the state of each pull request, and the steps that were not done.
fn print_pass(outcome: &PassOutcome, out: &Console) {
    for (number, why) in &outcome.pass.reasons {
        out.print_line(&format!("{number} {}", render_reason(why)));
    }
    if outcome.pulls.is_empty() {
        out.print_line(&render_reason(&outcome.pass.issue_reason));
    }
    for PassPull { plan, receipts, .. } in &outcome.pulls {
        for receipt in receipts.iter().filter(|receipt| is_undone(receipt)) {
            out.print_line(&format!("warning: {} {}", plan.pull, render_receipt(receipt)));
        }
    }
    let Some(started) = &outcome.started else { return };
    match started {
        StartOutcome::Started(receipts) => {
            receipts.iter().for_each(|receipt| out.print_line(&format!("warning: {}", render_receipt(receipt))))
        }
        StartOutcome::ClaimHeld => out.print_info("no worker was started: another process holds the claim"),
        StartOutcome::CauseChanged => {
            out.print_info("no worker was started: its cause is gone, or another worker is on it")
        }
        StartOutcome::LostRace => {
            out.print_info("warning: no worker was started: another process recorded one at the same time")
        }
        StartOutcome::Unrecorded(receipt) => {
            out.print_line(&format!(
                "warning: no worker was started: the start could not be recorded: {}",
                render_receipt(receipt)
            ));
        }
        StartOutcome::Failed(error) => out.print_line(&format!("warning: no worker was started: {error}")),
    }
}

fn is_undone(receipt: &Receipt) -> bool {
    !matches!(receipt.outcome, StepOutcome::Done | StepOutcome::AlreadySo)
}

fn render_receipt(receipt: &Receipt) -> String {
    format!("{} {}: {}", receipt.outcome.name(), receipt.action, receipt.note)
}
