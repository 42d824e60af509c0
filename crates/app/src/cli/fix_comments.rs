//! `referee fix-comments`: previews answers to threads, then replies and resolves behind their gates.

use std::path::PathBuf;

use clap::Args;
use referee_core::decide::PlanScope;
use referee_core::decide::settle::{AnswerResult, Settlement, ThreadOutcome, append_outcomes, settle};
use referee_core::model::Snapshot;
use referee_core::plan::{Action, Gate, Next, Plan, Reason};
use referee_core::policy::{GateSetting, Policy};
use referee_core::render::render_plan;
use referee_core::rule::Rule;
use referee_core::triage::{
    PhaseNow, SettleOutcome, ThreadFilter, compute_phase, find_named_finding, update_phase_after_settling,
};
use referee_forge::{Gates, RequestedGates};
use referee_turn::{BegunTurn, Inbox, Receipt, StepOutcome, Turn};

use super::PullArgs;
use super::comments::describe_dismissal;
use crate::console::Console;
use crate::failure::{CliOutcome, Failure};
use crate::fix_payload::FixPayload;
use crate::output::{TurnDocument, TurnView};
use crate::printable::to_one_line;
use crate::session::{Options, PullSession, SessionAccess};
use crate::store::MemoryKind;
use crate::{output, payload};

/// Answer and resolve threads from a payload
#[derive(Debug, Args)]
pub(super) struct FixCommentsArgs {
    #[command(flatten)]
    which: PullArgs,
    /// The answers (`referee schema fix`), from a file or `-`
    #[arg(long, value_name = "FILE")]
    payload: PathBuf,
    /// Send the replies
    #[arg(long)]
    apply_replies: bool,
    /// Resolve the threads
    #[arg(long)]
    apply_resolutions: bool,
    /// Send the replies and resolve the threads
    #[arg(long)]
    apply: bool,
    /// Only show what would be done; overrides the `--apply` options
    #[arg(long)]
    dry_run: bool,
    /// Also answer threads that are not in the stored triage
    #[arg(long)]
    detached: bool,
}

impl FixCommentsArgs {
    pub(super) async fn run(self, options: &Options, out: &Console) -> Result<CliOutcome, Failure> {
        let requested = self.requested_gates();
        let access = if requested.is_empty() { SessionAccess::Read } else { SessionAccess::Write };
        let session = PullSession::open(options, self.which.text(), access, out).await?;
        let (store, key) = (&session.store, &session.key);
        let answers: FixPayload = payload::parse_payload(&self.payload, "fix")?;
        let mut evidence = session.load_evidence()?;
        evidence.answers_for = Some(answers.pr_number);
        evidence.answers = answers.threads;
        evidence.detached = self.detached;
        let inbox = Inbox { evidence, scope: PlanScope::Answers, ..Inbox::default() };
        let begun = session.begin(&inbox).await?;
        let (snapshot, plan) = (&begun.snapshot, &begun.plan);
        let before = compute_phase(snapshot, &session.config.policy, &ThreadFilter::include_all())
            .with_unthreaded(&plan.findings);
        let settlement = settle(snapshot, &session.config.policy);
        let mistakes = list_mistakes(&settlement);
        let Settlement { outcomes, failed_precondition, .. } = settlement;
        if !mistakes.is_empty() {
            print_preview(&session, snapshot, plan, &before, out);
            out.print_line(&format!("error: nothing was sent: {}", mistakes.join("; ")));
            out.print_info(&describe_named_findings(&session, snapshot, plan));
            return Ok(CliOutcome::Usage);
        }
        if requested.is_empty() {
            print_preview(&session, snapshot, plan, &before, out);
            return Ok(conclude_preview(plan, failed_precondition.as_ref(), out));
        }
        let turn = session.finish(&begun, &build_gates(&session.config.policy, requested), &inbox, out).await?;
        let outcomes = outcomes.into_iter().map(|outcome| apply_receipts(outcome, &turn));
        let stored: Vec<ThreadOutcome> = store.load_memory(key, MemoryKind::AnswerOutcomes)?.unwrap_or_default();
        store.save_memory(key, MemoryKind::AnswerOutcomes, &append_outcomes(stored, outcomes))?;
        let BegunTurn { snapshot: fresh, plan: fresh_plan, .. } =
            session.begin(&Inbox { evidence: session.load_evidence()?, ..Inbox::default() }).await?;
        let fresh = compute_phase(&fresh, &session.config.policy, &ThreadFilter::include_all())
            .with_unthreaded(&fresh_plan.findings);
        let now = update_phase_after_settling(before, &summarize_receipts(&turn), fresh);
        store.save_memory(key, MemoryKind::Phase, &now)?;
        session.mark_used()?;
        print_turn(&session, &turn, &now, out);
        Ok(choose_ending(&turn, failed_precondition.as_ref()))
    }

