//! Rule 2, before every rule about work: somebody asks for changes (DSP-5, D4, D20, LOOP-2). The block itself is
//! never bypassed; the question is only whose turn it is.
//!
//! | who blocks | it is | cause, and when a worker may answer it |
//! |---|---|---|
//! | a role, by its own verdict for this change, or one that no longer applies | a cause | `role:<name>`, once per change |
//! | a role, by a verdict for another change | stale | rule 5 waits for its review |
//! | a person | a cause | `person:<name>@<review>`, once, whatever the head; any push after that answers it |
//! | another bot, at this head | a cause | `bot:<name>@<review>`, once per change |
//! | another bot, at another head | stale | rule 5 waits for its review |
//!
//! | row | next |
//! |---|---|
//! | only stale blocks | the next rule (D29) |
//! | a person approved this very head (D20) | wait for the operator |
//! | a role blocks, and the rounds are used up | blocked: round cap |
//! | no workers here, or the head cannot be pushed to | wait for the author; for a person who has not looked again |
//! | a worker of one of the causes is under way | wait for the worker |
//! | a worker of one of the causes could not do it | blocked: needs human |
//! | a cause was not answered yet | spawn `findings` (a second time after a crash); at the cap blocked |
//! | stale blocks too | wait for the reviewer |
//! | people only, all answered | wait for the first of them; the operator, if that user is gone |

use super::worker::{self, JobStatus, StartAttempt};
use super::{MatchedRule, RuleContext, RuleEffect};
use crate::facts::ExternalBlock;
use crate::model::Login;
use crate::model::snapshot::WorkOutcome;
use crate::plan::{JobKind, WaitingOn};
use crate::policy::DispatchPolicy;
use crate::render::StopReason;
use crate::rule::Rule;

const RULE: Rule = Rule::ChangesRequested;

pub(super) fn match_changes_requested<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let (causes, stale) = partition_blocks(case);
    if causes.is_empty() {
        return None;
    }
    let mut told: Vec<String> = causes.iter().map(BlockCause::describe).collect();
    let ruled = if let Some(by) = case.facts.find_person_approval() {
        MatchedRule::wait(RULE, WaitingOn::Operator).fact(format!("{by} approved this head: no worker starts at it"))
    } else if is_round_cap_reached(case) && causes.iter().any(|block| block.person().is_none()) {
        block_on_round_cap(case)
    } else if let Some(work) = worker::pushable_dispatch_policy(case) {
        answer_with_worker(case, work, &causes, &stale)
    } else {
        wait_without_worker(&causes)
    };
    told.extend(ruled.facts);
    Some(MatchedRule { facts: told, ..ruled })
}

/// Returns the names of roles and bots whose block is from another head and so is not active (D29).
pub(super) fn list_stale_blockers<'a>(case: &RuleContext<'a>) -> Vec<&'a str> {
    partition_blocks(case).1
}

/// A block that is a cause.
struct BlockCause<'a> {
    name: &'a str,
    /// The review, if no role blocks.
    external_block: Option<&'a ExternalBlock<'a>>,
}

fn partition_blocks<'a>(case: &RuleContext<'a>) -> (Vec<BlockCause<'a>>, Vec<&'a str>) {
    let (mut causes, mut stale) = (Vec::new(), Vec::new());
    for judgement in case.judgements.iter().filter(|it| it.is_blocking()) {
        let name = judgement.name().as_str();
        if judgement.is_current || !judgement.role.applies {
            causes.push(BlockCause { name, external_block: None });
        } else {
            stale.push(name);
        }
    }
    for block in &case.facts.external_blocks {
        if block.is_bot() && !block.at_head {
            stale.push(block.name());
        } else {
            causes.push(BlockCause { name: block.name(), external_block: Some(block) });
        }
    }
    (causes, stale)
}

fn wait_without_worker<'a>(causes: &[BlockCause<'a>]) -> MatchedRule<'a> {
    let unanswered = |block: &BlockCause<'_>| block.person().is_none_or(|person| person.at_head);
    if causes.iter().any(unanswered) {
        return MatchedRule::wait(RULE, WaitingOn::Author).fact("no worker may push here");
    }
    wait_for_person(causes)
}

