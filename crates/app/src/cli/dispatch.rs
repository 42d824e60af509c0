//! `referee dispatch`: one pass over a project's open pulls.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use clap::builder::FalseyValueParser;
use referee_core::model::snapshot::WorkOutcome;
use referee_core::plan::JobKind;
use referee_turn::{Looked, Outcome, Passed, Receipt, Started};

use super::Common;
use crate::dispatch::{Mode, Repository, find};
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::show::{Calls, PassDocument, PassOf, reason};
use crate::store::Access;
use crate::worker::{Hired, Ran};

/// Say which worker a project needs next, and which pulls a person may take
#[derive(Debug, Args)]
pub(super) struct Dispatch {
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

impl Dispatch {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let found = find(common, &self.project, self.projects.as_deref())?;
        let access = if self.dry_run { Access::Read } else { Access::Write };
        let repository = Repository::open(common, &found, access, out)?;
        let hired = if self.run { repository.hire(&found)? } else { BTreeMap::new() };
        let passed = repository.pass(self.mode(), |line| {
            if !out.json {
                out.data(&format!("{line}\n"));
            }
        })?;
        tell(&passed, out);
        if self.dry_run {
            would(&passed, &hired, out);
        }
        let held = passed.held.as_ref();
        let ran = held.map(|held| repository.work(held, &hired, &found, out)).transpose()?.flatten();
        if let Some(ran) = &ran {
            ran.words().iter().for_each(|line| out.say(line));
        }
        if out.json {
            let referee_http::Calls { reads, writes } = repository.calls();
            let (repo, calls) = (repository.name(), Calls { reads, writes });
            let (dry_run, ran) = (self.dry_run, ran.as_ref());
            out.document(&PassDocument::of(&PassOf { passed: &passed, repo, calls, dry_run, ran }));
        }
        Ok(ending(passed.unsettled, ran.as_ref()))
    }

    fn mode(&self) -> Mode {
        match (self.dry_run, self.run) {
            (true, _) => Mode::DryRun,
            (false, true) => Mode::Run,
            (false, false) => Mode::Print,
        }
    }
}

fn ending(unsettled: bool, ran: Option<&Ran>) -> Ending {
    match ran.map(|ran| ran.outcome) {
        _ if unsettled || ran.is_some_and(|ran| ran.unsettled) => Ending::Later,
        Some(WorkOutcome::NeedsHuman) => Ending::HumanNeeded,
        Some(WorkOutcome::Failed) => Ending::Failed,
        Some(WorkOutcome::Done | WorkOutcome::NothingToDo) | None => Ending::Done,
    }
}

/// Which worker a run would start.
fn would(passed: &Passed, hired: &BTreeMap<JobKind, Hired>, out: &Out) {
    let Some((job, worker)) = passed.pass.spawn.as_ref().and_then(|job| Some((job, hired.get(&job.kind)?))) else {
        return;
    };
    let (program, minutes) = (worker.argv.first().map_or("", String::as_str), worker.time.as_secs() / 60);
    out.say(&format!("would start `{}` for {} #{}: `{program}`, {minutes} min", worker.name, job.kind, job.number));
}

/// Why each pull is where it is, and what was not done.
fn tell(passed: &Passed, out: &Out) {
    for (number, why) in &passed.pass.reasons {
        out.say(&format!("{number} {}", reason(why)));
    }
    if passed.pulls.is_empty() {
        out.say(&reason(&passed.pass.issue));
    }
    for Looked { plan, receipts, .. } in &passed.pulls {
        for receipt in receipts.iter().filter(|receipt| undone(receipt)) {
            out.say(&format!("warning: {} {}", plan.pull, words(receipt)));
        }
    }
    let Some(started) = &passed.started else { return };
    match started {
        Started::Yes(rest) => rest.iter().for_each(|it| out.say(&format!("warning: {}", words(it)))),
        Started::Held => out.say("no worker was named: another process is about to"),
        Started::Changed => out.say("no worker was named: its cause was gone, or is being answered"),
        Started::Outrun => out.say("warning: no worker was named: another process recorded one at the same time"),
        Started::Unrecorded(it) => {
            out.say(&format!("warning: no worker was named, as it could not be recorded: {}", words(it)));
        }
        Started::Failed(error) => out.say(&format!("warning: no worker was named: {error}")),
    }
}

fn undone(receipt: &Receipt) -> bool {
    !matches!(receipt.outcome, Outcome::Done | Outcome::AlreadySo)
}

fn words(receipt: &Receipt) -> String {
    format!("{} {}: {}", receipt.outcome.name(), receipt.action, receipt.note)
}
