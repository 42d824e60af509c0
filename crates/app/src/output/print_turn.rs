//! Prints a turn: findings with their source, what was written, the verdict, and the next step.

use std::cmp::Reverse;

use annotate_snippets::Renderer;
use referee_core::model::Verdict;
use referee_core::plan::{BlockedCause, Next, Plan, WaitingOn};
use referee_core::render::render_plan;
use referee_review::builtin::RuleSet;
use referee_turn::{Source, StepOutcome, Turn};

use super::findings::{FindingView, collect_open_findings, render_finding, summarize_counts};
use super::formats::{OutputFormat, render_findings};
use super::receipt_summary::summarize_receipts;
use super::turn_document::{TurnDocument, TurnView};
use crate::console::Console;
use crate::session::PullSession;

/// Prints the findings to stdout in `format`, and a summary of the turn to stderr.
pub(crate) fn print_turn(session: &PullSession, turn: &Turn, format: OutputFormat, out: &Console) {
    let findings = collect_open_findings(&turn.snapshot, &turn.plan);
    match format {
        OutputFormat::Json => out.print_json(&build_document(session, turn)),
        OutputFormat::Human => print_findings(session, turn, &findings, out),
        other => out.print_data(&render_findings(other, &findings, &turn.snapshot, &turn.plan).unwrap_or_default()),
    }
    out.print_detail(&render_plan(&turn.plan));
    out.print_info(&render_receipts(turn));
    out.print_info(&format!("{}{}", summarize_counts(&findings), render_settled_count(&turn.plan)));
    out.print_info(&render_verdict(session, &turn.plan));
    out.print_info(&format!("next: {}", render_next_step(session, &turn.plan, turn.needs_rerun)));
}

/// Prints each finding with an excerpt of its file at the head. Secrets in the excerpt are masked.
fn print_findings(session: &PullSession, turn: &Turn, findings: &[FindingView], out: &Console) {
    let renderer = if out.has_colour() { Renderer::styled() } else { Renderer::plain() };
    let mut paths: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    let files = session.source.read_files(&turn.snapshot.pull.head, &paths).unwrap_or_default();
    let rules = RuleSet::load_embedded().ok();
    for finding in findings {
        let index = paths.iter().position(|path| *path == finding.path);
        let bytes = index.and_then(|index| files.get(index)).and_then(Option::as_ref);
        // Without the rules nothing can be masked, so no source is shown.
        let source = bytes
            .zip(rules.as_ref())
            .map(|(bytes, rules)| rules.mask_secrets(&finding.path, &String::from_utf8_lossy(bytes)));
        out.print_data(&render_finding(finding, source.as_deref(), rules.as_ref(), &renderer));
    }
}

/// Builds the document that `--json` prints.
pub(crate) fn build_document(session: &PullSession, turn: &Turn) -> TurnDocument {
    let Turn { snapshot, plan, steps, receipts, needs_rerun: _, writes } = turn;
    let calls = session.request_counts(*writes).into();
    TurnDocument::from_view(&TurnView {
        snapshot,
        plan,
        steps,
        receipts,
        max_rounds: session.config.policy.rounds,
        calls,
    })
}

/// Renders one line on what was written, then one line for each step that was not carried out.
fn render_receipts(turn: &Turn) -> String {
    let mut lines = Vec::new();
    let done = turn.receipts.iter().filter(|receipt| receipt.outcome == StepOutcome::Done).count();
    let withheld = turn.receipts.iter().filter(|receipt| receipt.outcome == StepOutcome::Withheld).count();
    lines.push(match (done, withheld) {
        (0, 0) => "nothing to write: everything is as it should be".to_owned(),
        (0, withheld) => format!("wrote nothing; {withheld} withheld"),
        (done, 0) => format!("wrote {done}: {}", summarize_receipts(&turn.steps, &turn.receipts)),
        (done, withheld) => {
            format!("wrote {done}: {}; {withheld} withheld", summarize_receipts(&turn.steps, &turn.receipts))
        }
    });
    for (receipt, step) in turn.receipts.iter().zip(&turn.steps) {
        if matches!(
            receipt.outcome,
            StepOutcome::Failed | StepOutcome::Unknown | StepOutcome::Refused | StepOutcome::Withheld
        ) {
            let (action, rule) = (receipt.action, &step.reason.rule);
            lines.push(format!("  {} {action} ({rule}): {}", receipt.outcome.name(), receipt.note));
        }
    }
    lines.join("\n")
}

