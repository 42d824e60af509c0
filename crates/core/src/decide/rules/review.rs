//! Decides which roles review this head now (LOOP-1, LOOP-5, LOOP-9, LOOP-11, D2, D29). No other code starts a
//! reviewer.
//!
//! For each role that applies, is selected, and whose token this process has, the first matching row:
//!
//! | row | when | the role |
//! |---|---|---|
//! | report present | this turn has a report of the role | no review; at the third failed attempt `review-failed` |
//! | `review-asked` | `--full`, or a command newer than the verdict and the last attempt | due |
//! | `same-head` | a complete verdict for this change | no review, listed as refused |
//! | `review-failed` | three attempts at this change, and no `retry` since the last | no review, listed as refused |
//! | `review-backoff` | less than 5 minutes after the first failed attempt, or 10 after the second, without `retry` | no review yet, listed as refused |
//! | too early | the checks have not passed (`ci_green`), or nobody asked (`request`) | no review yet |
//! | `review-due` | none of these | due |
//! | `review-budget` | it would be due, and the budget is used up | no review, listed as refused |
//!
//! A review request on the forge is not a command.

use super::super::judgement::{ReportStatus, RoleJudgement};
use super::super::publish::is_report_recorded;
use super::super::scope::PlanScope;
use crate::facts::Facts;
use crate::model::{CheckState, RoleName, RunCost, Severity, Span, Time};
use crate::plan::{Brief, Reason, Refusal, Scope, UnreadCause};
use crate::policy::ReviewStart;
use crate::rule::Rule;

/// One run and two retries (LOOP-11).
pub(super) const MAX_ATTEMPTS: u8 = 3;
/// Delay before the second and the third attempt.
const RETRY_BACKOFF: [Span; 2] = [Span::from_minutes(5), Span::from_minutes(10)];

/// The roles of one pull that have to read this head, by their state.
#[derive(Debug, Default)]
pub(in crate::decide) struct ReviewQueue<'a> {
    /// Reviews to run now.
    pub(super) due: Vec<Brief>,
    /// The exhausted budget, if a review would be due without it.
    pub(super) exceeded_budget: Option<&'static str>,
    /// Roles that would be due within the budget.
    over_budget: Vec<&'a RoleName>,
    /// Roles that failed at every attempt.
    pub(super) failed: Vec<&'a RoleName>,
    /// Roles that failed and will be tried again later.
    pub(super) backing_off: Vec<&'a RoleName>,
}