    /// Returns the gates that the command line opens; `--dry-run` overrides every `--apply…` (FIX-1).
    fn requested_gates(&self) -> RequestedGates {
        let reply = (self.apply || self.apply_replies).then_some(Gate::Reply);
        let resolve = (self.apply || self.apply_resolutions).then_some(Gate::Resolve);
        if self.dry_run { RequestedGates::new() } else { reply.into_iter().chain(resolve).collect() }
    }
}

/// Builds the gates: only answers are sent, and only those that the command line asks for (FIX-11), even if a gate is
/// on.
fn build_gates(policy: &Policy, requested: RequestedGates) -> Gates {
    let settings = Gate::ALL.into_iter().map(|gate| {
        let configured = policy.gates.get(&gate).copied().unwrap_or(GateSetting::Off);
        let answers = matches!(gate, Gate::Reply | Gate::Resolve);
        (gate, if answers { configured.min(GateSetting::Ask) } else { GateSetting::Off })
    });
    Gates::new(settings.collect(), requested, policy.approve)
}

/// Returns what in the payload does not fit the pull: another pull's number, or an id that is unknown or named twice.
fn list_mistakes(settlement: &Settlement) -> Vec<String> {
    if let Some(barred) = &settlement.failed_precondition {
        return if barred.rule == Rule::OtherPull { vec![barred.facts.join(", ")] } else { Vec::new() };
    }
    let is_mistake = |rule| matches!(rule, Rule::NoSuchThread | Rule::NamedTwice | Rule::NotTriaged);
    let mistakes = settlement.refused.iter().filter(|refusal| is_mistake(refusal.why.rule));
    mistakes.map(|refusal| format!("{}: {}", refusal.what, refusal.why.facts.join(", "))).collect()
}

/// Returns the hint for a payload with mistakes. An answer names a thread; findings have other ids.
fn describe_named_findings(session: &PullSession, snapshot: &Snapshot, plan: &Plan) -> String {
    let mut answers = snapshot.evidence.answers.iter();
    match answers.find_map(|answer| find_named_finding(&plan.findings, answer.thread_id.as_str())) {
        Some((finding, Some(thread))) => format!("hint: {finding} is a finding; the id of its thread is `{thread}`"),
        Some((finding, None)) => describe_dismissal(session, &finding.to_string()),
        None => "hint: `referee comments` lists the threads of the pull".to_owned(),
    }
}

fn apply_receipts(outcome: ThreadOutcome, turn: &Turn) -> ThreadOutcome {
    let result = |wanted: &dyn Fn(&Action) -> bool| {
        let step = turn.steps.iter().zip(&turn.receipts).find(|(step, _)| wanted(&step.action));
        step.map(|(_, receipt)| classify_receipt(receipt))
    };
    let thread = outcome.thread.clone();
    let reply = result(&|action| matches!(action, Action::Reply { thread: it, .. } if *it == thread));
    let resolve = result(&|action| matches!(action, Action::Resolve { thread: it, .. } if *it == thread));
    outcome.with_applied(reply, resolve)
}

fn classify_receipt(receipt: &Receipt) -> AnswerResult {
    match receipt.outcome {
        StepOutcome::Done if receipt.note.is_empty() => AnswerResult::Done,
        StepOutcome::Done => AnswerResult::MarkedInText,
        StepOutcome::AlreadySo => AnswerResult::Already,
        StepOutcome::Withheld => AnswerResult::Withheld,
        StepOutcome::Refused => AnswerResult::NotPermitted,
        StepOutcome::Planned | StepOutcome::Failed | StepOutcome::Unknown => AnswerResult::Failed,
    }
}

