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

use super::super::judged::{Fresh, Judgement};
use super::super::publish::is_told;
use super::{Case, Ruled, Says};
use crate::model::{CheckState, Figures, Severity, Span, Time};
use crate::plan::{Brief, OnWhom, Reason, Refusal, Scope};
use crate::policy::Start;
use crate::render::Stop;

const RULE: &str = "review";
/// One run and two retries (LOOP-11).
const ATTEMPTS: u8 = 3;
/// How long a failed reviewer rests, after the first and the second attempt.
const REST: [Span; 2] = [Span::minutes(5), Span::minutes(10)];

pub(super) fn review<'a>(case: &Case<'a>) -> Option<Ruled<'a>> {
    let of = |wanted: Wants| case.judged.iter().filter(move |it| wants(case, it) == wanted);
    let mut starts = of(Wants::Start).peekable();
    if starts.peek().is_some() {
        if let Some(over) = over_budget(case) {
            return Some(Ruled::new(RULE, Says::Blocked(Stop::Budget { over })).fact(format!("{over} used up")));
        }
        let briefs: Vec<Brief> = starts.map(|it| brief(case, it)).collect();
        let told: Vec<String> = briefs.iter().map(tell).collect();
        return Some(Ruled::new(RULE, Says::Review(briefs)).facts(told));
    }
    let failed: Vec<_> = of(Wants::Failed).map(Judgement::name).collect();
    if !failed.is_empty() {
        let told: Vec<String> = failed.iter().map(|role| format!("{role} failed {ATTEMPTS} times")).collect();
        return Some(Ruled::new(RULE, Says::Blocked(Stop::Failed { roles: failed })).facts(told));
    }
    let rests: Vec<String> = of(Wants::Rest).map(|it| it.name().to_string()).collect();
    let told = rests.iter().map(|role| format!("{role} failed, tried again later")).collect::<Vec<_>>();
    (!rests.is_empty()).then(|| Ruled::wait(RULE, OnWhom::Reviewer(rests)).facts(told))
}

/// Roles that are not asked again because they have read this change: the reason is shown (LOOP-1).
pub(super) fn guarded(case: &Case<'_>) -> Vec<Refusal> {
    let guarded = case.judged.iter().filter(|it| wants(case, it) == Wants::Guarded);
    guarded
        .map(|it| {
            // Every quiet turn says this of every role.
            let told =
                it.own.map_or_else(|| case.head().to_owned(), |own| [own.as_str(), " at ", case.head()].concat());
            let what = ["another review by ", it.name().as_str()].concat();
            Refusal { what, why: Reason::new("same-head").fact(told) }
        })
        .collect()
}

/// Whether a role is asked for by name, by a person, or by the command line.
pub(super) fn is_asked(case: &Case<'_>, judgement: &Judgement<'_>) -> bool {
    let answered = judgement.role.standing.and_then(|standing| standing.mark.asked);
    case.facts.snapshot.evidence.full || answered < case.facts.asked_review()
}

/// Whether the checks passed, as far as policy asks for any (D15).
pub(super) fn checks_pass(case: &Case<'_>) -> bool {
    match case.facts.snapshot.checks.state() {
        CheckState::Pass => true,
        CheckState::None => !case.facts.policy.ci_required,
        CheckState::Fail | CheckState::Pending => false,
    }
}

/// Whether this process runs the role's reviewer at all.
pub(super) fn is_ours(case: &Case<'_>, judgement: &Judgement<'_>) -> bool {
    let only = &case.facts.snapshot.evidence.only;
    let selected = only.is_empty() || only.contains(judgement.name());
    judgement.role.applies && judgement.role.held && selected && !judgement.role.role.ad_hoc
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    Nothing,
    Guarded,
    Start,
    Failed,
    Rest,
}

