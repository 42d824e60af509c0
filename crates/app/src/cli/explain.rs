//! `referee explain`: why a pull is where it is, or what a rule means.

use std::path::PathBuf;

use clap::Args;
use referee_core::facts::Facts;
use referee_core::render::{Heading, explain};
use referee_core::triage::PhaseNow;
use referee_turn::Inbox;

use super::{Common, Which};
use crate::case::Case;
use crate::dispatch::{self, find};
use crate::failure::{Ending, Failure};
use crate::out::Out;
use crate::show::{Played, TurnDocument};
use crate::store::{Access, Memory};
use crate::table::Table;
use crate::{reviewers, tell};

/// Why a pull is where it is, or what a rule means
#[derive(Debug, Args)]
pub(super) struct Explain {
    #[command(flatten)]
    which: Which,
    /// What this rule of the built-in reviewer looks for, and why
    #[arg(long, value_name = "ID", conflicts_with_all = ["pull", "pr"])]
    rule: Option<String>,
    /// By the rules of this project too: a file, or a name in the folder of projects
    #[arg(long, conflicts_with = "rule")]
    project: Option<String>,
    /// The folder of projects [default: `projects` beside the operator file]
    #[arg(long, value_name = "DIR", requires = "project")]
    projects: Option<PathBuf>,
}

/// How many turns are listed.
const TURNS: usize = 5;

impl Explain {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        if let Some(id) = &self.rule {
            return rule(id, out);
        }
        let mut case = Case::open(common, self.which.words(), Access::Read)?;
        let mut setup = case.setup(common, out)?;
        if let Some(project) = &self.project {
            let found = find(common, project, self.projects.as_deref())?;
            setup.policy = dispatch::govern(&found.file, setup.policy, &case.forge)?;
        }
        let (store, key) = (&case.store, &case.key);
        let table = Table::new(&case, &setup)?;
        let inbox = Inbox { evidence: table.evidence()?, reports: Vec::new() };
        let (snapshot, plan) = table.look(&inbox)?;
        if out.json {
            let calls = table.calls(0);
            let (steps, rounds) = (plan.steps.as_slice(), setup.policy.rounds);
            let played = Played { snapshot: &snapshot, plan: &plan, steps, receipts: &[], rounds, calls };
            let stored: Option<PhaseNow> = store.recall(key, Memory::Phase)?;
            let mut document = TurnDocument::of(&played);
            document.phase = stored.map(|stored| stored.phase.to_string());
            out.document(&document);
            return Ok(Ending::Done);
        }
        let heading = Heading { name: case.name.clone(), ..Heading::of(&Facts::new(&snapshot, &setup.policy)) };
        out.data(&explain(&plan, &heading));
        for action in store.cut_short(key)? {
            out.data(&format!("cut      {action}: the last run ended there; it is read back by the next one\n"));
        }
        let whose = if case.is_local() { String::new() } else { format!(" --pr {}", case.words) };
        for turn in store.turns(key, TURNS)? {
            let head = turn.head.get(..7).unwrap_or(&turn.head);
            let times = if turn.times > 1 { format!(", {} times alike", turn.times) } else { String::new() };
            let replay = format!("`referee replay {}{whose}`", turn.id);
            out.data(&format!("turn     {} at {head}, {}{times} ({replay})\n", turn.id, turn.at));
        }
        out.say(&format!("next: {}", tell::next(&table, &plan, false)));
        Ok(Ending::Done)
    }
}

fn rule(id: &str, out: &Out) -> Result<Ending, Failure> {
    let rules = reviewers::embedded()?;
    if let Some(page) = rules.page(id) {
        out.data(&page.render());
        return Ok(Ending::Done);
    }
    let near = referee_core::say::nearest(id, rules.ids());
    let failure = Failure::usage(format!("there is no rule `{id}`"));
    Err(match near {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("a finding names its rule; `referee doctor` counts them"),
    })
}
