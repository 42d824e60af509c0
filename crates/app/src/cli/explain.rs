//! `referee explain`: explains the state of a pull request, or a rule of the built-in reviewer.

use std::path::PathBuf;

use clap::Args;
use referee_core::facts::Facts;
use referee_core::render::{ExplainHeading, render_explanation};
use referee_core::triage::PhaseNow;
use referee_turn::{BegunTurn, Inbox};

use super::PullArgs;
use crate::console::Console;
use crate::dispatch::{self, find_project};
use crate::failure::{CliOutcome, Failure};
use crate::output::{TurnDocument, TurnView};
use crate::session::{Options, PullSession, SessionAccess};
use crate::store::MemoryKind;
use crate::{output, reviewers};

/// Explain the state of a pull request, or a rule
#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    which: PullArgs,
    /// Explain this rule of the built-in reviewer
    #[arg(long, value_name = "ID", conflicts_with_all = ["pull", "pr"])]
    rule: Option<String>,
    /// Apply the rules of this project too: a file, or a name in the folder of projects
    #[arg(long, conflicts_with = "rule")]
    project: Option<String>,
    /// The folder of projects [default: `projects` beside the operator file]
    #[arg(long, value_name = "DIR", requires = "project")]
    projects: Option<PathBuf>,
}

const MAX_TURNS: usize = 5;

impl ExplainArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        if let Some(id) = &self.rule {
            return explain_rule(id, out);
        }
        let mut session = PullSession::open(options, self.which.text(), SessionAccess::Read, out).await?;
        if let Some(project) = &self.project {
            let project = find_project(options, project, self.projects.as_deref())?;
            let policy = session.config.policy.clone();
            session.config.policy = dispatch::apply_project_policy(&project.file, policy, &*session.forge).await?;
        }
        let (store, key) = (&session.store, &session.key);
        let inbox = Inbox { evidence: session.load_evidence()?, ..Inbox::default() };
        let BegunTurn { snapshot, plan, .. } = session.begin(&inbox).await?;
        if out.json {
            let calls = session.request_counts(0).into();
            let (steps, rounds) = (plan.steps.as_slice(), session.config.policy.rounds);
            let view = TurnView { snapshot: &snapshot, plan: &plan, steps, receipts: &[], max_rounds: rounds, calls };
            let stored: Option<PhaseNow> = store.load_memory(key, MemoryKind::Phase)?;
            let mut document = TurnDocument::from_view(&view);
            document.phase = stored.map(|stored| stored.phase.to_string());
            out.print_json(&document);
            return Ok(CliOutcome::Done);
        }
        let heading = ExplainHeading {
            name: session.name.clone(),
            ..ExplainHeading::from_facts(&Facts::new(&snapshot, &session.config.policy))
        };
        out.print_data(&render_explanation(&plan, &heading));
        for action in store.find_unfinished_writes(key)? {
            out.print_data(&format!(
                "cut      {action}: the last run was interrupted there; the next run reads the outcome\n"
            ));
        }
        let pr_option = if session.is_local() { String::new() } else { format!(" --pr {}", session.reference) };
        for turn in store.list_turns(key, MAX_TURNS)? {
            let head = turn.head.get(..7).unwrap_or(&turn.head);
            let times = if turn.occurrences > 1 { format!(", {} times", turn.occurrences) } else { String::new() };
            let replay = format!("`referee replay {}{pr_option}`", turn.id);
            out.print_data(&format!("turn     {} at {head}, {}{times} ({replay})\n", turn.id, turn.first_at));
        }
        out.print_line(&format!("next: {}", output::render_next_step(&session, &plan, false)));
        Ok(CliOutcome::Done)
    }
}

fn explain_rule(id: &str, out: &Console) -> Result<CliOutcome, Failure> {
    let rules = reviewers::load_embedded_rules()?;
    if let Some(page) = rules.find_page(id) {
        out.print_data(&page.render());
        return Ok(CliOutcome::Done);
    }
    let nearest = referee_core::say::find_nearest_word(id, rules.ids());
    let failure = Failure::usage(format!("there is no rule `{id}`"));
    Err(match nearest {
        Some(nearest) => failure.with_hint(format!("did you mean `{nearest}`?")),
        None => failure.with_hint("a finding names its rule; `referee doctor` counts them"),
    })
}
