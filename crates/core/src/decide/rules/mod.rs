//! Who reads this head now (`review`), and whose turn it is on the author's side: the first row that applies. The two
//! answers are independent (D29). The dispatch source's numbers are in brackets.
//!
//! | row | when | next | module |
//! |---|---|---|---|
//! | `lease` (0) | a worker holds the lease, or a `wip` label is fresh | whatever row applies: no spawn and no handoff | `lease` |
//! | `closed` | the pull is not open | idle | here |
//! | `paused` | a person said `pause` | wait for the operator | here |
//! | `break-glass` | break-glass holds at this change (D25) | wait for the operator | here |
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
//! Every blocked row writes the operator comment (`operator`).

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
use crate::model::{PullState, Time, Verdict};
use crate::plan::{Brief, Next, Reason, Refusal, Step, WaitingOn};
use crate::render::StopReason;
use crate::rule::Rule;
use review::ReviewQueue;
use worker::WorkerStart;

/// What the rules say of one pull.
#[derive(Debug)]
pub struct RulesOutcome {
    /// Roles that should read this head now.
    pub reviews: Vec<Brief>,
    /// Whose turn it is.
    pub next: Next,
    /// By which row, and which facts.
    pub why: Reason,
    /// Labels, the handoff, the operator comment.
    pub steps: Vec<Step>,
    /// What was considered and not done.
    pub refused: Vec<Refusal>,
    /// Rounds used, this turn's verdicts included (LOOP-2).
    pub round: u32,
}

/// What happens next.
pub fn apply_rules<'a>(facts: &'a Facts<'a>, judged: &'a [RoleJudgement<'a>], scope: &PlanScope) -> RulesOutcome {
    let held = check_lease(facts);
    let suspended = match_suspended(facts);
    let case = RuleContext {
        facts,
        judgements: judged,
        active_since: held.active_since,
        round: compute_round(facts, judged),
        reviews: if suspended.is_some() { ReviewQueue::default() } else { ReviewQueue::new(facts, judged, scope) },
    };
    let ruled = suspended.unwrap_or_else(|| find_first_match(&case));
    let (mut steps, mut refused) = (Vec::new(), Vec::new());
    if !matches!(ruled.effect, RuleEffect::Idle) {
        steps = held.steps;
        refused = held.refused;
        refused.extend(review::refuse_reviews(facts, judged, scope, &case.reviews));
        steps.extend(ready::plan_ready_label_removal(&case, &ruled));
    }
    let why = Reason { rule: ruled.rule, facts: ruled.facts };
    let (reviews, round) = (case.reviews.due.clone(), case.round);
    let mut outcome = RulesOutcome { reviews, next: Next::Idle, why, steps, refused, round };
    outcome.next = match ruled.effect {
        RuleEffect::Idle => Next::Idle,
        RuleEffect::Wait(on) => Next::Wait(on),
        RuleEffect::Spawn(_) | RuleEffect::Ready if case.active_since.is_some() => {
            let since = case.active_since.unwrap_or_default();
            outcome.why =
                Reason::new(Rule::Lease).with_fact(format!("work since {since}")).with_fact(outcome.why.rule.name());
            Next::Wait(WaitingOn::Worker)
        }
        RuleEffect::Spawn(start) => Next::Spawn(Box::new(start.into_job(&case, &outcome.why))),
        RuleEffect::Ready => {
            outcome.steps.extend(ready::plan_handoff(&case, &outcome.why));
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

/// One pull as the rules see it.
#[derive(Debug)]
pub(in crate::decide) struct RuleContext<'a> {
    pub(in crate::decide) facts: &'a Facts<'a>,
    pub(in crate::decide) judgements: &'a [RoleJudgement<'a>],
    /// Since when a worker is under way.
    pub(in crate::decide) active_since: Option<Time>,
    /// Rounds used, this turn's verdicts included.
    pub(in crate::decide) round: u32,
    pub(in crate::decide) reviews: ReviewQueue<'a>,
}

/// The row that applies.
struct MatchedRule<'a> {
    rule: Rule,
    facts: Vec<String>,
    effect: RuleEffect<'a>,
}

/// What a row says.
enum RuleEffect<'a> {
    Idle,
    Wait(WaitingOn),
    Spawn(WorkerStart),
    Ready,
    Blocked(StopReason<'a>),
}

fn find_first_match<'a>(case: &RuleContext<'a>) -> MatchedRule<'a> {
    match_needs_human(case)
        .or_else(|| blocks::match_changes_requested(case))
        .or_else(|| health::match_conflict(case))
        .or_else(|| health::match_failed_checks(case))
        .or_else(|| missing::match_missing_reviews(case))
        .or_else(|| health::match_pending_checks(case))
        .or_else(|| self_review::match_self_review(case))
        .or_else(|| feedback::match_unanswered_findings(case))
        .or_else(|| feedback::match_unanswered_threads(case))
        .or_else(|| match_draft(case))
        .unwrap_or_else(|| MatchedRule::new(Rule::Ready, RuleEffect::Ready).fact(format!("head {}", case.head())))
}

/// Rows in which referee starts nothing: closed, paused, broken glass.
fn match_suspended<'a>(facts: &'a Facts<'a>) -> Option<MatchedRule<'a>> {
    if facts.snapshot.pull.state != PullState::Open {
        return Some(MatchedRule::new(Rule::Closed, RuleEffect::Idle));
    }
    if let Some(by) = facts.paused_by {
        return Some(MatchedRule::wait(Rule::Paused, WaitingOn::Operator).fact(format!("by {}", by.display_name())));
    }
    let glass = facts.break_glass?;
    let ruled = MatchedRule::wait(Rule::BreakGlass, WaitingOn::Operator);
    Some(ruled.fact(format!("by {} at {}", glass.by.display_name(), glass.at)).fact(glass.reason.to_owned()))
}

fn match_needs_human<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let mut ruled = MatchedRule::new(Rule::NeedsHuman, RuleEffect::Blocked(StopReason::UnsettledFindings));
    // What an unread role says of its findings is from before this change: rule 5 waits for it.
    let read = |it: &&RoleJudgement<'_>| !case.reviews.is_unread(it.name());
    for judgement in case.judgements.iter().filter(read) {
        for it in judgement.findings.iter().filter(|it| it.counts) {
            if let Some(why) = it.needs_human_reason {
                ruled = ruled.fact(format!("{}/{}: {why}", judgement.name(), it.id));
            }
        }
    }
    (!ruled.facts.is_empty()).then_some(ruled)
}

fn match_draft<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    case.facts.snapshot.pull.draft.then(|| MatchedRule::wait(Rule::Draft, WaitingOn::Author))
}

/// The pull's round: the largest of its roles' (LOOP-2).
pub(in crate::decide) fn compute_round(facts: &Facts<'_>, judged: &[RoleJudgement<'_>]) -> u32 {
    judged.iter().filter(|it| it.role.role.blocks).map(|it| compute_role_round(facts, it)).max().unwrap_or(0)
}

/// A role's rounds: those that its Marks tell, and the one that a fresh report makes now, since its Mark is not
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
    fn new(rule: Rule, says: RuleEffect<'a>) -> Self {
        Self { rule, facts: Vec::new(), effect: says }
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
