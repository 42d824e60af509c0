//! The comment that asks a person to decide (LOOP-4, LOOP-11, DSP-16, D13). There is one per epoch; it is edited in
//! place, and only if its text would change.
//!
//! | option | offered when |
//! |---|---|
//! | merge | nobody else blocks, and either the forge counts no block of referee or the operator may dismiss it |
//! | approve | nobody blocks, the forge has approvals, and the operator is not the author of the pull |
//! | `rounds +1` | an operator is configured, and the rounds or one job type's changes are used up |
//! | close and reopen | rounds, changes or jobs are used up |
//! | push by hand | the budget allows a review of the push |
//! | `retry` | a reviewer failed |
//! | `break-glass` | the forge counts a block of referee, and somebody may break the glass |
//! | raise the budget | the budget is used up |
//! | `pause` | always |

use super::judgement::{JudgedFinding, RoleJudgement};
use super::publish::{self, is_report_recorded};
use super::rules::{compute_role_round, compute_round};
use super::topic_comment;
use crate::facts::people::is_validly_dismissed;
use crate::facts::{ExternalBlock, Facts};
use crate::mark::Topic;
use crate::model::{FindingId, FindingState, Review, ReviewWeight, RunCost, Support, Verdict};
use crate::plan::{Reason, Step};
use crate::policy::ApprovalMode;
use crate::render::{self, OpenFinding, OperatorNote, OperatorOption, StopReason};

/// A new finding at most this many lines from a fixed one is shown as an attack on the fix.
const MAX_FIX_DISTANCE_LINES: u32 = 10;

/// Plans the operator comment; `None` if the existing one already says the same.
pub(super) fn plan_operator_comment<'a>(
    facts: &'a Facts<'a>,
    judged: &'a [RoleJudgement<'a>],
    stop: StopReason<'a>,
    why: &Reason,
) -> Option<Step> {
    let text = render::render_operator_note(&build_operator_note(facts, judged, stop));
    let topic = Topic::Operator { epoch: facts.operator_epoch() };
    topic_comment::ensure(facts, &facts.snapshot.viewer.login, topic, text, why.clone())
}

/// Collects the content of the operator comment.
pub fn build_operator_note<'a>(
    facts: &'a Facts<'a>,
    judged: &'a [RoleJudgement<'a>],
    stop: StopReason<'a>,
) -> OperatorNote<'a> {
    let listed = select_findings(facts, judged, &stop);
    OperatorNote {
        operator: facts.policy.operator.as_ref(),
        bot: &facts.snapshot.viewer.login,
        round: compute_round(facts, judged),
        max_rounds: facts.rounds_allowed(),
        head: &facts.snapshot.pull.head,
        reviewers: collect_reviewers(facts, judged, &stop, &listed),
        findings: listed.iter().map(|(judgement, it)| build_open_finding(facts, judged, judgement, it)).collect(),
        options: list_options(facts, judged, &stop),
        spent: sum_spending(facts, judged),
        budget_micro_usd: facts.policy.budget.micro_usd,
        stop_reason: stop,
    }
}

/// Selects the findings a person must decide: those that need a human or cause a block, otherwise all that count.
fn select_findings<'a>(
    facts: &Facts<'_>,
    judged: &'a [RoleJudgement<'a>],
    stop: &StopReason<'_>,
) -> Vec<(&'a RoleJudgement<'a>, &'a JudgedFinding<'a>)> {
    let all = || judged.iter().flat_map(|it| it.findings.iter().map(move |finding| (it, finding)));
    let counting = || all().filter(|(_, it)| it.counts);
    let mut listed: Vec<_> = match stop {
        StopReason::UnsettledFindings => counting().filter(|(_, it)| it.needs_human_reason.is_some()).collect(),
        _ => counting().filter(|(judgement, it)| collect_blocking_ids(facts, judgement).contains(&it.id)).collect(),
    };
    if listed.is_empty() {
        listed = counting().collect();
    }
    listed.sort_by_key(|(_, it)| (std::cmp::Reverse(it.severity), it.id));
    listed
}

fn collect_reviewers<'a>(
    facts: &'a Facts<'a>,
    judged: &'a [RoleJudgement<'a>],
    stop: &StopReason<'a>,
    listed: &[(&'a RoleJudgement<'a>, &'a JudgedFinding<'a>)],
) -> Vec<&'a str> {
    if let StopReason::ReviewersFailed { roles } = stop {
        return roles.iter().map(|role| role.as_str()).collect();
    }
    let is_listed =
        |it: &&RoleJudgement<'a>| it.is_blocking() || listed.iter().any(|(judgement, _)| judgement.name() == it.name());
    let roles = judged.iter().filter(is_listed).map(|it| it.name().as_str());
    let programs = facts.external_blocks.iter().filter(|block| block.is_bot()).map(ExternalBlock::name);
    roles.chain(programs).collect()
}