fn render_settled_count(plan: &Plan) -> String {
    let settled = plan.findings.iter().filter(|finding| !finding.counts).count();
    if settled == 0 { String::new() } else { format!(" · {settled} settled") }
}

fn render_verdict(session: &PullSession, plan: &Plan) -> String {
    let worst = plan.roles.iter().filter_map(|role| role.enforced.or(role.own)).max();
    let verdict = match worst {
        Some(Verdict::RequestChanges) => "changes requested",
        Some(Verdict::Comment) => "nothing blocking",
        Some(Verdict::Approve) => "approved",
        None => "none yet",
    };
    let (name, rounds) = (&session.name, session.config.policy.rounds);
    match plan.round {
        0 => format!("verdict: {verdict} on {name}"),
        round => format!("verdict: {verdict} on {name}, round {round} of {rounds}"),
    }
}

/// Renders what the reader should do next. Every state of a pull has a next step.
pub(crate) fn render_next_step(session: &PullSession, plan: &Plan, needs_rerun: bool) -> String {
    let name = &session.reference;
    let local = session.is_local();
    if needs_rerun {
        return format!("run `referee review {name}` again; the reports are kept");
    }
    match &plan.next {
        Next::Idle => "nothing: the pull is closed".to_owned(),
        Next::Wait(WaitingOn::Author) if local => {
            let first = find_most_severe(plan);
            format!(
                "fix and commit, then `referee review`; or answer: `referee local reply {name} {first} \"won't fix: …\"`"
            )
        }
        Next::Wait(WaitingOn::Author) => {
            format!("fix and push; or answer in the thread of {}, such as \"won't fix: …\"", find_most_severe(plan))
        }
        Next::Wait(WaitingOn::Person(who)) if local => {
            format!("{who} blocks: `referee local approve {name} --as {who}` lifts it")
        }
        Next::Wait(WaitingOn::Person(who)) => format!("{who} blocks: {who}'s approval lifts it"),
        Next::Wait(WaitingOn::Operator) => render_decision_hint(session, plan),
        Next::Wait(WaitingOn::Reviewer(names)) => format!("reviews by {}: `referee review {name}`", names.join(", ")),
        Next::Wait(WaitingOn::Checks) if local => "the checks: `referee check`".to_owned(),
        Next::Wait(WaitingOn::Checks) => format!("the checks: `referee watch {name}` follows them"),
        Next::Wait(WaitingOn::Worker) => "a worker is under way".to_owned(),
        Next::Wait(WaitingOn::Forge) => format!("run `referee review {name}` again"),
        Next::Spawn(job) => format!("a worker for {} may start", job.kind),
        Next::Ready => "merge it yourself: everything agrees".to_owned(),
        Next::Blocked(BlockedCause::NeedsHuman | BlockedCause::RoundCap | BlockedCause::Budget) => {
            render_decision_hint(session, plan)
        }
        Next::Blocked(BlockedCause::ReviewerFailed) => {
            let retry = render_comment_command(session, "/referee retry");
            format!("a reviewer failed too often: fix its cause, then {retry}")
        }
        Next::Blocked(BlockedCause::Incomplete) => {
            format!("the pull could not be read completely: run `referee review {name}` again")
        }
        Next::Blocked(BlockedCause::NewerMark) => {
            "a newer version of referee wrote on this pull: use that version".to_owned()
        }
    }
}

/// Renders the command with which a person dismisses the most severe finding.
fn render_decision_hint(session: &PullSession, plan: &Plan) -> String {
    let dismiss = render_comment_command(session, &format!("/referee dismiss {} <reason>", find_most_severe(plan)));
    format!("a person decides, for example {dismiss}")
}

/// Renders how a person writes `comment` on the pull.
fn render_comment_command(session: &PullSession, comment: &str) -> String {
    if session.is_local() {
        format!("`referee local comment {} \"{comment}\"`", session.reference)
    } else {
        format!("by the comment `{comment}`")
    }
}

/// Returns the id of the most severe open finding; of equals, the lowest id.
fn find_most_severe(plan: &Plan) -> String {
    let open = plan.findings.iter().filter(|finding| finding.counts);
    open.max_by_key(|finding| (finding.severity, Reverse(finding.id)))
        .map_or("F1".to_owned(), |finding| finding.id.to_string())
}