impl<'a> ReviewQueue<'a> {
    pub(super) fn new(facts: &Facts<'_>, judged: &'a [RoleJudgement<'a>], scope: &PlanScope) -> Self {
        let mut queue = Self::default();
        for judgement in judged {
            match decide_review(facts, judgement, scope) {
                ReviewDecision::Start(why) => queue.due.push(build_brief(facts, judgement, why)),
                ReviewDecision::Failed => queue.failed.push(judgement.name()),
                ReviewDecision::BackOff => queue.backing_off.push(judgement.name()),
                ReviewDecision::AlreadyReviewed | ReviewDecision::Nothing => {}
            }
        }
        if !queue.due.is_empty() {
            queue.exceeded_budget = find_exceeded_budget(facts, judged);
        }
        if queue.exceeded_budget.is_some() {
            let costly = |name: &RoleName| judged.iter().any(|it| it.name() == name && !it.role.role.free);
            let is_due = |name: &RoleName| queue.due.iter().any(|brief| brief.role == *name);
            let stopped = judged.iter().map(RoleJudgement::name).filter(|name| is_due(name) && costly(name));
            queue.over_budget = stopped.collect();
            queue.due.retain(|brief| !costly(&brief.role));
        }
        queue
    }

    /// Returns whether the role has yet to read this head, or to read it again.
    pub(super) fn is_unread(&self, role: &RoleName) -> bool {
        let named = |names: &[&RoleName]| names.contains(&role);
        self.due.iter().any(|brief| brief.role == *role)
            || named(&self.over_budget)
            || named(&self.failed)
            || named(&self.backing_off)
    }
}

/// Returns why roles do not read this head now (LOOP-1).
pub(super) fn refuse_reviews(
    facts: &Facts<'_>,
    judged: &[RoleJudgement<'_>],
    scope: &PlanScope,
    queue: &ReviewQueue<'_>,
) -> Vec<Refusal> {
    let read = judged.iter().filter(|it| matches!(decide_review(facts, it, scope), ReviewDecision::AlreadyReviewed));
    let head = facts.snapshot.pull.head.short();
    let mut refused: Vec<Refusal> = read
        .map(|it| {
            // Every quiet turn does this for every role: avoid `format!`.
            let fact = it.own_verdict.map_or_else(|| head.to_owned(), |own| [own.as_str(), " at ", head].concat());
            let what = ["another review by ", it.name().as_str()].concat();
            Refusal { what, why: Reason::new(Rule::SameHead).with_fact(fact) }
        })
        .collect();
    let mut refuse = |roles: &[&RoleName], rule: Rule, fact: String| {
        refused.extend(roles.iter().map(|role| {
            let what = format!("review by {role}");
            Refusal { what, why: Reason::new(rule).with_fact(fact.clone()) }
        }));
    };
    refuse(&queue.over_budget, Rule::ReviewBudget, format!("{} used up", queue.exceeded_budget.unwrap_or_default()));
    refuse(&queue.failed, Rule::ReviewFailed, format!("failed {MAX_ATTEMPTS} times"));
    refuse(&queue.backing_off, Rule::ReviewBackoff, "failed, tried again later".to_owned());
    refused
}

/// Returns the roles of this run that have not read this head completely, each with the reason (D36).
pub(super) fn list_unread(
    facts: &Facts<'_>,
    judged: &[RoleJudgement<'_>],
    scope: &PlanScope,
    queue: &ReviewQueue<'_>,
) -> Vec<(RoleName, UnreadCause)> {
    let selected = judged.iter().filter(|it| it.role.has_token && scope.includes_role(it.name()));
    selected.filter_map(|it| Some((it.name().clone(), find_unread_cause(facts, it, queue)?))).collect()
}

fn find_unread_cause(facts: &Facts<'_>, judgement: &RoleJudgement<'_>, queue: &ReviewQueue<'_>) -> Option<UnreadCause> {
    match judgement.report_status {
        ReportStatus::Failed { .. } => return Some(UnreadCause::Failed),
        ReportStatus::Incomplete { why } => return Some(UnreadCause::Incomplete { missing: why.to_owned() }),
        ReportStatus::Complete => return None,
        ReportStatus::Absent => {}
    }
    let is_among = |names: &[&RoleName]| names.contains(&judgement.name());
    if is_among(&queue.over_budget) {
        let resource = queue.exceeded_budget.unwrap_or_default().to_owned();
        Some(UnreadCause::OverBudget { resource })
    } else if is_among(&queue.failed) {
        Some(UnreadCause::GaveUp { attempts: MAX_ATTEMPTS })
    } else if is_among(&queue.backing_off) {
        Some(UnreadCause::BackingOff)
    } else if queue.due.iter().any(|brief| brief.role == *judgement.name()) {
        Some(UnreadCause::Due)
    } else if judgement.is_current || !judgement.role.applies || judgement.role.role.ad_hoc {
        None
    } else if facts.paused_by.is_some() {
        Some(UnreadCause::Paused)
    } else if facts.break_glass.is_some() {
        Some(UnreadCause::GlassBroken)
    } else {
        match facts.policy.start {
            ReviewStart::CiGreen => Some(UnreadCause::WaitsForChecks),
            ReviewStart::Request => Some(UnreadCause::WaitsForRequest),
            ReviewStart::Push => None,
        }
    }
}

/// Returns whether the command line or a person asks for another review of this head.
pub(super) fn is_review_requested(facts: &Facts<'_>, judgement: &RoleJudgement<'_>) -> bool {
    let answered = judgement.role.standing.and_then(|standing| standing.mark.asked);
    facts.snapshot.evidence.full || answered < facts.review_requested_at()
}

/// Returns whether the checks passed, as far as policy asks for any (D15).
pub(super) fn checks_pass(facts: &Facts<'_>) -> bool {
    match facts.snapshot.checks.combined_state() {
        CheckState::Pass => true,
        CheckState::None => !facts.policy.ci_required,
        CheckState::Fail | CheckState::Pending => false,
    }
}

/// Returns whether this process runs the role's reviewer at all.
fn is_run_here(judgement: &RoleJudgement<'_>, scope: &PlanScope) -> bool {
    let role = judgement.role;
    role.applies && role.has_token && !role.role.ad_hoc && scope.includes_role(judgement.name())
}

enum ReviewDecision {
    Nothing,
    AlreadyReviewed,
    Start(Reason),
    Failed,
    BackOff,
}

fn decide_review(facts: &Facts<'_>, judgement: &RoleJudgement<'_>, scope: &PlanScope) -> ReviewDecision {
    if !is_run_here(judgement, scope) {
        return ReviewDecision::Nothing;
    }
    let attempts = read_attempts(facts, judgement);
    if judgement.role.report.is_some() {
        let failed = matches!(judgement.report_status, ReportStatus::Failed { .. } | ReportStatus::Incomplete { .. });
        // A report submitted twice counts as one attempt.
        let made = attempts.failed_count.saturating_add(u8::from(!is_report_recorded(facts, judgement)));
        return if failed && MAX_ATTEMPTS <= made { ReviewDecision::Failed } else { ReviewDecision::Nothing };
    }
    if is_review_requested(facts, judgement) {
        return ReviewDecision::Start(explain_request(facts));
    }
    if judgement.is_current {
        return ReviewDecision::AlreadyReviewed;
    }
    if !attempts.retry_requested {
        let backoff = usize::from(attempts.failed_count).checked_sub(1).and_then(|failed| RETRY_BACKOFF.get(failed));
        let until = backoff.and_then(|backoff| Some(attempts.last_at?.saturating_add(*backoff)));
        if MAX_ATTEMPTS <= attempts.failed_count {
            return ReviewDecision::Failed;
        }
        if until.is_some_and(|until| facts.snapshot.taken_at < until) {
            return ReviewDecision::BackOff;
        }
    }
    let may_start = match facts.policy.start {
        ReviewStart::Push => true,
        ReviewStart::CiGreen => checks_pass(facts),
        ReviewStart::Request => 0 < attempts.failed_count,
    };
    if !may_start {
        return ReviewDecision::Nothing;
    }
    let head = facts.snapshot.pull.head.short();
    ReviewDecision::Start(Reason::new(Rule::ReviewDue).with_fact(format!("no complete verdict for {head}")))
}

fn explain_request(facts: &Facts<'_>) -> Reason {
    let reason = Reason::new(Rule::ReviewAsked);
    match facts.last_review_command() {
        _ if facts.snapshot.evidence.full => reason.with_fact("`--full`"),
        Some(command) => reason.with_fact(format!("by {} at {}", command.by.display_name(), command.at)),
        None => reason,
    }
}

/// Failed attempts of a role at this change.
struct ReviewAttempts {
    failed_count: u8,
    last_at: Option<Time>,
    /// A person commented `retry`, and no attempt was made since.
    retry_requested: bool,
}

fn read_attempts(facts: &Facts<'_>, judgement: &RoleJudgement<'_>) -> ReviewAttempts {
    let patch = &facts.snapshot.changes.patch;
    let mark = judgement.role.standing.map(|standing| standing.mark).filter(|mark| mark.patch == *patch);
    let answered = mark.and_then(|mark| mark.asked);
    ReviewAttempts {
        failed_count: mark.map_or(0, |mark| mark.attempts),
        last_at: mark.and_then(|mark| mark.tried_at),
        retry_requested: answered < facts.retry_requested_at(),
    }
}

/// Returns the exhausted budget, counted from the roles' Marks and referee's texts (LOOP-9).
fn find_exceeded_budget(facts: &Facts<'_>, judged: &[RoleJudgement<'_>]) -> Option<&'static str> {
    let spent = sum_spending(judged);
    let budget = &facts.policy.budget;
    let used = |spent: u64, limit: u64| 0 < spent && limit <= spent;
    if used(spent.tokens, budget.tokens) {
        return Some("tokens");
    }
    if used(spent.micro_usd, budget.micro_usd) {
        return Some("money");
    }
    if budget.runs <= spent.runs {
        return Some("runs");
    }
    (budget.writes as usize <= count_own_texts(facts)).then_some("writes")
}

/// Sums the cost of the roles that cost something on this pull, from their Marks (LOOP-13).
fn sum_spending(judged: &[RoleJudgement<'_>]) -> RunCost {
    let costly = judged.iter().filter(|it| !it.role.role.free);
    let marks = costly.filter_map(|it| it.role.standing).map(|standing| standing.mark.spent);
    marks.fold(RunCost::default(), RunCost::saturating_add)
}

fn count_own_texts(facts: &Facts<'_>) -> usize {
    let snapshot = facts.snapshot;
    let reviews =
        snapshot.reviews.iter().filter(|it| it.text.trusted_mark().is_some() && facts.is_own_author(&it.author));
    let notes = snapshot.threads.iter().flat_map(|thread| &thread.notes);
    let notes = notes.filter(|it| it.text.trusted_tag().is_some() && facts.is_own_author(&it.author));
    let comments = snapshot.comments.iter().filter(|it| facts.own_topic(it).is_some());
    reviews.count() + notes.count() + comments.count()
}

fn build_brief(facts: &Facts<'_>, judgement: &RoleJudgement<'_>, why: Reason) -> Brief {
    let floor = &facts.policy.floor;
    let used = judgement.role.rounds_used;
    Brief {
        role: judgement.name().clone(),
        head: facts.snapshot.pull.head.clone(),
        scope: choose_scope(facts, judgement),
        round: used.saturating_add(1),
        priors: judgement.findings.iter().filter(|it| !it.state.is_settled()).map(|it| it.id).collect(),
        floor: floor.get(used as usize).or(floor.last()).copied().unwrap_or(Severity::Suggestion),
        why,
    }
}

/// Chooses the whole change, or what changed since the last complete review, whatever its verdict was (LOOP-5, D34).
fn choose_scope(facts: &Facts<'_>, judgement: &RoleJudgement<'_>) -> Scope {
    let reviewed = judgement.role.standing.and_then(|standing| standing.mark.reviewed.as_ref());
    match reviewed {
        Some(head) if !judgement.role.reads_whole(facts) => Scope::Since(head.clone()),
        _ => Scope::Whole,
    }
}
