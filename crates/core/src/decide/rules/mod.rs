//! What happens next: the first row that applies; the dispatch source's numbers in brackets.
//!
//! | row | when | next | told in |
//! |---|---|---|---|
//! | `closed` | the pull is not open | idle | here |
//! | `paused` | a person said `pause` | wait for the operator | here |
//! | `break-glass` | the glass is broken at this change (D25) | wait for the operator | here |
//! | `review` | a role of this process has not read this change, or is asked again | review, wait, blocked | `review` |
//! | `needs-human` | a finding that counts can only be settled by a person | blocked | here |
//! | `changes-requested` (2) | a role, a person or another bot asks for changes | spawn `findings`, wait, blocked | `blocks` |
//! | `conflict` (3) | it does not merge, and is no draft | spawn `rebase` | `health` |
//! | `checks-failed` (4) | a check failed | spawn `ci-fix` | `health` |
//! | `reviews-missing` (5) | a role or another bot has not read this change | wait | `missing` |
//! | `checks-pending` (6) | a check is not done, or there is none and one is required | wait for the checks | `health` |
//! | `self-review` (7) | the fixing side has not read its own change, or found something | spawn `self-review`, `sr-fix` | `self_review` |
//! | `findings-unanswered` (8) | findings that do not block are unanswered | spawn `address-feedback` | `feedback` |
//! | `threads-unanswered` (9) | threads are unresolved and unanswered | spawn `address-feedback` | `feedback` |
//! | `draft` | it is a draft | wait for the author | here |
//! | `ready` (10) | nothing of the above | ready | `ready` |
//!
//! Whatever row applies: a worker under way (0) turns a spawn and a ready into waiting for it (`lease`), and every
//! blocked row writes the operator comment (`operator`).

mod blocks;
mod feedback;
mod health;
mod missing;
mod ready;
mod review;
mod self_review;
mod worker;

use super::judged::{Fresh, Judgement};
use super::lease::lease;
use super::operator;
use super::publish::is_told;
use crate::facts::Facts;
use crate::model::{PullState, Time, Verdict};
use crate::plan::{Brief, Next, OnWhom, Reason, Refusal, Step};
use crate::render::Stop;
use worker::Start;

/// What the rules say of one pull.
#[derive(Debug)]
pub struct Outcome {
    /// What happens next.
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
pub fn rules<'a>(facts: &'a Facts<'a>, judged: &'a [Judgement<'a>]) -> Outcome {
    let held = lease(facts);
    let case = Case { facts, judged, active: held.active, round: round(facts, judged) };
    let ruled = first_row(&case);
    let (mut steps, mut refused) = (Vec::new(), Vec::new());
    if !matches!(ruled.says, Says::Idle) {
        steps = held.steps;
        refused = held.refused;
        refused.extend(review::guarded(&case));
        steps.extend(ready::labels(&case, &ruled));
    }
    let why = Reason { rule: ruled.rule.to_owned(), facts: ruled.facts };
    let mut outcome = Outcome { next: Next::Idle, why, steps, refused, round: case.round };
    outcome.next = match ruled.says {
        Says::Idle => Next::Idle,
        Says::Wait(on) => Next::Wait(on),
        Says::Review(briefs) => Next::Review(briefs),
        Says::Spawn(_) | Says::Ready if case.active.is_some() => {
            let since = case.active.unwrap_or_default();
            outcome.why = Reason::new("lease").fact(format!("work since {since}")).fact(outcome.why.rule);
            Next::Wait(OnWhom::Worker)
        }
        Says::Spawn(start) => Next::Spawn(Box::new(start.job(&case, &outcome.why))),
        Says::Ready => {
            outcome.steps.extend(ready::handoff(&case, &outcome.why));
            Next::Ready
        }
        Says::Blocked(stop) => {
            let cause = stop.cause();
            outcome.steps.extend(operator::operator(&case, stop, &outcome.why));
            Next::Blocked(cause)
        }
    };
    outcome
}

/// One pull as the rules see it.
#[derive(Debug)]
pub(in crate::decide) struct Case<'a> {
    pub(in crate::decide) facts: &'a Facts<'a>,
    pub(in crate::decide) judged: &'a [Judgement<'a>],
    /// Since when a worker is under way.
    pub(in crate::decide) active: Option<Time>,
    /// Rounds used, this turn's verdicts included.
    pub(in crate::decide) round: u32,
}

