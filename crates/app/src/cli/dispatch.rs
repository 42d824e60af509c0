//! `referee dispatch`: one pass over a project's open pulls.

use std::path::PathBuf;

use clap::Args;
use clap::builder::FalseyValueParser;
use referee_turn::{Looked, Outcome, Passed, Receipt, Started};

use super::Common;
use crate::dispatch::{Repository, find};
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::show::{Calls, PassDocument, PassOf, reason};
use crate::store::Access;

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
    /// Also start the worker
    #[arg(long)]
    run: bool,
}

impl Dispatch {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        if self.run {
            return Err(Failure::usage("no worker can be started: this build has no runner for workers yet").hint(
                "leave `--run` out: the line says which worker is needed, and `referee worker-prompt` what it is told",
            ));
        }
        let found = find(common, &self.project, self.projects.as_deref())?;
        let access = if self.dry_run { Access::Read } else { Access::Write };
        let repository = Repository::open(common, &found, access, out)?;
        let passed = repository.pass(self.dry_run, |line| {
            if !out.json {
                out.data(&format!("{line}\n"));
            }
        })?;
        if out.json {
            let referee_http::Calls { reads, writes } = repository.calls();
            let (repo, calls) = (repository.name(), Calls { reads, writes });
            out.document(&PassDocument::of(&PassOf { passed: &passed, repo, calls, dry_run: self.dry_run }));
        }
        tell(&passed, out);
        Ok(if passed.unsettled { Ending::Later } else { Ending::Done })
    }
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
