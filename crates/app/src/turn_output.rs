//! A turn for people and programs: findings with their source, what was written, whose turn it is, the next step.

use std::cmp::Reverse;

use annotate_snippets::Renderer;
use referee_core::model::Verdict;
use referee_core::plan::{BlockedCause, Next, Plan, WaitingOn};
use referee_core::render::render_plan;
use referee_review::builtin::RuleSet;
use referee_turn::{Source, StepOutcome, Turn};

use crate::console::Console;
use crate::session::PullSession;
use crate::show::{self, OutputFormat, TurnDocument, TurnView};

/// Prints a turn.
pub(crate) fn print_turn(session: &PullSession, turn: &Turn, format: OutputFormat, out: &Console) {
    let findings = show::collect_open_findings(&turn.snapshot, &turn.plan);
    match format {
        OutputFormat::Json => out.print_json(&build_document(session, turn)),
        OutputFormat::Human => {
            let renderer = if out.has_colour() { Renderer::styled() } else { Renderer::plain() };
            let mut paths: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
            paths.sort_unstable();
            paths.dedup();
            let texts = session.source.read_files(&turn.snapshot.pull.head, &paths).unwrap_or_default();
            let pages = RuleSet::load_embedded().ok();
            for finding in &findings {
                let at = paths.iter().position(|path| *path == finding.path);
                let bytes = at.and_then(|at| texts.get(at)).and_then(Option::as_ref);
                let masked = bytes.zip(pages.as_ref());
                let text =
                    masked.map(|(bytes, rules)| rules.mask_secrets(&finding.path, &String::from_utf8_lossy(bytes)));
                out.print_data(&show::render_finding(finding, text.as_deref(), pages.as_ref(), &renderer));
            }
        }
        other => {
            out.print_data(&show::render_findings(other, &findings, &turn.snapshot, &turn.plan).unwrap_or_default())
        }
    }
    out.print_detail(&render_plan(&turn.plan));
    out.print_info(&render_receipts(turn));
    out.print_info(&format!("{}{}", show::summarize_counts(&findings), render_settled_count(&turn.plan)));
    out.print_info(&render_verdict(session, &turn.plan));
    out.print_info(&format!("next: {}", render_next_step(session, &turn.plan, turn.needs_rerun)));
}

/// The published document.
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

/// What was written, in a line; what went wrong, a line each.
fn render_receipts(turn: &Turn) -> String {
    let mut lines = Vec::new();
    let done = turn.receipts.iter().filter(|receipt| receipt.outcome == StepOutcome::Done).count();
    let withheld = turn.receipts.iter().filter(|receipt| receipt.outcome == StepOutcome::Withheld).count();
    lines.push(match (done, withheld) {
        (0, 0) => "nothing to write: everything is as it should be".to_owned(),
        (0, n) => format!("wrote nothing; {n} withheld"),
        (n, 0) => format!("wrote {n}: {}", show::summarize_receipts(&turn.steps, &turn.receipts)),
        (n, m) => format!("wrote {n}: {}; {m} withheld", show::summarize_receipts(&turn.steps, &turn.receipts)),
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
    let n = plan.findings.iter().filter(|finding| !finding.counts).count();
    if n == 0 { String::new() } else { format!(" · {n} settled") }
}

fn render_verdict(session: &PullSession, plan: &Plan) -> String {
    let worst = plan.roles.iter().filter_map(|role| role.enforced.or(role.own)).max();
    let words = match worst {
        Some(Verdict::RequestChanges) => "changes requested",
        Some(Verdict::Comment) => "nothing blocking",
        Some(Verdict::Approve) => "approved",
        None => "none yet",
    };
    let (name, rounds) = (&session.name, session.config.policy.rounds);
    match plan.round {
        0 => format!("verdict: {words} on {name}"),
        round => format!("verdict: {words} on {name}, round {round} of {rounds}"),
    }
}

/// The next step, always.
pub(crate) fn render_next_step(session: &PullSession, plan: &Plan, unsettled: bool) -> String {
    let name = &session.reference;
    let local = session.is_local();
    if unsettled {
        return format!("run `referee review {name}` again; the reports are kept");
    }
    match &plan.next {
        Next::Idle => "nothing: the pull is closed".to_owned(),
        Next::Wait(WaitingOn::Author) if local => {
            let first = find_gravest(plan);
            format!(
                "fix and commit, then `referee review`; or answer: `referee local reply {name} {first} \"won't fix: …\"`"
            )
        }
        Next::Wait(WaitingOn::Author) => {
            format!("fix and push; or answer in the thread of {}, such as \"won't fix: …\"", find_gravest(plan))
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
        Next::Review(_) => format!("`referee review {name}`"),
        Next::Spawn(job) => format!("a worker for {} may start", job.kind),
        Next::Ready => "merge it yourself: everything agrees".to_owned(),
        Next::Blocked(BlockedCause::NeedsHuman | BlockedCause::RoundCap | BlockedCause::Budget) => {
            render_decision_hint(session, plan)
        }
        Next::Blocked(BlockedCause::ReviewerFailed) => {
            let retry = render_comment_command(session, "/referee retry");
            format!("a reviewer failed as often as it may: mend it, then {retry}")
        }
        Next::Blocked(BlockedCause::Incomplete) => format!("not everything could be read: `referee review {name}`"),
        Next::Blocked(BlockedCause::NewerMark) => "a newer referee wrote here: use that one".to_owned(),
    }
}

/// What a person writes to end it.
fn render_decision_hint(session: &PullSession, plan: &Plan) -> String {
    let dismiss = render_comment_command(session, &format!("/referee dismiss {} <reason>", find_gravest(plan)));
    format!("a person decides, for example {dismiss}")
}

/// How a person says something on the pull.
fn render_comment_command(session: &PullSession, words: &str) -> String {
    if session.is_local() {
        format!("`referee local comment {} \"{words}\"`", session.reference)
    } else {
        format!("by the comment `{words}`")
    }
}

/// The finding to speak of first.
fn find_gravest(plan: &Plan) -> String {
    let counting = plan.findings.iter().filter(|finding| finding.counts);
    counting
        .max_by_key(|finding| (finding.severity, Reverse(finding.id)))
        .map_or("F1".to_owned(), |it| it.id.to_string())
}