/// The row that applies.
struct Ruled<'a> {
    rule: &'static str,
    facts: Vec<String>,
    says: Says<'a>,
}

/// What a row says.
enum Says<'a> {
    Idle,
    Wait(OnWhom),
    Review(Vec<Brief>),
    Spawn(Start),
    Ready,
    Blocked(Stop<'a>),
}

fn first_row<'a>(case: &Case<'a>) -> Ruled<'a> {
    taken_over(case)
        .or_else(|| review::review(case))
        .or_else(|| needs_human(case))
        .or_else(|| blocks::blocks(case))
        .or_else(|| health::conflict(case))
        .or_else(|| health::failed(case))
        .or_else(|| missing::missing(case))
        .or_else(|| health::pending(case))
        .or_else(|| self_review::self_review(case))
        .or_else(|| feedback::findings(case))
        .or_else(|| feedback::threads(case))
        .or_else(|| draft(case))
        .unwrap_or_else(|| Ruled::new("ready", Says::Ready).fact(format!("head {}", case.head())))
}

/// Rows in which referee starts nothing: closed, paused, broken glass.
fn taken_over<'a>(case: &Case<'a>) -> Option<Ruled<'a>> {
    let facts = case.facts;
    if facts.snapshot.pull.state != PullState::Open {
        return Some(Ruled::new("closed", Says::Idle));
    }
    if let Some(by) = facts.paused {
        return Some(Ruled::wait("paused", OnWhom::Operator).fact(format!("by {}", by.name())));
    }
    let glass = facts.glass?;
    let ruled = Ruled::wait("break-glass", OnWhom::Operator);
    Some(ruled.fact(format!("by {} at {}", glass.by.name(), glass.at)).fact(glass.reason.to_owned()))
}

fn needs_human<'a>(case: &Case<'a>) -> Option<Ruled<'a>> {
    let mut ruled = Ruled::new("needs-human", Says::Blocked(Stop::Findings));
    for judgement in case.judged {
        for it in judgement.findings.iter().filter(|it| it.counts) {
            if let Some(why) = it.needs_human {
                ruled = ruled.fact(format!("{}/{}: {why}", judgement.name(), it.id));
            }
        }
    }
    (!ruled.facts.is_empty()).then_some(ruled)
}

fn draft<'a>(case: &Case<'a>) -> Option<Ruled<'a>> {
    case.facts.snapshot.pull.draft.then(|| Ruled::wait("draft", OnWhom::Author))
}

/// The pull's round: the largest of its roles' (LOOP-2).
pub(in crate::decide) fn round(facts: &Facts<'_>, judged: &[Judgement<'_>]) -> u32 {
    judged.iter().filter(|it| it.role.role.blocks).map(|it| round_of(facts, it)).max().unwrap_or(0)
}

/// A role's rounds: those that its Marks tell, and the one that a fresh report makes now, since its Mark is not
/// written yet.
pub(in crate::decide) fn round_of(facts: &Facts<'_>, judgement: &Judgement<'_>) -> u32 {
    let patch = &facts.snapshot.changes.patch;
    let read = matches!(judgement.fresh, Fresh::Complete | Fresh::Incomplete { .. });
    let of_head = judgement.role.report.is_some_and(|report| report.head == facts.snapshot.pull.head);
    let here = of_head || judgement.current;
    let blocks = read && here && !is_told(facts, judgement) && judgement.own == Some(Verdict::RequestChanges);
    let new = blocks && !judgement.role.round_patches.contains(&patch);
    judgement.role.rounds.saturating_add(u32::from(new))
}

impl<'a> Case<'a> {
    fn head(&self) -> &'a str {
        self.facts.snapshot.pull.head.short()
    }
}

impl<'a> Ruled<'a> {
    fn new(rule: &'static str, says: Says<'a>) -> Self {
        Self { rule, facts: Vec::new(), says }
    }

    fn wait(rule: &'static str, on: OnWhom) -> Self {
        Self::new(rule, Says::Wait(on))
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
