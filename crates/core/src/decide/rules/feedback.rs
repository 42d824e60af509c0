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

use super::super::judgement::{JudgedFinding, RoleJudgement};
use super::worker::decide_worker;
use super::{MatchedRule, RuleContext, RuleEffect};
use crate::facts::{FixPlanComment, JobRecord};
use crate::hash::Hash;
use crate::mark::{ReplyKind, TagKind};
use crate::model::{Note, Thread, ThreadId, Time, Verdict};
use crate::plan::JobKind;
use crate::render::StopReason;
use crate::rule::Rule;

/// Rule 8.
pub(super) fn match_unanswered_findings<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    case.facts.dispatch_policy()?;
    let plans = case.facts.fix_plans();
    let mut open: Vec<UnansweredItem<'a>> = Vec::new();
    for judgement in
        case.judgements.iter().filter(|it| it.is_current && it.own_verdict != Some(Verdict::RequestChanges))
    {
        open.extend(judgement.findings.iter().filter_map(|it| find_unanswered_item(case, &plans, judgement, it)));
    }
    open.extend(collect_unanswered_rows(case, &plans));
    decide_on_items(case, Rule::FindingsUnanswered, &open)
}

/// Rule 9.
pub(super) fn match_unanswered_threads<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    case.facts.dispatch_policy()?;
    let threads = case.facts.snapshot.threads.iter();
    let open: Vec<UnansweredItem<'a>> = threads
        .filter(|thread| thread.resolved.is_none() && !thread.notes.is_empty())
        .filter(|thread| !case.facts.is_answered(thread) && !is_role_finding(case, thread))
        .map(|thread| UnansweredItem::from_thread(case, format!("thread {}", thread.id), thread))
        .collect();
    decide_on_items(case, Rule::ThreadsUnanswered, &open)
}

/// Something that nobody answered.
struct UnansweredItem<'a> {
    name: String,
    /// Since when it waits; a table's row has no time of its own.
    since: Option<Time>,
    /// The thread, where it is one program's note on another's answer.
    echo_thread: Option<&'a ThreadId>,
}

fn decide_on_items<'a>(case: &RuleContext<'a>, rule: Rule, open: &[UnansweredItem<'a>]) -> Option<MatchedRule<'a>> {
    if open.is_empty() {
        return None;
    }
    let told: Vec<String> = open.iter().map(|it| it.name.clone()).collect();
    let fresh: Vec<&UnansweredItem<'_>> = open.iter().filter(|it| it.echo_thread.is_none()).collect();
    if fresh.is_empty() {
        let threads = open.iter().filter_map(|it| it.echo_thread).collect();
        return Some(MatchedRule::new(rule, RuleEffect::Blocked(StopReason::BotLoop { threads })).facts(told));
    }
    let patch = &case.facts.snapshot.changes.patch;
    let jobs = case.facts.work.jobs.iter().rev();
    let last = { jobs }.find(|job| job.kind == JobKind::AddressFeedback && job.patch == patch);
    let was_there = |job: &&JobRecord<'_>| fresh.iter().any(|it| it.since.is_none_or(|since| since <= job.at));
    let record = last.filter(|job| job.outcome.is_none() || was_there(job));
    let cause = record.map_or_else(|| build_cause(&fresh), |job| job.cause.to_owned());
    let ruled = decide_worker(case, rule, JobKind::AddressFeedback, cause, record);
    Some(ruled.facts(told))
}

fn build_cause(open: &[&UnansweredItem<'_>]) -> String {
    let mut names: Vec<String> =
        open.iter().map(|it| format!("{}@{}", it.name, it.since.unwrap_or_default().0)).collect();
    names.sort_unstable();
    let hash = Hash::digest_parts(names.iter().map(String::as_str));
    format!("feedback:{}", hash.0.get(..12).unwrap_or_default())
}

fn find_unanswered_item<'a>(
    case: &RuleContext<'a>,
    plans: &[FixPlanComment<'a>],
    judgement: &RoleJudgement<'_>,
    it: &JudgedFinding<'a>,
) -> Option<UnansweredItem<'a>> {
    if !it.counts || it.state.is_settled() || plans.iter().any(|plan| plan.findings.contains(&it.id)) {
        return None;
    }
    let name = format!("{}/{}", judgement.name(), it.id);
    let mut threads = case.facts.snapshot.threads.iter();
    match it.thread.and_then(|id| threads.find(|thread| thread.id == *id)) {
        Some(thread) if case.facts.is_answered(thread) => None,
        Some(thread) => Some(UnansweredItem::from_thread(case, name, thread)),
        None => Some(UnansweredItem { name, since: None, echo_thread: None }),
    }
}

/// Rows of other bots' tables that no fix plan names.
fn collect_unanswered_rows<'a>(case: &RuleContext<'a>, plans: &[FixPlanComment<'a>]) -> Vec<UnansweredItem<'a>> {
    let is_role = |name: &str| case.judgements.iter().any(|it| it.name().as_str() == name);
    let mut open = Vec::new();
    for bot in case.facts.bot_reviews() {
        if !bot.at_head || is_role(bot.name) || bot.review.verdict() == Some(Verdict::RequestChanges) {
            continue;
        }
        let named = |number: &&u32| plans.iter().any(|plan| plan.bot_finding_numbers.contains(number));
        let rows = bot.text.findings.iter().filter(|number| !named(number));
        open.extend(rows.map(|number| UnansweredItem {
            name: format!("{} finding {number}", bot.name),
            since: None,
            echo_thread: None,
        }));
    }
    open
}

/// Whether a thread is a role's finding: rule 8 looks at those.
fn is_role_finding(case: &RuleContext<'_>, thread: &Thread) -> bool {
    let Some(root) = thread.root() else { return false };
    let Some(TagKind::Root { role, .. }) = root.text.trusted_tag().map(|tag| &tag.kind) else { return false };
    case.judgements.iter().any(|it| it.name() == role && root.author.has_login(it.role.identity))
}

impl<'a> UnansweredItem<'a> {
    fn from_thread(case: &RuleContext<'a>, name: String, thread: &'a Thread) -> Self {
        Self {
            name,
            since: thread.last().map(|last| last.at),
            echo_thread: is_echo(case, thread).then_some(&thread.id),
        }
    }
}

/// Whether a program wrote last, and a worker answered before it at this head: one more answer would go round.
fn is_echo(case: &RuleContext<'_>, thread: &Thread) -> bool {
    let facts = case.facts;
    let program = |note: &Note| note.author.bot || facts.is_own_author(&note.author);
    let by_worker = |note: &Note| {
        let tagged = note.text.trusted_tag().map(|tag| &tag.kind);
        let answer = matches!(tagged, Some(TagKind::Reply { what: ReplyKind::Answer, .. }));
        let user = facts.policy.work.as_ref().is_some_and(|work| note.author.has_login(&work.user));
        answer || (user && tagged.is_none())
    };
    let Some((last, before)) = thread.notes.split_last() else { return false };
    let head_since = facts.snapshot.pull.head_since;
    program(last) && before.iter().any(|note| head_since <= note.at && by_worker(note))
}
