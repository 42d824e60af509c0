//! Whether a reviewer runs (LOOP-1, LOOP-5, LOOP-9, LOOP-11, D2). Every path to a reviewer comes through here.
//!
//! For each role that applies, is selected, and whose identity this process holds:
//!
//! | row | when | the role |
//! |---|---|---|
//! | handed in | a report is here: it is decided, whatever it says | no reviewer; failed once too often: has failed |
//! | same head | a complete verdict for this change, and nobody asks again | no reviewer, said in the refusals |
//! | asked | `--full`, or a command newer than the verdict and the last attempt | starts |
//! | failed | three attempts at this change, and no `retry` since the last | has failed |
//! | rests | 5 minutes after the first failed attempt, 10 after the second, unless `retry` | waits |
//! | too early | checks have not passed (`ci_green`), or nobody asked (`request`) | no reviewer yet |
//! | unread | none of these | starts |
//!
//! The forge's own re-request is no ask. Then, for the pull:
//!
//! | roles | next |
//! |---|---|
//! | one starts, and the budget is used up | blocked: budget |
//! | one starts | review |
//! | one has failed | blocked: reviewer failed |
//! | one rests | wait for the reviewer |

use super::super::judgement::{ReportStatus, RoleJudgement};
use super::super::publish::is_report_recorded;
use super::{MatchedRule, RuleContext, RuleEffect};
use crate::model::{CheckState, RunCost, Severity, Span, Time};
use crate::plan::{Brief, Reason, Refusal, Scope, WaitingOn};
use crate::policy::ReviewStart;
use crate::render::StopReason;

const RULE: &str = "review";
/// One run and two retries (LOOP-11).
const MAX_ATTEMPTS: u8 = 3;
/// How long a failed reviewer rests, after the first and the second attempt.
const RETRY_BACKOFF: [Span; 2] = [Span::from_minutes(5), Span::from_minutes(10)];

pub(super) fn match_review<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let of = |wanted: ReviewDecision| case.judgements.iter().filter(move |it| decide_review(case, it) == wanted);
    let mut starts = of(ReviewDecision::Start).peekable();
    if starts.peek().is_some() {
        if let Some(over) = find_exceeded_budget(case) {
            return Some(
                MatchedRule::new(RULE, RuleEffect::Blocked(StopReason::BudgetSpent { resource: over }))
                    .fact(format!("{over} used up")),
            );
        }
        let briefs: Vec<Brief> = starts.map(|it| build_brief(case, it)).collect();
        let told: Vec<String> = briefs.iter().map(describe_brief).collect();
        return Some(MatchedRule::new(RULE, RuleEffect::Review(briefs)).facts(told));
    }
    let failed: Vec<_> = of(ReviewDecision::Failed).map(RoleJudgement::name).collect();
    if !failed.is_empty() {
        let told: Vec<String> = failed.iter().map(|role| format!("{role} failed {MAX_ATTEMPTS} times")).collect();
        return Some(
            MatchedRule::new(RULE, RuleEffect::Blocked(StopReason::ReviewersFailed { roles: failed })).facts(told),
        );
    }
    let rests: Vec<String> = of(ReviewDecision::BackOff).map(|it| it.name().to_string()).collect();
    let told = rests.iter().map(|role| format!("{role} failed, tried again later")).collect::<Vec<_>>();
    (!rests.is_empty()).then(|| MatchedRule::wait(RULE, WaitingOn::Reviewer(rests)).facts(told))
}

/// Roles that are not asked again because they have read this change: the reason is shown (LOOP-1).
pub(super) fn refuse_repeat_reviews(case: &RuleContext<'_>) -> Vec<Refusal> {
    let guarded = case.judgements.iter().filter(|it| decide_review(case, it) == ReviewDecision::AlreadyReviewed);
    guarded
        .map(|it| {
            // Every quiet turn says this of every role.
            let told = it
                .own_verdict
                .map_or_else(|| case.head().to_owned(), |own| [own.as_str(), " at ", case.head()].concat());
            let what = ["another review by ", it.name().as_str()].concat();
            Refusal { what, why: Reason::new("same-head").with_fact(told) }
        })
        .collect()
}

/// Whether a role is asked for by name, by a person, or by the command line.
pub(super) fn is_review_requested(case: &RuleContext<'_>, judgement: &RoleJudgement<'_>) -> bool {
    let answered = judgement.role.standing.and_then(|standing| standing.mark.asked);
    case.facts.snapshot.evidence.full || answered < case.facts.review_requested_at()
}

/// Whether the checks passed, as far as policy asks for any (D15).
pub(super) fn checks_pass(case: &RuleContext<'_>) -> bool {
    match case.facts.snapshot.checks.combined_state() {
        CheckState::Pass => true,
        CheckState::None => !case.facts.policy.ci_required,
        CheckState::Fail | CheckState::Pending => false,
    }
}

