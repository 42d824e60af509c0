//! Prints a turn: findings with their source, what was written, the verdict, and the next step.

use std::cmp::Reverse;

use annotate_snippets::Renderer;
use referee_core::model::FindingId;
use referee_core::plan::{BlockedCause, Next, Plan, WaitingOn};
use referee_core::render::{render_accounting, render_overflow, render_plan, render_report_words};
use referee_review::builtin::RuleSet;
use referee_turn::{Source, StepOutcome, Turn};

use super::findings::{FindingView, collect_open_findings, render_finding, summarize_counts};
use super::formats::{OutputFormat, render_findings};
use super::receipt_summary::summarize_receipts;
use super::review_ending::ReviewEnding;
use super::turn_document::{TurnDocument, TurnView};
use crate::console::Console;
use crate::printable::to_one_line;
use crate::session::PullSession;

/// Prints the findings to stdout in `format`, and a summary of the turn to stderr.
pub(crate) fn print_turn(
    session: &PullSession,
    turn: &Turn,
    ending: &ReviewEnding,
    format: OutputFormat,
    out: &Console,
) {
    let findings = collect_open_findings(&turn.plan);
    match format {
        OutputFormat::Json => out.print_json(&build_document(session, turn)),
        OutputFormat::Human => print_findings(session, turn, &findings, out),
        other => {
            out.print_data(&render_findings(other, &findings, &turn.snapshot, &turn.plan, ending).unwrap_or_default())
        }
    }
    out.print_detail(&render_plan(&turn.plan));
    out.print_info(&render_receipts(turn, ending));
    for report in &turn.snapshot.evidence.reports {
        let words = render_report_words(&report.role, &report.summary);
        if !words.is_empty() {
            out.print_info(&words);
        }
    }
    for line in render_unlisted(&turn.plan) {
        out.print_line(&line);
    }
    let counts = render_counts(&findings, &turn.plan, ending);
    if !counts.is_empty() {
        out.print_line(&counts);
    }
    let verdict = ending.render_verdict(&session.name, turn.plan.round, session.config.policy.rounds);
    out.print_line(&format!("verdict: {verdict}"));
    let repeat = turn.needs_rerun || !ending.is_published();
    out.print_line(&format!("next: {}", render_next_step(session, &turn.plan, repeat)));
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
fn render_receipts(turn: &Turn, ending: &ReviewEnding) -> String {
    let count = |outcome| turn.receipts.iter().filter(|receipt| receipt.outcome == outcome).count();
    let written = match count(StepOutcome::Done) {
        0 => None,
        done => Some(format!("wrote {done}: {}", summarize_receipts(&turn.steps, &turn.receipts))),
    };
    let missing = [StepOutcome::Failed, StepOutcome::Unknown, StepOutcome::Refused, StepOutcome::Withheld];
    let missing: Vec<String> = missing
        .into_iter()
        .map(|outcome| (count(outcome), outcome.name()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let mut lines = vec![match (written, missing.as_slice()) {
        (None, []) if ending.is_clean() => "nothing to write: everything is as it should be".to_owned(),
        (None, []) if ending.is_published() => "nothing to write".to_owned(),
        (None, missing) => ["wrote nothing".to_owned()].iter().chain(missing).cloned().collect::<Vec<_>>().join("; "),
        (Some(written), missing) => [written].iter().chain(missing).cloned().collect::<Vec<_>>().join("; "),
    }];
    for (receipt, step) in turn.receipts.iter().zip(&turn.steps) {
        if matches!(
            receipt.outcome,
            StepOutcome::Failed | StepOutcome::Unknown | StepOutcome::Refused | StepOutcome::Withheld
        ) {
            let (action, rule) = (receipt.action, &step.reason.rule);
            lines.push(format!("  {} {action} ({rule}): {}", receipt.outcome.name(), to_one_line(&receipt.note)));
        }
    }
    lines.join("\n")
}

/// Renders a line for each role whose report has results that are not shown (PUB-23), and one for findings that fit
/// nowhere on the pull (D33).
fn render_unlisted(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for (role, accounting) in plan.accounting.iter().filter(|(_, accounting)| accounting.not_shown() > 0) {
        lines.push(format!("{role}: {}", render_accounting(accounting)));
    }
    for state in &plan.roles {
        if !state.overflow.is_empty() {
            lines.push(format!("{}: {}", state.role, render_overflow(&state.overflow)));
        }
    }
    lines
}

/// Renders the counts of open and settled findings. Says "no findings" only of a head that was read completely.
fn render_counts(findings: &[FindingView], plan: &Plan, ending: &ReviewEnding) -> String {
    let open = (!findings.is_empty() || ending.is_reviewed()).then(|| summarize_counts(findings));
    let settled = plan.findings.iter().filter(|finding| !finding.counts).count();
    let settled = (settled > 0).then(|| format!("{settled} settled"));
    open.into_iter().chain(settled).collect::<Vec<_>>().join(" · ")
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
            let answer = find_most_severe(plan)
                .map(|first| format!("; or answer: `referee local reply {name} {first} \"won't fix: …\"`"));
            format!("fix and commit, then `referee review`{}", answer.unwrap_or_default())
        }
        Next::Wait(WaitingOn::Author) => {
            let answer = find_most_severe(plan)
                .map(|first| format!("; or answer in the thread of {first}, such as \"won't fix: …\""));
            format!("fix and push{}", answer.unwrap_or_default())
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
        Next::Ready if plan.roles.iter().any(|role| role.at_head) => "merge it yourself: everything agrees".to_owned(),
        Next::Ready => "merge it yourself: no role reads this change".to_owned(),
        Next::Blocked(BlockedCause::NeedsHuman | BlockedCause::RoundCap) => render_decision_hint(session, plan),
        Next::Blocked(BlockedCause::Budget) => {
            "raise `[budget] pull` in `referee.toml` on the default branch, then run the review again".to_owned()
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

/// Renders what a person can do who decides about the pull.
fn render_decision_hint(session: &PullSession, plan: &Plan) -> String {
    match find_most_severe(plan) {
        Some(finding) => {
            let dismiss = render_comment_command(session, &format!("/referee dismiss {finding} <reason>"));
            format!("a person decides, for example {dismiss}")
        }
        None => format!("a person decides: `referee explain {}` says what", session.reference),
    }
}

/// Renders how a person writes `comment` on the pull.
fn render_comment_command(session: &PullSession, comment: &str) -> String {
    if session.is_local() {
        format!("`referee local comment {} \"{comment}\"`", session.reference)
    } else {
        format!("by the comment `{comment}`")
    }
}

/// Returns the most severe open finding; of equals, the one with the lowest id.
fn find_most_severe(plan: &Plan) -> Option<FindingId> {
    let open = plan.findings.iter().filter(|finding| finding.counts);
    open.max_by_key(|finding| (finding.severity, Reverse(finding.id))).map(|finding| finding.id)
}
