//! Rule 2, before every rule about work: somebody asks for changes (DSP-5, D4, D20, LOOP-2). The block itself is
//! never bypassed; the question is only whose turn it is.
//!
//! | who blocks | it is | cause, and when a worker may answer it |
//! |---|---|---|
//! | a role, by its own verdict for this change, or one that no longer applies | a cause | `role:<name>`, once per change |
//! | a role, by a verdict for another change | stale | its review is waited for |
//! | a person | a cause | `person:<name>@<review>`, once, whatever the head; any push after that answers it |
//! | another bot, at this head | a cause | `bot:<name>@<review>`, once per change |
//! | another bot, at another head | stale | its review is waited for |
//!
//! | row | next |
//! |---|---|
//! | only stale blocks | wait for the reviewer |
//! | a person approved this very head (D20) | wait for the operator |
//! | a role blocks, and the rounds are used up | blocked: round cap |
//! | no workers here, or the head cannot be pushed to | wait for the author; for a person who has not looked again |
//! | a worker of one of the causes is under way | wait for the worker |
//! | a worker of one of the causes could not do it | blocked: needs human |
//! | a cause was not answered yet | spawn `findings` (a second time after a crash); at the cap blocked |
//! | stale blocks too | wait for the reviewer |
//! | people only, all answered | wait for the first of them; the operator, if that user is gone |

use super::worker::{self, Go, Past};
use super::{Case, Ruled, Says};
use crate::facts::PersonBlock;
use crate::model::Login;
use crate::model::snapshot::WorkOutcome;
use crate::plan::{JobKind, OnWhom};
use crate::policy::Work;
use crate::render::Stop;

const RULE: &str = "changes-requested";

pub(super) fn blocks<'a>(case: &Case<'a>) -> Option<Ruled<'a>> {
    let (causes, stale) = sort(case);
    if causes.is_empty() {
        return (!stale.is_empty()).then(|| waits_for_review(&stale));
    }
    let mut told: Vec<String> = causes.iter().map(Block::tell).collect();
    let ruled = if let Some(by) = case.facts.approved_by_person() {
        Ruled::wait(RULE, OnWhom::Operator).fact(format!("{by} approved this head: no worker starts at it"))
    } else if is_used_up(case) && causes.iter().any(|block| block.person().is_none()) {
        used_up(case)
    } else if let Some(work) = worker::workers(case) {
        by_worker(case, work, &causes, &stale)
    } else {
        by_hand(&causes)
    };
    told.extend(ruled.facts);
    Some(Ruled { facts: told, ..ruled })
}

/// A block that is a cause.
struct Block<'a> {
    name: &'a str,
    /// The review, if no role blocks.
    review: Option<&'a PersonBlock<'a>>,
}

fn sort<'a>(case: &Case<'a>) -> (Vec<Block<'a>>, Vec<&'a str>) {
    let (mut causes, mut stale) = (Vec::new(), Vec::new());
    for judgement in case.judged.iter().filter(|it| it.blocks()) {
        let name = judgement.name().as_str();
        if judgement.current || !judgement.role.applies {
            causes.push(Block { name, review: None });
        } else {
            stale.push(name);
        }
    }
    for block in &case.facts.blocks {
        if block.is_bot() && !block.at_head {
            stale.push(block.name());
        } else {
            causes.push(Block { name: block.name(), review: Some(block) });
        }
    }
    (causes, stale)
}

fn by_hand<'a>(causes: &[Block<'a>]) -> Ruled<'a> {
    let unanswered = |block: &Block<'_>| block.person().is_none_or(|person| person.at_head);
    if causes.iter().any(unanswered) {
        return Ruled::wait(RULE, OnWhom::Author).fact("no worker may push here");
    }
    waits_for_person(causes)
}

fn by_worker<'a>(case: &Case<'a>, work: &Work, causes: &[Block<'a>], stale: &[&'a str]) -> Ruled<'a> {
    let turns: Vec<(Turn, &Block<'a>)> = causes.iter().map(|block| (turn(case, work, block), block)).collect();
    let mut running = turns.iter().filter(|(turn, _)| *turn == Turn::Running);
    if let Some((_, block)) = running.next() {
        return Ruled::wait(RULE, OnWhom::Worker).fact(format!("a worker answers {}", block.name));
    }
    for (turn, block) in &turns {
        if let Turn::Over(outcome) = turn {
            return worker::could_not(RULE, JobKind::Findings, &block.cause(), *outcome);
        }
    }
    let start = turns.iter().find_map(|(turn, block)| match turn {
        Turn::Start(go) => Some((*go, block)),
        _ => None,
    });
    match start {
        Some(_) if is_used_up(case) => used_up(case),
        Some((go, block)) => worker::start(case, work, RULE, JobKind::Findings, block.cause(), go),
        None if !stale.is_empty() => waits_for_review(stale),
        None => waits_for_person(causes),
    }
}

/// Whose turn one block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Start(Go),
    Running,
    Over(Option<WorkOutcome>),
    Answered,
}

fn turn(case: &Case<'_>, work: &Work, block: &Block<'_>) -> Turn {
    let patch = &case.facts.snapshot.changes.patch;
    let jobs = &case.facts.work;
    let record = match block.person() {
        Some(_) => jobs.of_cause(&block.cause()),
        None => jobs.at(&block.cause(), patch),
    };
    if record.is_some_and(|record| record.patch != patch) {
        return Turn::Answered;
    }
    match worker::past(case, work, record) {
        Past::Never => Turn::Start(Go::First),
        Past::Running => Turn::Running,
        Past::Crashed => Turn::Start(Go::Again),
        Past::Ended(Some(WorkOutcome::Done)) if block.person().is_some() => Turn::Answered,
        Past::Ended(outcome) => Turn::Over(outcome),
    }
}

fn is_used_up(case: &Case<'_>) -> bool {
    case.facts.rounds_allowed() <= case.round
}

fn used_up<'a>(case: &Case<'a>) -> Ruled<'a> {
    let told = format!("round {} of {} is used up", case.round, case.facts.rounds_allowed());
    Ruled::new(RULE, Says::Blocked(Stop::Rounds)).fact(told)
}

fn waits_for_review<'a>(stale: &[&str]) -> Ruled<'a> {
    let names = stale.iter().map(|name| (*name).to_owned()).collect();
    let told = format!("{} asked for changes before this one", stale.join(", "));
    Ruled::wait(RULE, OnWhom::Reviewer(names)).fact(told)
}

fn waits_for_person<'a>(causes: &[Block<'a>]) -> Ruled<'a> {
    let login = causes.iter().find_map(|block| block.person()?.review.author.login.as_ref());
    let on = login.map_or(OnWhom::Operator, |login: &Login| OnWhom::Person(login.clone()));
    Ruled::wait(RULE, on).fact("answered, not looked at again")
}

impl<'a> Block<'a> {
    fn tell(&self) -> String {
        format!("{} asks for changes", self.name)
    }

    fn cause(&self) -> String {
        self.review.map_or_else(|| format!("role:{}", self.name), PersonBlock::cause)
    }

    /// The review, if a person blocks.
    fn person(&self) -> Option<&'a PersonBlock<'a>> {
        self.review.filter(|review| !review.is_bot())
    }
}