/// Whether this process runs the role's reviewer at all.
pub(super) fn is_run_here(case: &RuleContext<'_>, judgement: &RoleJudgement<'_>) -> bool {
    let only = &case.facts.snapshot.evidence.only;
    let selected = only.is_empty() || only.contains(judgement.name());
    judgement.role.applies && judgement.role.has_token && selected && !judgement.role.role.ad_hoc
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReviewDecision {
    Nothing,
    AlreadyReviewed,
    Start,
    Failed,
    BackOff,
}

fn decide_review(case: &RuleContext<'_>, judgement: &RoleJudgement<'_>) -> ReviewDecision {
    if !is_run_here(case, judgement) {
        return ReviewDecision::Nothing;
    }
    let attempts = read_attempts(case, judgement);
    if judgement.role.report.is_some() {
        let failed = matches!(judgement.report_status, ReportStatus::Failed { .. } | ReportStatus::Incomplete { .. });
        // An attempt handed in twice is one attempt.
        let made = attempts.failed_count.saturating_add(u8::from(!is_report_recorded(case.facts, judgement)));
        return if failed && MAX_ATTEMPTS <= made { ReviewDecision::Failed } else { ReviewDecision::Nothing };
    }
    if is_review_requested(case, judgement) {
        return ReviewDecision::Start;
    }
    if judgement.is_current {
        return ReviewDecision::AlreadyReviewed;
    }
    if !attempts.retry_requested {
        let rest = usize::from(attempts.failed_count).checked_sub(1).and_then(|failed| RETRY_BACKOFF.get(failed));
        let until = rest.and_then(|rest| Some(attempts.last_at?.saturating_add(*rest)));
        if MAX_ATTEMPTS <= attempts.failed_count {
            return ReviewDecision::Failed;
        }
        if until.is_some_and(|until| case.facts.snapshot.taken_at < until) {
            return ReviewDecision::BackOff;
        }
    }
    let may_start = match case.facts.policy.start {
        ReviewStart::Push => true,
        ReviewStart::CiGreen => checks_pass(case),
        ReviewStart::Request => 0 < attempts.failed_count,
    };
    if may_start { ReviewDecision::Start } else { ReviewDecision::Nothing }
}

/// Failed attempts of a role at this change.
struct ReviewAttempts {
    failed_count: u8,
    last_at: Option<Time>,
    /// A person said `retry`, and no attempt answered it.
    retry_requested: bool,
}

fn read_attempts(case: &RuleContext<'_>, judgement: &RoleJudgement<'_>) -> ReviewAttempts {
    let patch = &case.facts.snapshot.changes.patch;
    let mark = judgement.role.standing.map(|standing| standing.mark).filter(|mark| mark.patch == *patch);
    let answered = mark.and_then(|mark| mark.asked);
    ReviewAttempts {
        failed_count: mark.map_or(0, |mark| mark.attempts),
        last_at: mark.and_then(|mark| mark.tried_at),
        retry_requested: answered < case.facts.retry_requested_at(),
    }
}

/// What of the budget is used up by the roles' Marks, and by own texts (LOOP-9).
fn find_exceeded_budget(case: &RuleContext<'_>) -> Option<&'static str> {
    let spent = sum_spending(case);
    let budget = &case.facts.policy.budget;
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
    (budget.writes as usize <= count_own_texts(case)).then_some("writes")
}

/// What all roles took on this pull, as their Marks remember.
fn sum_spending(case: &RuleContext<'_>) -> RunCost {
    let marks = case.judgements.iter().filter_map(|it| it.role.standing).map(|standing| standing.mark.spent);
    marks.fold(RunCost::default(), RunCost::saturating_add)
}

fn count_own_texts(case: &RuleContext<'_>) -> usize {
    let (facts, snapshot) = (case.facts, case.facts.snapshot);
    let reviews =
        snapshot.reviews.iter().filter(|it| it.text.trusted_mark().is_some() && facts.is_own_author(&it.author));
    let notes = snapshot.threads.iter().flat_map(|thread| &thread.notes);
    let notes = notes.filter(|it| it.text.trusted_tag().is_some() && facts.is_own_author(&it.author));
    let comments = snapshot.comments.iter().filter(|it| facts.own_topic(it).is_some());
    reviews.count() + notes.count() + comments.count()
}

fn build_brief(case: &RuleContext<'_>, judgement: &RoleJudgement<'_>) -> Brief {
    let floor = &case.facts.policy.floor;
    let used = judgement.role.rounds_used;
    Brief {
        role: judgement.name().clone(),
        head: case.facts.snapshot.pull.head.clone(),
        scope: choose_scope(case, judgement),
        round: used.saturating_add(1),
        priors: judgement.findings.iter().filter(|it| !it.state.is_settled()).map(|it| it.id).collect(),
        floor: floor.get(used as usize).or(floor.last()).copied().unwrap_or(Severity::Suggestion),
    }
}

/// Everything in the first round, when asked for, and where the head that was last read to its end is gone. Else what
/// changed since that head (LOOP-5).
fn choose_scope(case: &RuleContext<'_>, judgement: &RoleJudgement<'_>) -> Scope {
    let evidence = &case.facts.snapshot.evidence;
    let whole = case.facts.is_full_review_requested();
    let reviewed = judgement.role.standing.and_then(|standing| standing.mark.reviewed.as_ref());
    let begin = reviewed.filter(|head| !case.facts.snapshot.changes.unreachable.contains(head));
    match begin {
        Some(head) if !evidence.full && !whole && 0 < judgement.role.rounds_used => Scope::Since(head.clone()),
        _ => Scope::Whole,
    }
}

fn describe_brief(brief: &Brief) -> String {
    match &brief.scope {
        Scope::Whole => format!("{} reads everything, round {}", brief.role, brief.round),
        Scope::Since(head) => {
            format!("{} reads what changed since {}, round {}", brief.role, head.short(), brief.round)
        }
    }
}
