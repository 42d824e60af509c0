//! Rules 8 and 9: findings and threads that nobody answered (DSP-9, D14, LOOP-8). Only where there are workers.
//!
//! | row | what is looked at | unanswered |
//! |---|---|---|
//! | `findings-unanswered` | findings that count, of roles whose current verdict does not block | the last note of its thread is not the fixing side's, and no fix plan for this head names it |
//! | `findings-unanswered` | rows of another bot's table, in a review that names this head and does not block | no fix plan for this head says `Finding #N` |
//! | `threads-unanswered` | unresolved threads of anybody, but for the roles' findings | the last note is not the fixing side's |
//!
//! | of what is unanswered | next |
//! |---|---|
//! | all of it is a program's note on a worker's answer at this head | blocked: two programs answer each other |
//! | some was there when a worker for it was started at this change | that worker's record decides |
//! | none was | spawn `address-feedback` |

use super::super::judged::{Judged, Judgement};
use super::worker::worker;
use super::{Case, Ruled, Says};
use crate::facts::{FixPlan, JobRecord};
use crate::hash::Hash;
use crate::mark::{ReplyKind, TagKind};
use crate::model::{Note, Thread, ThreadId, Time, Verdict};
use crate::plan::JobKind;
use crate::render::Stop;

/// Rule 8.
pub(super) fn findings<'a>(case: &Case<'a>) -> Option<Ruled<'a>> {
    case.facts.work_here()?;
    let plans = case.facts.fix_plans();
    let mut open: Vec<Open<'a>> = Vec::new();
    for judgement in case.judged.iter().filter(|it| it.current && it.own != Some(Verdict::RequestChanges)) {
        open.extend(judgement.findings.iter().filter_map(|it| unanswered(case, &plans, judgement, it)));
    }
    open.extend(table_rows(case, &plans));
    answer(case, "findings-unanswered", &open)
}

/// Rule 9.
pub(super) fn threads<'a>(case: &Case<'a>) -> Option<Ruled<'a>> {
    case.facts.work_here()?;
    let threads = case.facts.snapshot.threads.iter();
    let open: Vec<Open<'a>> = threads
        .filter(|thread| thread.resolved.is_none() && !thread.notes.is_empty())
        .filter(|thread| !case.facts.answered(thread) && !is_finding(case, thread))
        .map(|thread| Open::of_thread(case, format!("thread {}", thread.id), thread))
        .collect();
    answer(case, "threads-unanswered", &open)
}

/// Something that nobody answered.
struct Open<'a> {
    name: String,
    /// Since when it waits; a table's row has no time of its own.
    since: Option<Time>,
    /// The thread, where it is one program's note on another's answer.
    echo: Option<&'a ThreadId>,
}

fn answer<'a>(case: &Case<'a>, rule: &'static str, open: &[Open<'a>]) -> Option<Ruled<'a>> {
    if open.is_empty() {
        return None;
    }
    let told: Vec<String> = open.iter().map(|it| it.name.clone()).collect();
    let fresh: Vec<&Open<'_>> = open.iter().filter(|it| it.echo.is_none()).collect();
    if fresh.is_empty() {
        let threads = open.iter().filter_map(|it| it.echo).collect();
        return Some(Ruled::new(rule, Says::Blocked(Stop::Echo { threads })).facts(told));
    }
    let patch = &case.facts.snapshot.changes.patch;
    let jobs = case.facts.work.jobs.iter().rev();
    let last = { jobs }.find(|job| job.kind == JobKind::AddressFeedback && job.patch == patch);
    let was_there = |job: &&JobRecord<'_>| fresh.iter().any(|it| it.since.is_none_or(|since| since <= job.at));
    let record = last.filter(|job| job.outcome.is_none() || was_there(job));
    let cause = record.map_or_else(|| cause(&fresh), |job| job.cause.to_owned());
    let ruled = worker(case, rule, JobKind::AddressFeedback, cause, record);
    Some(ruled.facts(told))
}

fn cause(open: &[&Open<'_>]) -> String {
    let mut names: Vec<String> =
        open.iter().map(|it| format!("{}@{}", it.name, it.since.unwrap_or_default().0)).collect();
    names.sort_unstable();
    let hash = Hash::of_parts(names.iter().map(String::as_str));
    format!("feedback:{}", hash.0.get(..12).unwrap_or_default())
}

fn unanswered<'a>(
    case: &Case<'a>,
    plans: &[FixPlan<'a>],
    judgement: &Judgement<'_>,
    it: &Judged<'a>,
) -> Option<Open<'a>> {
    if !it.counts || it.state.settled() || plans.iter().any(|plan| plan.findings.contains(&it.id)) {
        return None;
    }
    let name = format!("{}/{}", judgement.name(), it.id);
    let mut threads = case.facts.snapshot.threads.iter();
    match it.thread.and_then(|id| threads.find(|thread| thread.id == *id)) {
        Some(thread) if case.facts.answered(thread) => None,
        Some(thread) => Some(Open::of_thread(case, name, thread)),
        None => Some(Open { name, since: None, echo: None }),
    }
}

/// Rows of other bots' tables that no fix plan names.
fn table_rows<'a>(case: &Case<'a>, plans: &[FixPlan<'a>]) -> Vec<Open<'a>> {
    let is_role = |name: &str| case.judged.iter().any(|it| it.name().as_str() == name);
    let mut open = Vec::new();
    for bot in case.facts.bot_reviews() {
        if !bot.at_head || is_role(bot.name) || bot.review.verdict() == Some(Verdict::RequestChanges) {
            continue;
        }
        let named = |number: &&u32| plans.iter().any(|plan| plan.numbers.contains(number));
        let rows = bot.text.findings.iter().filter(|number| !named(number));
        open.extend(rows.map(|number| Open {
            name: format!("{} finding {number}", bot.name),
            since: None,
            echo: None,
        }));
    }
    open
}

/// Whether a thread is a role's finding: rule 8 looks at those.
fn is_finding(case: &Case<'_>, thread: &Thread) -> bool {
    let Some(root) = thread.root() else { return false };
    let Some(TagKind::Root { role, .. }) = root.text.tag().map(|tag| &tag.kind) else { return false };
    case.judged.iter().any(|it| it.name() == role && root.author.is(it.role.identity))
}

impl<'a> Open<'a> {
    fn of_thread(case: &Case<'a>, name: String, thread: &'a Thread) -> Self {
        Self { name, since: thread.last().map(|last| last.at), echo: is_echo(case, thread).then_some(&thread.id) }
    }
}

/// Whether a program wrote last, and a worker answered before it at this head: one more answer would go round.
fn is_echo(case: &Case<'_>, thread: &Thread) -> bool {
    let facts = case.facts;
    let program = |note: &Note| note.author.bot || facts.is_own_author(&note.author);
    let by_worker = |note: &Note| {
        let tagged = note.text.tag().map(|tag| &tag.kind);
        let answer = matches!(tagged, Some(TagKind::Reply { what: ReplyKind::Answer, .. }));
        let user = facts.policy.work.as_ref().is_some_and(|work| note.author.is(&work.user));
        answer || (user && tagged.is_none())
    };
    let Some((last, before)) = thread.notes.split_last() else { return false };
    let head_since = facts.snapshot.pull.head_since;
    program(last) && before.iter().any(|note| head_since <= note.at && by_worker(note))
}
