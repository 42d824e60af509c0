//! Rules 8 and 9: unanswered findings and threads (DSP-9, D14, LOOP-8). Only with dispatch.
//!
//! | row | considered | unanswered when |
//! |---|---|---|
//! | `findings-unanswered` | counting findings of roles whose current verdict does not block | the last note of the thread is not from the fixing side, and no fix plan for this head names the finding |
//! | `findings-unanswered` | rows in the table of another bot's review that names this head and does not block | no fix plan for this head names `Finding #N` |
//! | `threads-unanswered` | unresolved threads of anybody, except roles' findings | the last note is not from the fixing side |
//!
//! | unanswered items | next |
//! |---|---|
//! | each is a bot's note on a worker's answer at this head | blocked: two bots answer each other |
//! | one existed when a worker was started for it at this change | decided by that worker's record |
//! | otherwise | spawn `address-feedback` |

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

pub(super) fn match_unanswered_findings<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    context.facts.dispatch_policy()?;
    let plans = context.facts.fix_plans();
    let mut open: Vec<UnansweredItem<'a>> = Vec::new();
    for judgement in
        context.judgements.iter().filter(|it| it.is_current && it.own_verdict != Some(Verdict::RequestChanges))
    {
        open.extend(judgement.findings.iter().filter_map(|it| find_unanswered_item(context, &plans, judgement, it)));
    }
    open.extend(collect_unanswered_rows(context, &plans));
    decide_on_items(context, Rule::FindingsUnanswered, &open)
}

pub(super) fn match_unanswered_threads<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    context.facts.dispatch_policy()?;
    let threads = context.facts.snapshot.threads.iter();
    let open: Vec<UnansweredItem<'a>> = threads
        .filter(|thread| thread.resolved.is_none() && !thread.notes.is_empty())
        .filter(|thread| !context.facts.is_answered(thread) && !is_role_finding(context, thread))
        .map(|thread| UnansweredItem::from_thread(context, format!("thread {}", thread.id), thread))
        .collect();
    decide_on_items(context, Rule::ThreadsUnanswered, &open)
}

/// A finding, table row or thread that the fixing side has not answered.
struct UnansweredItem<'a> {
    name: String,
    /// Time of the last note; `None` for a table row, which has no time.
    since: Option<Time>,
    /// The thread, if the item is a bot's note on a worker's answer.
    echo_thread: Option<&'a ThreadId>,
}

fn decide_on_items<'a>(context: &RuleContext<'a>, rule: Rule, open: &[UnansweredItem<'a>]) -> Option<MatchedRule<'a>> {
    if open.is_empty() {
        return None;
    }
    let names: Vec<String> = open.iter().map(|it| it.name.clone()).collect();
    let fresh: Vec<&UnansweredItem<'_>> = open.iter().filter(|it| it.echo_thread.is_none()).collect();
    if fresh.is_empty() {
        let threads = open.iter().filter_map(|it| it.echo_thread).collect();
        return Some(MatchedRule::new(rule, RuleEffect::Blocked(StopReason::BotLoop { threads })).facts(names));
    }
    let patch = &context.facts.snapshot.changes.patch;
    let jobs = context.facts.work.jobs.iter().rev();
    let last = { jobs }.find(|job| job.kind == JobKind::AddressFeedback && job.patch == patch);
    let existed = |job: &&JobRecord<'_>| fresh.iter().any(|it| it.since.is_none_or(|since| since <= job.at));
    let record = last.filter(|job| job.outcome.is_none() || existed(job));
    let cause = record.map_or_else(|| build_cause(&fresh), |job| job.cause.to_owned());
    let matched = decide_worker(context, rule, JobKind::AddressFeedback, cause, record);
    Some(matched.facts(names))
}

fn build_cause(open: &[&UnansweredItem<'_>]) -> String {
    let mut names: Vec<String> =
        open.iter().map(|it| format!("{}@{}", it.name, it.since.unwrap_or_default().0)).collect();
    names.sort_unstable();
    let hash = Hash::digest_parts(names.iter().map(String::as_str));
    format!("feedback:{}", hash.0.get(..12).unwrap_or_default())
}

fn find_unanswered_item<'a>(
    context: &RuleContext<'a>,
    plans: &[FixPlanComment<'a>],
    judgement: &RoleJudgement<'_>,
    it: &JudgedFinding<'a>,
) -> Option<UnansweredItem<'a>> {
    if !it.counts || it.state.is_settled() || plans.iter().any(|plan| plan.findings.contains(&it.id)) {
        return None;
    }
    let name = format!("{}/{}", judgement.name(), it.id);
    let mut threads = context.facts.snapshot.threads.iter();
    match it.thread.and_then(|id| threads.find(|thread| thread.id == *id)) {
        Some(thread) if context.facts.is_answered(thread) => None,
        Some(thread) => Some(UnansweredItem::from_thread(context, name, thread)),
        None => Some(UnansweredItem { name, since: None, echo_thread: None }),
    }
}

/// Returns the rows of other bots' tables that no fix plan names.
fn collect_unanswered_rows<'a>(context: &RuleContext<'a>, plans: &[FixPlanComment<'a>]) -> Vec<UnansweredItem<'a>> {
    let is_role = |name: &str| context.judgements.iter().any(|it| it.name().as_str() == name);
    let mut open = Vec::new();
    for bot in context.facts.bot_reviews() {
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

/// Returns whether a thread belongs to a role's finding, which rule 8 covers.
fn is_role_finding(context: &RuleContext<'_>, thread: &Thread) -> bool {
    let Some(root) = thread.root() else { return false };
    let Some(TagKind::Root { role, .. }) = root.text.trusted_tag().map(|tag| &tag.kind) else { return false };
    context.judgements.iter().any(|it| it.name() == role && root.author.has_login(it.role.identity))
}

impl<'a> UnansweredItem<'a> {
    fn from_thread(context: &RuleContext<'a>, name: String, thread: &'a Thread) -> Self {
        Self {
            name,
            since: thread.last().map(|last| last.at),
            echo_thread: is_echo(context, thread).then_some(&thread.id),
        }
    }
}

/// Returns whether a bot wrote last and a worker answered earlier at this head: another answer would start a loop.
fn is_echo(context: &RuleContext<'_>, thread: &Thread) -> bool {
    let facts = context.facts;
    let is_bot = |note: &Note| note.author.bot || facts.is_own_author(&note.author);
    let by_worker = |note: &Note| {
        let tagged = note.text.trusted_tag().map(|tag| &tag.kind);
        let answer = matches!(tagged, Some(TagKind::Reply { what: ReplyKind::Answer, .. }));
        let user = facts.policy.work.as_ref().is_some_and(|work| note.author.has_login(&work.user));
        answer || (user && tagged.is_none())
    };
    let Some((last, before)) = thread.notes.split_last() else { return false };
    let head_since = facts.snapshot.pull.head_since;
    is_bot(last) && before.iter().any(|note| head_since <= note.at && by_worker(note))
}