fn answer_with_worker<'a>(
    case: &RuleContext<'a>,
    work: &DispatchPolicy,
    causes: &[BlockCause<'a>],
    stale: &[&'a str],
) -> MatchedRule<'a> {
    let turns: Vec<(BlockState, &BlockCause<'a>)> =
        causes.iter().map(|block| (classify_block(case, work, block), block)).collect();
    let mut running = turns.iter().filter(|(turn, _)| *turn == BlockState::Running);
    if let Some((_, block)) = running.next() {
        return MatchedRule::wait(RULE, WaitingOn::Worker).fact(format!("a worker answers {}", block.name));
    }
    for (turn, block) in &turns {
        if let BlockState::Ended(outcome) = turn {
            return worker::block_on_failed_worker(RULE, JobKind::Findings, &block.cause(), *outcome);
        }
    }
    let start = turns.iter().find_map(|(turn, block)| match turn {
        BlockState::Start(go) => Some((*go, block)),
        _ => None,
    });
    match start {
        Some(_) if is_round_cap_reached(case) => block_on_round_cap(case),
        Some((go, block)) => worker::start_worker(case, work, RULE, JobKind::Findings, block.cause(), go),
        None if !stale.is_empty() => wait_for_reviewers(stale),
        None => wait_for_person(causes),
    }
}

/// Whose turn one block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockState {
    Start(StartAttempt),
    Running,
    Ended(Option<WorkOutcome>),
    Answered,
}

fn classify_block(case: &RuleContext<'_>, work: &DispatchPolicy, block: &BlockCause<'_>) -> BlockState {
    let patch = &case.facts.snapshot.changes.patch;
    let jobs = &case.facts.work;
    let record = match block.person() {
        Some(_) => jobs.find_by_cause(&block.cause()),
        None => jobs.find_at_change(&block.cause(), patch),
    };
    if record.is_some_and(|record| record.patch != patch) {
        return BlockState::Answered;
    }
    match worker::read_job_status(case, work, record) {
        JobStatus::NeverStarted => BlockState::Start(StartAttempt::First),
        JobStatus::Running => BlockState::Running,
        JobStatus::Crashed => BlockState::Start(StartAttempt::Retry),
        JobStatus::Ended(Some(WorkOutcome::Done)) if block.person().is_some() => BlockState::Answered,
        JobStatus::Ended(outcome) => BlockState::Ended(outcome),
    }
}

fn is_round_cap_reached(case: &RuleContext<'_>) -> bool {
    case.facts.rounds_allowed() <= case.round
}

fn block_on_round_cap<'a>(case: &RuleContext<'a>) -> MatchedRule<'a> {
    let told = format!("round {} of {} is used up", case.round, case.facts.rounds_allowed());
    MatchedRule::new(RULE, RuleEffect::Blocked(StopReason::RoundLimit)).fact(told)
}

fn wait_for_reviewers<'a>(stale: &[&str]) -> MatchedRule<'a> {
    let names = stale.iter().map(|name| (*name).to_owned()).collect();
    let told = format!("{} asked for changes before this one", stale.join(", "));
    MatchedRule::wait(RULE, WaitingOn::Reviewer(names)).fact(told)
}

fn wait_for_person<'a>(causes: &[BlockCause<'a>]) -> MatchedRule<'a> {
    let login = causes.iter().find_map(|block| block.person()?.review.author.login.as_ref());
    let on = login.map_or(WaitingOn::Operator, |login: &Login| WaitingOn::Person(login.clone()));
    MatchedRule::wait(RULE, on).fact("answered, not looked at again")
}

impl<'a> BlockCause<'a> {
    fn describe(&self) -> String {
        format!("{} asks for changes", self.name)
    }

    fn cause(&self) -> String {
        self.external_block.map_or_else(|| format!("role:{}", self.name), ExternalBlock::cause)
    }

    /// The review, if a person blocks.
    fn person(&self) -> Option<&'a ExternalBlock<'a>> {
        self.external_block.filter(|review| !review.is_bot())
    }
}
