//! `referee fix-comments`: answers to threads, previewed, then replied to and resolved behind their gates.

use std::path::PathBuf;

use clap::Args;
use referee_core::decide::settle::{Fate, Settlement, ThreadOutcome, keep, settle};
use referee_core::model::Snapshot;
use referee_core::plan::{Action, Gate, Next, Plan, Reason, Step};
use referee_core::policy::Setting;
use referee_core::render::plan_lines;
use referee_core::triage::{Applied, Filter, PhaseNow, after_settling, phase};
use referee_forge::{Asked, Gates};
use referee_turn::{Inbox, Outcome, Publishing, Receipt, Turn};

use super::{Common, Which};
use crate::case::Case;
use crate::config::Setup;
use crate::failure::{Ending, Failure};
use crate::fix::FixPayload;
use crate::out::Out;
use crate::show::{Played, TurnDocument};
use crate::store::{Access, Memory};
use crate::table::Table;
use crate::{payload, tell};

/// Answer and resolve threads from a payload
#[derive(Debug, Args)]
pub(super) struct FixComments {
    #[command(flatten)]
    which: Which,
    /// The answers (`referee schema fix`), from a file or `-`
    #[arg(long, value_name = "FILE")]
    payload: PathBuf,
    /// Reply
    #[arg(long)]
    apply_replies: bool,
    /// Resolve
    #[arg(long)]
    apply_resolutions: bool,
    /// Reply and resolve
    #[arg(long)]
    apply: bool,
    /// Show what would be done, whatever else is given
    #[arg(long)]
    dry_run: bool,
    /// Answer threads that no stored triage names
    #[arg(long)]
    detached: bool,
}

impl FixComments {
    pub(super) fn run(self, common: &Common, out: &Out) -> Result<Ending, Failure> {
        let asked = self.asked();
        let access = if asked.is_empty() { Access::Read } else { Access::Write };
        let mut case = Case::open(common, self.which.words(), access)?;
        let setup = case.setup(common, out)?;
        let (store, key) = (&case.store, &case.key);
        let table = Table::new(&case, &setup)?;
        let handed: FixPayload = payload::parse(&self.payload, "fix")?;
        let mut evidence = table.evidence()?;
        evidence.answers_for = Some(handed.pr_number);
        evidence.answers = handed.threads;
        evidence.detached = self.detached;
        let inbox = Inbox { evidence, reports: Vec::new() };
        let (snapshot, plan) = table.look(&inbox)?;
        let before = phase(&snapshot, &setup.policy, &Filter::everything());
        let Settlement { outcomes, barred, .. } = settle(&snapshot, &setup.policy);
        if asked.is_empty() {
            let plan = Plan { steps: plan.steps.into_iter().filter(is_answer).collect(), ..plan };
            preview(&table, &snapshot, &plan, &before, out);
            return Ok(previewed(&plan, barred.as_ref(), out));
        }
        let turn = table.play(&gates(&setup, asked), &inbox, Publishing::Alone)?;
        let turn = answers_only(turn);
        let outcomes = outcomes.into_iter().map(|outcome| applied(outcome, &turn));
        let stored: Vec<ThreadOutcome> = store.recall(key, Memory::Outcomes)?.unwrap_or_default();
        store.remember(key, Memory::Outcomes, &keep(stored, outcomes))?;
        let (fresh, _) = table.look(&Inbox { evidence: table.evidence()?, reports: Vec::new() })?;
        let fresh = phase(&fresh, &setup.policy, &Filter::everything());
        let now = after_settling(before, &how(&turn), fresh);
        store.remember(key, Memory::Phase, &now)?;
        case.used()?;
        told(&table, &turn, &now, out);
        Ok(ending(&turn, barred.as_ref()))
    }

    /// The gates that the command line asks to open; a dry run beats every `--apply…` (FIX-1).
    fn asked(&self) -> Asked {
        let reply = (self.apply || self.apply_replies).then_some(Gate::Reply);
        let resolve = (self.apply || self.apply_resolutions).then_some(Gate::Resolve);
        if self.dry_run { Asked::new() } else { reply.into_iter().chain(resolve).collect() }
    }
}

/// Only answers leave here, and only those that were asked for (FIX-11): an open gate is no request.
fn gates(setup: &Setup, asked: Asked) -> Gates {
    let settings = Gate::ALL.into_iter().map(|gate| {
        let configured = setup.policy.gates.get(&gate).copied().unwrap_or(Setting::Off);
        let answers = matches!(gate, Gate::Reply | Gate::Resolve);
        (gate, if answers { configured.min(Setting::Ask) } else { Setting::Off })
    });
    Gates::new(settings.collect(), asked, setup.policy.approve)
}

fn is_answer(step: &Step) -> bool {
    matches!(step.gate, Gate::Reply | Gate::Resolve)
}

