//! The rules of a turn: who reviews this head now (`review`), and whose turn is next on the author's side (first
//! matching row). The two answers are independent (D29). Numbers in brackets are those of the dispatch source.
//!
//! | row | when | next | module |
//! |---|---|---|---|
//! | `lease` (0) | a worker holds the lease, or a `wip` label is recent | the matching row, without spawn and handoff | `lease` |
//! | `closed` | the pull is not open | idle | here |
//! | `paused` | a person said `pause` | wait for the operator | here |
//! | `break-glass` | break-glass is active at this change (D25) | wait for the operator | here |
//! | `needs-human` | only a person can settle a finding that counts | blocked | here |
//! | `changes-requested` (2) | a role, a person or another bot requests changes | spawn `findings`, wait, blocked | `blocks` |
//! | `conflict` (3) | it does not merge, and is not a draft | spawn `rebase` | `health` |
//! | `checks-failed` (4) | a check failed | spawn `ci-fix` | `health` |
//! | `reviews-missing` (5) | a role or another bot has not read this change | wait, blocked | `missing` |
//! | `checks-pending` (6) | a check is not done, or none has reported and one is required | wait for the checks | `health` |
//! | `self-review` (7) | the self-review for this head is missing, or needs attention | spawn `self-review`, `sr-fix` | `self_review` |
//! | `findings-unanswered` (8) | findings that do not block are unanswered | spawn `address-feedback` | `feedback` |
//! | `threads-unanswered` (9) | threads are unresolved and unanswered | spawn `address-feedback` | `feedback` |
//! | `draft` | it is a draft | wait for the author | here |
//! | `ready` (10) | none of the above | ready | `ready` |
//!
//! Every row that blocks plans the operator comment (`operator`).

mod blocks;
mod feedback;
mod health;
mod missing;
mod ready;
mod review;
mod self_review;
mod worker;

use super::judgement::{ReportStatus, RoleJudgement};
use super::lease::check_lease;
use super::operator;
use super::publish::is_report_recorded;
use super::scope::PlanScope;
use crate::facts::Facts;
use crate::model::{PullState, RoleName, Time, Verdict};
use crate::plan::{Brief, Next, Reason, Refusal, Step, UnreadCause, WaitingOn};
use crate::render::StopReason;
use crate::rule::Rule;
use review::ReviewQueue;
use worker::WorkerStart;

/// The result of the rules for one pull.
#[derive(Debug)]
pub struct RulesOutcome {
    /// Reviews of this head that are due now.
    pub reviews: Vec<Brief>,
    pub next: Next,
    /// The matching row with its facts.
    pub why: Reason,
    /// Labels, the handoff, the operator comment.
    pub steps: Vec<Step>,
    /// Steps that were considered and refused, with the reason.
    pub refused: Vec<Refusal>,
    /// Rounds used, counting this turn's verdicts (LOOP-2).
    pub round: u32,
    /// Roles of this run that have not read this head completely (D36).
    pub unread: Vec<(RoleName, UnreadCause)>,
}

/// Applies the rules to one pull.
pub fn apply_rules<'a>(facts: &'a Facts<'a>, judged: &'a [RoleJudgement<'a>], scope: &PlanScope) -> RulesOutcome {
    let lease = check_lease(facts);
    let suspended = match_suspended(facts);
    let context = RuleContext {
        facts,
        judgements: judged,
        active_since: lease.active_since,
        round: compute_round(facts, judged),
        reviews: if suspended.is_some() { ReviewQueue::default() } else { ReviewQueue::new(facts, judged, scope) },
    };
    let matched = suspended.unwrap_or_else(|| find_first_match(&context));
    let (mut steps, mut refused) = (Vec::new(), Vec::new());
    if !matches!(matched.effect, RuleEffect::Idle) {
        steps = lease.steps;
        refused = lease.refused;
        refused.extend(review::refuse_reviews(facts, judged, scope, &context.reviews));
        steps.extend(ready::plan_ready_label_removal(&context, &matched));
    }
    let why = Reason { rule: matched.rule, facts: matched.facts };
    let (reviews, round) = (context.reviews.due.clone(), context.round);
    let unread = review::list_unread(facts, judged, scope, &context.reviews);
    let mut outcome = RulesOutcome { reviews, next: Next::Idle, why, steps, refused, round, unread };
    outcome.next = match matched.effect {
        RuleEffect::Idle => Next::Idle,
        RuleEffect::Wait(on) => Next::Wait(on),
        RuleEffect::Spawn(_) | RuleEffect::Ready if context.active_since.is_some() => {
            let since = context.active_since.unwrap_or_default();
            outcome.why =
                Reason::new(Rule::Lease).with_fact(format!("work since {since}")).with_fact(outcome.why.rule.name());
            Next::Wait(WaitingOn::Worker)
        }
        RuleEffect::Spawn(start) => Next::Spawn(Box::new(start.into_job(&context, &outcome.why))),
        RuleEffect::Ready => {
            outcome.steps.extend(ready::plan_handoff(&context, &outcome.why));
            Next::Ready
        }
        RuleEffect::Blocked(stop) => {
            let cause = stop.cause();
            outcome.steps.extend(operator::plan_operator_comment(facts, judged, stop, &outcome.why));
            Next::Blocked(cause)
        }
    };
    outcome
}