fn wants(case: &Case<'_>, judgement: &Judgement<'_>) -> Wants {
    if !is_ours(case, judgement) {
        return Wants::Nothing;
    }
    let attempts = attempts(case, judgement);
    if judgement.role.report.is_some() {
        let failed = matches!(judgement.fresh, Fresh::Failed { .. } | Fresh::Incomplete { .. });
        // An attempt handed in twice is one attempt.
        let made = attempts.made.saturating_add(u8::from(!is_told(case.facts, judgement)));
        return if failed && ATTEMPTS <= made { Wants::Failed } else { Wants::Nothing };
    }
    if is_asked(case, judgement) {
        return Wants::Start;
    }
    if judgement.current {
        return Wants::Guarded;
    }
    if !attempts.retry {
        let rest = usize::from(attempts.made).checked_sub(1).and_then(|failed| REST.get(failed));
        let until = rest.and_then(|rest| Some(attempts.last?.after(*rest)));
        if ATTEMPTS <= attempts.made {
            return Wants::Failed;
        }
        if until.is_some_and(|until| case.facts.snapshot.taken_at < until) {
            return Wants::Rest;
        }
    }
    let may_start = match case.facts.policy.start {
        Start::Push => true,
        Start::CiGreen => checks_pass(case),
        Start::Request => 0 < attempts.made,
    };
    if may_start { Wants::Start } else { Wants::Nothing }
}

/// Failed attempts of a role at this change.
struct Attempts {
    made: u8,
    last: Option<Time>,
    /// A person said `retry`, and no attempt answered it.
    retry: bool,
}

fn attempts(case: &Case<'_>, judgement: &Judgement<'_>) -> Attempts {
    let patch = &case.facts.snapshot.changes.patch;
    let mark = judgement.role.standing.map(|standing| standing.mark).filter(|mark| mark.patch == *patch);
    let answered = mark.and_then(|mark| mark.asked);
    Attempts {
        made: mark.map_or(0, |mark| mark.attempts),
        last: mark.and_then(|mark| mark.tried_at),
        retry: answered < case.facts.asked_retry(),
    }
}

/// What of the budget is used up by the roles' Marks, and by own texts (LOOP-9).
fn over_budget(case: &Case<'_>) -> Option<&'static str> {
    let spent = spent(case);
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
    (budget.writes as usize <= own_texts(case)).then_some("writes")
}

/// What all roles took on this pull, as their Marks remember.
fn spent(case: &Case<'_>) -> Figures {
    let marks = case.judged.iter().filter_map(|it| it.role.standing).map(|standing| standing.mark.spent);
    marks.fold(Figures::default(), Figures::plus)
}

fn own_texts(case: &Case<'_>) -> usize {
    let (facts, snapshot) = (case.facts, case.facts.snapshot);
    let reviews = snapshot.reviews.iter().filter(|it| it.text.mark().is_some() && facts.is_own_author(&it.author));
    let notes = snapshot.threads.iter().flat_map(|thread| &thread.notes);
    let notes = notes.filter(|it| it.text.tag().is_some() && facts.is_own_author(&it.author));
    let comments = snapshot.comments.iter().filter(|it| facts.topic_of(it).is_some());
    reviews.count() + notes.count() + comments.count()
}

fn brief(case: &Case<'_>, judgement: &Judgement<'_>) -> Brief {
    let floor = &case.facts.policy.floor;
    let used = judgement.role.rounds;
    Brief {
        role: judgement.name().clone(),
        head: case.facts.snapshot.pull.head.clone(),
        scope: scope(case, judgement),
        round: used.saturating_add(1),
        priors: judgement.findings.iter().filter(|it| !it.state.settled()).map(|it| it.id).collect(),
        floor: floor.get(used as usize).or(floor.last()).copied().unwrap_or(Severity::Suggestion),
    }
}

/// Everything in the first round, when asked for, and where the head that was last read to its end is gone. Else what
/// changed since that head (LOOP-5).
fn scope(case: &Case<'_>, judgement: &Judgement<'_>) -> Scope {
    let evidence = &case.facts.snapshot.evidence;
    let whole = case.facts.asked_whole();
    let reviewed = judgement.role.standing.and_then(|standing| standing.mark.reviewed.as_ref());
    let begin = reviewed.filter(|head| !case.facts.snapshot.changes.unreachable.contains(head));
    match begin {
        Some(head) if !evidence.full && !whole && 0 < judgement.role.rounds => Scope::Since(head.clone()),
        _ => Scope::Whole,
    }
}

fn tell(brief: &Brief) -> String {
    match &brief.scope {
        Scope::Whole => format!("{} reads everything, round {}", brief.role, brief.round),
        Scope::Since(head) => {
            format!("{} reads what changed since {}, round {}", brief.role, head.short(), brief.round)
        }
    }
}