fn build_open_finding<'a>(
    facts: &Facts<'a>,
    judged: &[RoleJudgement<'a>],
    judgement: &'a RoleJudgement<'a>,
    it: &'a JudgedFinding<'a>,
) -> OpenFinding<'a> {
    let mut rounds = it.known.map_or_else(Vec::new, |known| known.rounds.to_vec());
    let round = compute_role_round(facts, judgement);
    if 0 < round && !rounds.contains(&round) && collect_blocking_ids(facts, judgement).contains(&it.id) {
        rounds.push(round);
    }
    OpenFinding {
        role: judgement.name(),
        id: it.id,
        severity: it.severity,
        title: it.title,
        path: it.path,
        line: it.line,
        rounds,
        attacks_fix: attacks_fix(judged, it),
        needs_human: it.needs_human_reason,
    }
}

/// Returns whether the finding was raised near the code of an earlier fix.
fn attacks_fix(judged: &[RoleJudgement<'_>], it: &JudgedFinding<'_>) -> bool {
    let fixed = judged.iter().flat_map(|it| &it.findings).filter(|it| it.state == FindingState::Fixed);
    let near = |a: Option<u32>, b: Option<u32>| matches!((a, b), (Some(a), Some(b)) if a.abs_diff(b) <= MAX_FIX_DISTANCE_LINES);
    { fixed }.any(|fixed| fixed.id < it.id && fixed.path == it.path && near(fixed.line, it.line))
}

/// Returns the findings that cause a role's block (INC-12).
fn collect_blocking_ids(facts: &Facts<'_>, judgement: &RoleJudgement<'_>) -> Vec<FindingId> {
    if judgement.is_blocking() { publish::blocking_finding_ids(facts, judgement).collect() } else { Vec::new() }
}

/// Sums the cost of all roles, including this turn's reports, which are not in a Mark yet.
fn sum_spending(facts: &Facts<'_>, judged: &[RoleJudgement<'_>]) -> RunCost {
    let cost = |it: &RoleJudgement<'_>| {
        let mark = it.role.standing.map(|standing| standing.mark);
        let fresh = it.role.report.filter(|_| !is_report_recorded(facts, it)).map(|report| report.figures);
        mark.map(|mark| mark.spent).unwrap_or_default().saturating_add(fresh.unwrap_or_default())
    };
    judged.iter().map(cost).fold(RunCost::default(), RunCost::saturating_add)
}

/// Returns whether the forge counts a block of this identity after the plan is applied: it counts one now, or the plan
///  posts one (PUB-21).
fn blocks_merge(facts: &Facts<'_>, judged: &[RoleJudgement<'_>], it: &RoleJudgement<'_>) -> bool {
    let snapshot = facts.snapshot;
    let counted = facts.newest_counted_verdict(it.role.identity) == Some(Verdict::RequestChanges);
    let posts = !snapshot.pull.author.has_login(it.role.identity)
        && snapshot.capabilities.verdicts != Support::Unsupported
        && facts.policy.approve != ApprovalMode::Off;
    // A block that the forge never counts, or that an authorised person dismissed, is not posted again.
    let is_final = |review: &Review| review.counts == ReviewWeight::No || is_validly_dismissed(snapshot, review);
    let stays = it.role.standing.is_some_and(|it| it.posted_as == Verdict::RequestChanges && is_final(it.review));
    let sibling_blocks = judged.iter().any(|other| other.is_blocking() && other.role.identity == it.role.identity);
    let enforced = it.role.role.blocks && it.own_verdict.is_some() && it.role.has_token && sibling_blocks;
    counted || (enforced && posts && !stays)
}

fn list_options<'a>(facts: &Facts<'a>, judged: &'a [RoleJudgement<'a>], stop: &StopReason<'_>) -> Vec<OperatorOption> {
    let policy = facts.policy;
    let operator = policy.operator.as_ref();
    let is_author = operator.is_some() && operator == facts.snapshot.pull.author.login.as_ref();
    let own_block = judged.iter().any(|it| blocks_merge(facts, judged, it));
    let others = !facts.external_blocks.is_empty();
    let may_dismiss = !is_author || policy.author_may_accept;
    let mut options = Vec::new();
    if !others && (!own_block || may_dismiss) {
        let blocking: Vec<FindingId> = judged.iter().flat_map(|it| collect_blocking_ids(facts, it)).collect();
        options.push(OperatorOption::Merge { dismiss: if own_block { blocking } else { Vec::new() } });
    }
    let approvals = facts.snapshot.capabilities.verdicts != Support::Unsupported;
    if !others && !own_block && approvals && !is_author {
        options.push(OperatorOption::Approve);
    }
    if operator.is_some() && matches!(stop, StopReason::RoundLimit | StopReason::HeadLimit { .. }) {
        options.push(OperatorOption::AddRound);
    }
    if matches!(stop, StopReason::RoundLimit | StopReason::HeadLimit { .. } | StopReason::JobLimit { .. }) {
        options.push(OperatorOption::Reopen);
    }
    if !matches!(stop, StopReason::BudgetSpent { .. }) {
        options.push(OperatorOption::PushFix);
    }
    if matches!(stop, StopReason::ReviewersFailed { .. }) {
        options.push(OperatorOption::Retry);
    }
    if own_block && (operator.is_some() || !policy.break_glass.is_empty()) {
        options.push(OperatorOption::BreakGlass);
    }
    if matches!(stop, StopReason::BudgetSpent { .. }) {
        options.push(OperatorOption::RaiseBudget);
    }
    options.push(OperatorOption::Pause);
    options
}
