//! A turn for people and programs: findings with their source, what was written, whose turn it is, the next step.

use std::cmp::Reverse;

use annotate_snippets::Renderer;
use referee_core::model::Verdict;
use referee_core::plan::{Cause, Next, OnWhom, Plan};
use referee_core::render::plan_lines;
use referee_review::builtin::Rules;
use referee_turn::{Outcome, Source, Turn};

use crate::out::Out;
use crate::show::{self, Format, Played, TurnDocument};
use crate::table::Table;

/// Prints a turn.
pub(crate) fn turn(table: &Table<'_>, turn: &Turn, format: Format, out: &Out) {
    let findings = show::open(&turn.snapshot, &turn.plan);
    match format {
        Format::Json => out.document(&document(table, turn)),
        Format::Human => {
            let renderer = if out.colours() { Renderer::styled() } else { Renderer::plain() };
            let mut paths: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
            paths.sort_unstable();
            paths.dedup();
            let texts = table.case.texts.files(&turn.snapshot.pull.head, &paths).unwrap_or_default();
            let pages = Rules::embedded().ok();
            for finding in &findings {
                let at = paths.iter().position(|path| *path == finding.path);
                let bytes = at.and_then(|at| texts.get(at)).and_then(Option::as_ref);
                let masked = bytes.zip(pages.as_ref());
                let text = masked.map(|(bytes, rules)| rules.masked(&finding.path, &String::from_utf8_lossy(bytes)));
                out.data(&show::render(finding, text.as_deref(), pages.as_ref(), &renderer));
            }
        }
        other => out.data(&show::write(other, &findings, &turn.snapshot, &turn.plan).unwrap_or_default()),
    }
    out.detail(&plan_lines(&turn.plan));
    out.say(&receipts(turn));
    out.say(&format!("{}{}", show::count(&findings), settled(&turn.plan)));
    out.say(&verdict(table, &turn.plan));
    out.say(&format!("next: {}", next(table, &turn.plan, turn.unsettled)));
}

/// The published document.
pub(crate) fn document(table: &Table<'_>, turn: &Turn) -> TurnDocument {
    let Turn { snapshot, plan, steps, receipts, unsettled: _, writes } = turn;
    let calls = table.calls(*writes);
    TurnDocument::of(&Played { snapshot, plan, steps, receipts, rounds: table.setup.policy.rounds, calls })
}

/// What was written, in a line; what went wrong, a line each.
fn receipts(turn: &Turn) -> String {
    let mut lines = Vec::new();
    let done = turn.receipts.iter().filter(|receipt| receipt.outcome == Outcome::Done).count();
    let withheld = turn.receipts.iter().filter(|receipt| receipt.outcome == Outcome::Withheld).count();
    lines.push(match (done, withheld) {
        (0, 0) => "nothing to write: everything is as it should be".to_owned(),
        (0, n) => format!("wrote nothing; {n} withheld"),
        (n, 0) => format!("wrote {n}: {}", show::tally(&turn.steps, &turn.receipts)),
        (n, m) => format!("wrote {n}: {}; {m} withheld", show::tally(&turn.steps, &turn.receipts)),
    });
    for (receipt, step) in turn.receipts.iter().zip(&turn.steps) {
        if matches!(receipt.outcome, Outcome::Failed | Outcome::Unknown | Outcome::Refused | Outcome::Withheld) {
            let (action, rule) = (receipt.action, &step.reason.rule);
            lines.push(format!("  {} {action} ({rule}): {}", receipt.outcome.name(), receipt.note));
        }
    }
    lines.join("\n")
}

fn settled(plan: &Plan) -> String {
    let n = plan.findings.iter().filter(|finding| !finding.counts).count();
    if n == 0 { String::new() } else { format!(" · {n} settled") }
}

fn verdict(table: &Table<'_>, plan: &Plan) -> String {
    let worst = plan.roles.iter().filter_map(|role| role.enforced.or(role.own)).max();
    let words = match worst {
        Some(Verdict::RequestChanges) => "changes requested",
        Some(Verdict::Comment) => "nothing blocking",
        Some(Verdict::Approve) => "approved",
        None => "none yet",
    };
    let (name, rounds) = (&table.case.name, table.setup.policy.rounds);
    match plan.round {
        0 => format!("verdict: {words} on {name}"),
        round => format!("verdict: {words} on {name}, round {round} of {rounds}"),
    }
}

/// The next step, always.
pub(crate) fn next(table: &Table<'_>, plan: &Plan, unsettled: bool) -> String {
    let name = &table.case.words;
    let local = table.case.is_local();
    if unsettled {
        return format!("run `referee review {name}` again; the reports are kept");
    }
    match &plan.next {
        Next::Idle => "nothing: the pull is closed".to_owned(),
        Next::Wait(OnWhom::Author) if local => {
            let first = gravest(plan);
            format!(
                "fix and commit, then `referee review`; or answer: `referee local reply {name} {first} \"won't fix: …\"`"
            )
        }
        Next::Wait(OnWhom::Author) => {
            format!("fix and push; or answer in the thread of {}, such as \"won't fix: …\"", gravest(plan))
        }
        Next::Wait(OnWhom::Person(who)) if local => {
            format!("{who} blocks: `referee local approve {name} --as {who}` lifts it")
        }
        Next::Wait(OnWhom::Person(who)) => format!("{who} blocks: {who}'s approval lifts it"),
        Next::Wait(OnWhom::Operator) => decide(table, plan),
        Next::Wait(OnWhom::Reviewer(names)) => format!("reviews by {}: `referee review {name}`", names.join(", ")),
        Next::Wait(OnWhom::Checks) if local => "the checks: `referee check`".to_owned(),
        Next::Wait(OnWhom::Checks) => format!("the checks: `referee watch {name}` follows them"),
        Next::Wait(OnWhom::Worker) => "a worker is under way".to_owned(),
        Next::Wait(OnWhom::Forge) => format!("run `referee review {name}` again"),
        Next::Review(_) => format!("`referee review {name}`"),
        Next::Spawn(job) => format!("a worker for {} may start", job.kind),
        Next::Ready => "merge it yourself: everything agrees".to_owned(),
        Next::Blocked(Cause::NeedsHuman | Cause::RoundCap | Cause::Budget) => decide(table, plan),
        Next::Blocked(Cause::ReviewerFailed) => {
            let retry = comment(table, "/referee retry");
            format!("a reviewer failed as often as it may: mend it, then {retry}")
        }
        Next::Blocked(Cause::Incomplete) => format!("not everything could be read: `referee review {name}`"),
        Next::Blocked(Cause::NewerMark) => "a newer referee wrote here: use that one".to_owned(),
    }
}

/// What a person writes to end it.
fn decide(table: &Table<'_>, plan: &Plan) -> String {
    let dismiss = comment(table, &format!("/referee dismiss {} <reason>", gravest(plan)));
    format!("a person decides, for example {dismiss}")
}

/// How a person says something on the pull.
fn comment(table: &Table<'_>, words: &str) -> String {
    if table.case.is_local() {
        format!("`referee local comment {} \"{words}\"`", table.case.words)
    } else {
        format!("by the comment `{words}`")
    }
}

/// The finding to speak of first.
fn gravest(plan: &Plan) -> String {
    let counting = plan.findings.iter().filter(|finding| finding.counts);
    counting
        .max_by_key(|finding| (finding.severity, Reverse(finding.id)))
        .map_or("F1".to_owned(), |it| it.id.to_string())
}