/// A turn without what `review` would do: that is shut here, and not this command's word.
fn answers_only(mut turn: Turn) -> Turn {
    let (steps, receipts) = (turn.steps, turn.receipts);
    (turn.steps, turn.receipts) = steps.into_iter().zip(receipts).filter(|(step, _)| is_answer(step)).unzip();
    turn
}

fn applied(outcome: ThreadOutcome, turn: &Turn) -> ThreadOutcome {
    let of = |wanted: &dyn Fn(&Action) -> bool| {
        let found = turn.steps.iter().zip(&turn.receipts).find(|(step, _)| wanted(&step.action));
        found.map(|(_, receipt)| fate(receipt))
    };
    let thread = outcome.thread.clone();
    let reply = of(&|action| matches!(action, Action::Reply { thread: it, .. } if *it == thread));
    let resolve = of(&|action| matches!(action, Action::Resolve { thread: it, .. } if *it == thread));
    outcome.applied(reply, resolve)
}

fn fate(receipt: &Receipt) -> Fate {
    match receipt.outcome {
        Outcome::Done if receipt.note.is_empty() => Fate::Done,
        Outcome::Done => Fate::MarkedInText,
        Outcome::AlreadySo => Fate::Already,
        Outcome::Withheld => Fate::Withheld,
        Outcome::Refused => Fate::NotPermitted,
        Outcome::Planned | Outcome::Failed | Outcome::Unknown => Fate::Failed,
    }
}

fn how(turn: &Turn) -> Applied {
    let failed = |it: &&Receipt| matches!(it.outcome, Outcome::Failed | Outcome::Unknown | Outcome::Planned);
    match turn.receipts.iter().find(failed) {
        Some(receipt) => Applied::Failed { what: format!("{}: {}", receipt.action, receipt.note) },
        None => Applied::Done,
    }
}

fn preview(table: &Table<'_>, snapshot: &Snapshot, plan: &Plan, phase: &PhaseNow, out: &Out) {
    if out.json {
        let calls = table.calls(0);
        let rounds = table.setup.policy.rounds;
        let mut document =
            TurnDocument::of(&Played { snapshot, plan, steps: &plan.steps, receipts: &[], rounds, calls });
        document.phase = Some(phase.phase.to_string());
        out.document(&document);
    } else {
        out.data(&answers(plan));
        out.data(&format!("phase    {} ({})\n", phase.phase, phase.why.facts.join(", ")));
    }
}

fn previewed(plan: &Plan, barred: Option<&Reason>, out: &Out) -> Ending {
    match barred {
        Some(why) => {
            out.say(&format!("nothing may be sent: {}\nnext: mend that, then preview again", why.facts.join(", ")));
        }
        None if plan.steps.is_empty() => {
            out.say("nothing would be sent\nnext: each `refuse` line says what is missing");
            return Ending::Done;
        }
        None => out.say("nothing was written: this is a preview\nnext: `--apply` replies and resolves"),
    }
    Ending::Withheld
}

/// The lines of a plan that are about answers.
fn answers(plan: &Plan) -> String {
    let lines = plan_lines(plan);
    let about = |line: &&str| ["plan", "refuse"].iter().any(|label| line.starts_with(label));
    lines.lines().filter(about).map(|line| format!("{line}\n")).collect()
}

fn told(table: &Table<'_>, turn: &Turn, phase: &PhaseNow, out: &Out) {
    if out.json {
        let mut document = tell::document(table, turn);
        document.phase = Some(phase.phase.to_string());
        out.document(&document);
    } else {
        for (step, receipt) in turn.steps.iter().zip(&turn.receipts) {
            let note = if receipt.note.is_empty() { String::new() } else { format!(": {}", receipt.note) };
            let target = match &step.action {
                Action::Reply { thread, .. } | Action::Resolve { thread, .. } => thread.as_str(),
                _ => "",
            };
            out.data(&format!("{:<9}{} {target}{note}\n", receipt.outcome.name(), receipt.action));
        }
        out.data(&answers(&Plan { steps: Vec::new(), ..turn.plan.clone() }).replace("plan     nothing to write\n", ""));
        out.data(&format!("phase    {} ({})\n", phase.phase, phase.why.facts.join(", ")));
    }
    out.say(&format!("next: {}", tell::next(table, &turn.plan, turn.unsettled)));
}

fn ending(turn: &Turn, barred: Option<&Reason>) -> Ending {
    let failed = matches!(how(turn), Applied::Failed { .. });
    let withheld = turn.receipts.iter().any(|receipt| receipt.outcome == Outcome::Withheld);
    match &turn.plan.next {
        _ if failed => Ending::Failed,
        Next::Blocked(_) => Ending::HumanNeeded,
        _ if withheld || barred.is_some() => Ending::Withheld,
        _ => Ending::Done,
    }
}
