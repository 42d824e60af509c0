//! `referee dispatch`: one pass over a project's open pulls.

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

/// Say which worker a project needs next, and which pulls a person may take
#[derive(Debug, Args)]
pub(super) struct DispatchArgs {
    /// The project: a file, or a name in the folder of projects
    project: String,
    /// The folder of projects [default: `projects` beside the operator file]
    #[arg(long, value_name = "DIR")]
    projects: Option<PathBuf>,
    /// Print the lines, write nothing
    #[arg(long, env = "DRY_RUN", value_parser = FalseyValueParser::new())]
    dry_run: bool,
    /// Also run the worker that is needed, if the project names one for it
    #[arg(long)]
    run: bool,
}

impl DispatchArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let found = find_project(options, &self.project, self.projects.as_deref())?;
        let access = if self.dry_run { StoreAccess::Read } else { StoreAccess::Write };
        let repository = ProjectRepository::open(options, &found, access, out).await?;
        let hired = if self.run { repository.resolve_workers(&found)? } else { BTreeMap::new() };
        let passed = repository
            .run_pass(self.mode(), |line| {
                if !out.json {
                    out.print_data(&format!("{line}\n"));
                }
            })
            .await?;
        print_pass(&passed, out);
        if self.dry_run {
            print_dry_run(&passed, &hired, out);
        }
        let held = passed.claimed_worker.as_ref();
        let ran = match held {
            Some(held) => repository.run_worker(held, &hired, &found, out).await?,
            None => None,
        };
        if let Some(ran) = &ran {
            ran.render_lines().iter().for_each(|line| out.print_info(line));
        }
        if out.json {
            let referee_http::RequestCounts { reads, writes } = repository.calls();
            let (repo, calls) = (repository.name(), Calls { reads, writes });
            let (dry_run, ran) = (self.dry_run, ran.as_ref());
            out.print_json(&PassDocument::from_view(&PassView {
                outcome: &passed,
                repo,
                calls,
                dry_run,
                worker_run: ran,
            }));
        }
        Ok(choose_ending(passed.needs_rerun, ran.as_ref()))
    }

    fn mode(&self) -> DispatchMode {
        match (self.dry_run, self.run) {
            (true, _) => DispatchMode::DryRun,
            (false, true) => DispatchMode::Run,
            (false, false) => DispatchMode::Print,
        }
    }
}

fn choose_ending(unsettled: bool, ran: Option<&WorkerRun>) -> CliOutcome {
    match ran.map(|ran| ran.outcome) {
        _ if unsettled || ran.is_some_and(|ran| ran.unsettled) => CliOutcome::TryLater,
        Some(WorkOutcome::NeedsHuman) => CliOutcome::HumanNeeded,
        Some(WorkOutcome::Failed) => CliOutcome::Failed,
        Some(WorkOutcome::Done | WorkOutcome::NothingToDo) | None => CliOutcome::Done,
    }
}

/// Which worker a run would start.
fn print_dry_run(passed: &PassOutcome, hired: &BTreeMap<JobKind, RunnableWorker>, out: &Console) {
    let Some((job, worker)) = passed.pass.spawn.as_ref().and_then(|job| Some((job, hired.get(&job.kind)?))) else {
        return;
    };
    let (program, minutes) = (worker.argv.first().map_or("", String::as_str), worker.timeout.as_secs() / 60);
    out.print_info(&format!(
        "would start `{}` for {} #{}: `{program}`, {minutes} min",
        worker.name, job.kind, job.number
    ));
}

/// Why each pull is where it is, and what was not done.
fn print_pass(passed: &PassOutcome, out: &Console) {
    for (number, why) in &passed.pass.reasons {
        out.print_info(&format!("{number} {}", render_reason(why)));
    }
    if passed.pulls.is_empty() {
        out.print_info(&render_reason(&passed.pass.issue_reason));
    }
    for PassPull { plan, receipts, .. } in &passed.pulls {
        for receipt in receipts.iter().filter(|receipt| is_undone(receipt)) {
            out.print_info(&format!("warning: {} {}", plan.pull, render_receipt(receipt)));
        }
    }
    let Some(started) = &passed.started else { return };
    match started {
        StartOutcome::Started(rest) => {
            rest.iter().for_each(|it| out.print_info(&format!("warning: {}", render_receipt(it))))
        }
        StartOutcome::ClaimHeld => out.print_info("no worker was named: another process is about to"),
        StartOutcome::CauseChanged => out.print_info("no worker was named: its cause was gone, or is being answered"),
        StartOutcome::LostRace => {
            out.print_info("warning: no worker was named: another process recorded one at the same time")
        }
        StartOutcome::Unrecorded(it) => {
            out.print_info(&format!(
                "warning: no worker was named, as it could not be recorded: {}",
                render_receipt(it)
            ));
        }
        StartOutcome::Failed(error) => out.print_info(&format!("warning: no worker was named: {error}")),
    }
}

fn is_undone(receipt: &Receipt) -> bool {
    !matches!(receipt.outcome, StepOutcome::Done | StepOutcome::AlreadySo)
}

fn render_receipt(receipt: &Receipt) -> String {
    format!("{} {}: {}", receipt.outcome.name(), receipt.action, receipt.note)
}