/// Input of the rules for one pull.
#[derive(Debug)]
pub(in crate::decide) struct RuleContext<'a> {
    pub(in crate::decide) facts: &'a Facts<'a>,
    pub(in crate::decide) judgements: &'a [RoleJudgement<'a>],
    /// Start of the running work; `None` if no worker runs.
    pub(in crate::decide) active_since: Option<Time>,
    /// Rounds used, counting this turn's verdicts.
    pub(in crate::decide) round: u32,
    pub(in crate::decide) reviews: ReviewQueue<'a>,
}

/// The row that applies, with its facts.
struct MatchedRule<'a> {
    rule: Rule,
    facts: Vec<String>,
    effect: RuleEffect<'a>,
}

/// The effect of a row.
enum RuleEffect<'a> {
    Idle,
    Wait(WaitingOn),
    Spawn(WorkerStart),
    Ready,
    Blocked(StopReason<'a>),
}

fn find_first_match<'a>(context: &RuleContext<'a>) -> MatchedRule<'a> {
    match_needs_human(context)
        .or_else(|| blocks::match_changes_requested(context))
        .or_else(|| health::match_conflict(context))
        .or_else(|| health::match_failed_checks(context))
        .or_else(|| missing::match_missing_reviews(context))
        .or_else(|| health::match_pending_checks(context))
        .or_else(|| self_review::match_self_review(context))
        .or_else(|| feedback::match_unanswered_findings(context))
        .or_else(|| feedback::match_unanswered_threads(context))
        .or_else(|| match_draft(context))
        .unwrap_or_else(|| MatchedRule::new(Rule::Ready, RuleEffect::Ready).fact(format!("head {}", context.head())))
}

/// Matches the rows in which referee starts nothing: closed, paused, break-glass.
fn match_suspended<'a>(facts: &'a Facts<'a>) -> Option<MatchedRule<'a>> {
    if facts.snapshot.pull.state != PullState::Open {
        return Some(MatchedRule::new(Rule::Closed, RuleEffect::Idle));
    }
    if let Some(by) = facts.paused_by {
        return Some(MatchedRule::wait(Rule::Paused, WaitingOn::Operator).fact(format!("by {}", by.display_name())));
    }
    let glass = facts.break_glass?;
    let matched = MatchedRule::wait(Rule::BreakGlass, WaitingOn::Operator);
    Some(matched.fact(format!("by {} at {}", glass.by.display_name(), glass.at)).fact(glass.reason.to_owned()))
}

fn match_needs_human<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let mut matched = MatchedRule::new(Rule::NeedsHuman, RuleEffect::Blocked(StopReason::UnsettledFindings));
    // The findings of a role that has not read this change are out of date: rule 5 waits for its review.
    let read = |it: &&RoleJudgement<'_>| !context.reviews.is_unread(it.name());
    for judgement in context.judgements.iter().filter(read) {
        for it in judgement.findings.iter().filter(|it| it.counts) {
            if let Some(why) = it.needs_human_reason {
                matched = matched.fact(format!("{}/{}: {why}", judgement.name(), it.id));
            }
        }
    }
    (!matched.facts.is_empty()).then_some(matched)
}

fn match_draft<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    context.facts.snapshot.pull.draft.then(|| MatchedRule::wait(Rule::Draft, WaitingOn::Author))
}

/// Computes the pull's round: the largest among its roles (LOOP-2) and the other programs (D32).
pub(in crate::decide) fn compute_round(facts: &Facts<'_>, judged: &[RoleJudgement<'_>]) -> u32 {
    let roles = judged.iter().filter(|it| it.role.role.blocks).map(|it| compute_role_round(facts, it));
    roles.chain([facts.program_rounds]).max().unwrap_or(0)
}

/// Counts a role's rounds: those in its Marks, and the one of a fresh report, whose Mark is not
/// written yet.
pub(in crate::decide) fn compute_role_round(facts: &Facts<'_>, judgement: &RoleJudgement<'_>) -> u32 {
    let patch = &facts.snapshot.changes.patch;
    let read = matches!(judgement.report_status, ReportStatus::Complete | ReportStatus::Incomplete { .. });
    let of_head = judgement.role.report.is_some_and(|report| report.head == facts.snapshot.pull.head);
    let here = of_head || judgement.is_current;
    let blocks =
        read && here && !is_report_recorded(facts, judgement) && judgement.own_verdict == Some(Verdict::RequestChanges);
    let new = blocks && !judgement.role.round_patches.contains(&patch);
    judgement.role.rounds_used.saturating_add(u32::from(new))
}

impl<'a> RuleContext<'a> {
    fn head(&self) -> &'a str {
        self.facts.snapshot.pull.head.short()
    }
}

impl<'a> MatchedRule<'a> {
    fn new(rule: Rule, effect: RuleEffect<'a>) -> Self {
        Self { rule, facts: Vec::new(), effect }
    }

    fn wait(rule: Rule, on: WaitingOn) -> Self {
        Self::new(rule, RuleEffect::Wait(on))
    }

    fn fact(mut self, fact: impl Into<String>) -> Self {
        self.facts.push(fact.into());
        self
    }

    fn facts(mut self, facts: impl IntoIterator<Item = String>) -> Self {
        self.facts.extend(facts);
        self
    }
}
