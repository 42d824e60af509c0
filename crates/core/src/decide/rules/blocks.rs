//! Rule 2: somebody requests changes (DSP-5, D4, D20, LOOP-2). It comes before every rule about work. The block itself
//! is never bypassed; this rule only decides whose turn it is.
//!
//! | who blocks | kind | cause, and when a worker may answer it |
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
//! | a person approved this head (D20) | wait for the operator |
//! | a role or another program blocks, and the rounds are used up | blocked: round cap (D32) |
//! | no dispatch, or nobody may push to the head | wait for the author, or for a person who has not reviewed again |
//! | a worker for one of the causes is running | wait for the worker |
//! | a worker for one of the causes failed | blocked: needs human |
//! | a cause is unanswered | spawn `findings` (a second time after a crash); at the cap blocked |
//! | otherwise, with stale blocks | wait for the reviewer |
//! | otherwise: people only, all answered | wait for the first of them, or for the operator if that account is gone |

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

pub(super) fn match_changes_requested<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let (causes, stale) = partition_blocks(context);
    if causes.is_empty() {
        return None;
    }
    let mut facts: Vec<String> = causes.iter().map(BlockCause::describe).collect();
    let matched = if let Some(by) = context.facts.find_person_approval() {
        MatchedRule::wait(RULE, WaitingOn::Operator).fact(format!("{by} approved this head: no worker starts at it"))
    } else if is_round_cap_reached(context) && causes.iter().any(|block| block.person().is_none()) {
        block_on_round_cap(context)
    } else if let Some(work) = worker::pushable_dispatch_policy(context) {
        answer_with_worker(context, work, &causes, &stale)
    } else {
        wait_without_worker(&causes)
    };
    facts.extend(matched.facts);
    Some(MatchedRule { facts, ..matched })
}

/// Returns the names of roles and bots whose block is from another head and so is not active (D29).
pub(super) fn list_stale_blockers<'a>(context: &RuleContext<'a>) -> Vec<&'a str> {
    partition_blocks(context).1
}

/// A block that a worker may have to answer.
struct BlockCause<'a> {
    name: &'a str,
    /// The review; `None` if a role blocks.
    external_block: Option<&'a ExternalBlock<'a>>,
}

fn partition_blocks<'a>(context: &RuleContext<'a>) -> (Vec<BlockCause<'a>>, Vec<&'a str>) {
    let (mut causes, mut stale) = (Vec::new(), Vec::new());
    for judgement in context.judgements.iter().filter(|it| it.is_blocking()) {
        let name = judgement.name().as_str();
        if judgement.is_current || !judgement.role.applies {
            causes.push(BlockCause { name, external_block: None });
        } else {
            stale.push(name);
        }
    }
    for block in &context.facts.external_blocks {
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
    context: &RuleContext<'a>,
    work: &DispatchPolicy,
    causes: &[BlockCause<'a>],
    stale: &[&'a str],
) -> MatchedRule<'a> {
    let blocks: Vec<(BlockState, &BlockCause<'a>)> =
        causes.iter().map(|block| (classify_block(context, work, block), block)).collect();
    let mut running = blocks.iter().filter(|(state, _)| *state == BlockState::Running);
    if let Some((_, block)) = running.next() {
        return MatchedRule::wait(RULE, WaitingOn::Worker).fact(format!("a worker answers {}", block.name));
    }
    for (state, block) in &blocks {
        if let BlockState::Ended(outcome) = state {
            return worker::block_on_failed_worker(RULE, JobKind::Findings, &block.cause(), *outcome);
        }
    }
    let start = blocks.iter().find_map(|(state, block)| match state {
        BlockState::Start(attempt) => Some((*attempt, block)),
        _ => None,
    });
    match start {
        Some(_) if is_round_cap_reached(context) => block_on_round_cap(context),
        Some((attempt, block)) => worker::start_worker(context, work, RULE, JobKind::Findings, block.cause(), attempt),
        None if !stale.is_empty() => wait_for_reviewers(stale),
        None => wait_for_person(causes),
    }
}

/// What a block waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockState {
    Start(StartAttempt),
    Running,
    Ended(Option<WorkOutcome>),
    Answered,
}

fn classify_block(context: &RuleContext<'_>, work: &DispatchPolicy, block: &BlockCause<'_>) -> BlockState {
    let patch = &context.facts.snapshot.changes.patch;
    let jobs = &context.facts.work;
    let record = match block.person() {
        Some(_) => jobs.find_by_cause(&block.cause()),
        None => jobs.find_at_change(&block.cause(), patch),
    };
    if record.is_some_and(|record| record.patch != patch) {
        return BlockState::Answered;
    }
    match worker::read_job_status(context, work, record) {
        JobStatus::NeverStarted => BlockState::Start(StartAttempt::First),
        JobStatus::Running => BlockState::Running,
        JobStatus::Crashed => BlockState::Start(StartAttempt::Retry),
        JobStatus::Ended(Some(WorkOutcome::Done)) if block.person().is_some() => BlockState::Answered,
        JobStatus::Ended(outcome) => BlockState::Ended(outcome),
    }
}

fn is_round_cap_reached(context: &RuleContext<'_>) -> bool {
    context.facts.rounds_allowed() <= context.round
}

fn block_on_round_cap<'a>(context: &RuleContext<'a>) -> MatchedRule<'a> {
    let fact = format!("round {} of {} is used up", context.round, context.facts.rounds_allowed());
    MatchedRule::new(RULE, RuleEffect::Blocked(StopReason::RoundLimit)).fact(fact)
}

fn wait_for_reviewers<'a>(stale: &[&str]) -> MatchedRule<'a> {
    let names = stale.iter().map(|name| (*name).to_owned()).collect();
    let fact = format!("{} asked for changes at an older head", stale.join(", "));
    MatchedRule::wait(RULE, WaitingOn::Reviewer(names)).fact(fact)
}

fn wait_for_person<'a>(causes: &[BlockCause<'a>]) -> MatchedRule<'a> {
    let login = causes.iter().find_map(|block| block.person()?.review.author.login.as_ref());
    let on = login.map_or(WaitingOn::Operator, |login: &Login| WaitingOn::Person(login.clone()));
    MatchedRule::wait(RULE, on).fact("answered, and not reviewed again yet")
}

impl<'a> BlockCause<'a> {
    fn describe(&self) -> String {
        format!("{} asks for changes", self.name)
    }

    fn cause(&self) -> String {
        self.external_block.map_or_else(|| format!("role:{}", self.name), ExternalBlock::cause)
    }

    /// Returns the review if a person blocks.
    fn person(&self) -> Option<&'a ExternalBlock<'a>> {
        self.external_block.filter(|review| !review.is_bot())
    }
}