fn summarize_receipts(turn: &Turn) -> SettleOutcome {
    let failed =
        |it: &&Receipt| matches!(it.outcome, StepOutcome::Failed | StepOutcome::Unknown | StepOutcome::Planned);
    match turn.receipts.iter().find(failed) {
        Some(receipt) => SettleOutcome::Failed { what: format!("{}: {}", receipt.action, receipt.note) },
        None => SettleOutcome::Done,
    }
}

fn print_preview(session: &PullSession, snapshot: &Snapshot, plan: &Plan, phase: &PhaseNow, out: &Console) {
    if out.json {
        let calls = session.request_counts(0).into();
        let rounds = session.config.policy.rounds;
        let mut document = TurnDocument::from_view(&TurnView {
            snapshot,
            plan,
            steps: &plan.steps,
            receipts: &[],
            max_rounds: rounds,
            calls,
        });
        document.phase = Some(phase.phase.to_string());
        out.print_json(&document);
    } else {
        out.print_data(&render_answers(plan));
        out.print_data(&format!("phase    {} ({})\n", phase.phase, to_one_line(&phase.why.facts.join(", "))));
    }
}

fn conclude_preview(plan: &Plan, failed_precondition: Option<&Reason>, out: &Console) -> CliOutcome {
    match failed_precondition {
        Some(why) => {
            out.print_info(&format!(
                "nothing may be sent: {}\nnext: correct that, then preview again",
                to_one_line(&why.facts.join(", "))
            ));
        }
        None if plan.steps.is_empty() => {
            out.print_info("nothing would be sent\nnext: each `refuse` line says what is missing");
            return CliOutcome::Done;
        }
        None => out.print_info("nothing was written: this is a preview\nnext: `--apply` replies and resolves"),
    }
    CliOutcome::Withheld
}

/// Returns the lines of a plan that are about answers.
fn render_answers(plan: &Plan) -> String {
    let lines = render_plan(plan);
    let is_answer = |line: &&str| ["plan", "refuse"].iter().any(|label| line.starts_with(label));
    lines.lines().filter(is_answer).map(|line| format!("{line}\n")).collect()
}

fn print_turn(session: &PullSession, turn: &Turn, phase: &PhaseNow, out: &Console) {
    if out.json {
        let mut document = output::build_document(session, turn);
        document.phase = Some(phase.phase.to_string());
        out.print_json(&document);
    } else {
        for (step, receipt) in turn.steps.iter().zip(&turn.receipts) {
            let note = if receipt.note.is_empty() { String::new() } else { format!(": {}", receipt.note) };
            let target = match &step.action {
                Action::Reply { thread, .. } | Action::Resolve { thread, .. } => thread.as_str(),
                _ => "",
            };
            let line = format!("{:<9}{} {target}{note}", receipt.outcome.name(), receipt.action);
            out.print_data(&format!("{}\n", to_one_line(&line)));
        }
        out.print_data(
            &render_answers(&Plan { steps: Vec::new(), ..turn.plan.clone() })
                .replace("plan     nothing to write\n", ""),
        );
        out.print_data(&format!("phase    {} ({})\n", phase.phase, to_one_line(&phase.why.facts.join(", "))));
    }
    out.print_line(&format!("next: {}", output::render_next_step(session, &turn.plan, turn.needs_rerun)));
}

fn choose_ending(turn: &Turn, failed_precondition: Option<&Reason>) -> CliOutcome {
    let failed = matches!(summarize_receipts(turn), SettleOutcome::Failed { .. });
    let withheld = turn.receipts.iter().any(|receipt| receipt.outcome == StepOutcome::Withheld);
    match &turn.plan.next {
        _ if failed => CliOutcome::Failed,
        Next::Blocked(_) => CliOutcome::HumanNeeded,
        _ if withheld || failed_precondition.is_some() => CliOutcome::Withheld,
        _ => CliOutcome::Done,
    }
}
