//! The comment that asks a person to decide (LOOP-4, LOOP-11, DSP-16, D13): one per epoch, edited in place, and only
//! when its words would differ.
//!
//! | option | offered, because it works |
//! |---|---|
//! | merge | nobody else blocks, and the forge counts no own block, or the operator may dismiss what holds it up |
//! | approve | nobody blocks, the forge knows approvals, and the pull is not the operator's own |
//! | `rounds +1` | an operator is named, and rounds, or changes of one type of worker, are used up |
//! | close and reopen | rounds, changes or workers are used up |
//! | push by hand | the budget lets somebody read it |
//! | `retry` | a reviewer failed |
//! | `break-glass` | the forge counts an own block, and somebody may |
//! | raise the budget | the budget is used up |
//! | `pause` | always |

use super::judged::{Judged, Judgement};
use super::publish::{self, is_told};
use super::rules::{Case, round, round_of};
use super::topic;
use crate::facts::Facts;
use crate::facts::people::lifted_rightly;
use crate::mark::Topic;
use crate::model::{Counts, Figures, FindingId, FindingState, Review, RoleName, Support, Verdict};
use crate::plan::{Reason, Step};
use crate::policy::Approve;
use crate::render::{self, Choice, OpenFinding, OperatorNote, Stop};

/// How near to a fixed finding's line a new one attacks its fix.
const NEAR: u32 = 10;

/// The operator comment, if it must be written.
pub(super) fn operator<'a>(case: &Case<'a>, stop: Stop<'a>, why: &Reason) -> Option<Step> {
    let facts = case.facts;
    let words = render::operator(&operator_note(facts, case.judged, stop));
    let topic = Topic::Operator { epoch: facts.operator_epoch() };
    topic::ensure(facts, &facts.snapshot.viewer.login, topic, words, why.clone())
}

/// What the operator is told.
pub fn operator_note<'a>(facts: &'a Facts<'a>, judged: &'a [Judgement<'a>], stop: Stop<'a>) -> OperatorNote<'a> {
    let listed = listed(facts, judged, &stop);
    OperatorNote {
        operator: facts.policy.operator.as_ref(),
        bot: &facts.snapshot.viewer.login,
        round: round(facts, judged),
        rounds: facts.rounds_allowed(),
        head: &facts.snapshot.pull.head,
        reviewers: reviewers(judged, &stop, &listed),
        findings: listed.iter().map(|(judgement, it)| tell(facts, judged, judgement, it)).collect(),
        options: options(facts, judged, &stop),
        spent: spent(facts, judged),
        budget: facts.policy.budget.micro_usd,
        stop,
    }
}

/// What a person has to decide on: what needs them, or holds a block up, else all that counts.
fn listed<'a>(
    facts: &Facts<'_>,
    judged: &'a [Judgement<'a>],
    stop: &Stop<'_>,
) -> Vec<(&'a Judgement<'a>, &'a Judged<'a>)> {
    let all = || judged.iter().flat_map(|it| it.findings.iter().map(move |finding| (it, finding)));
    let counting = || all().filter(|(_, it)| it.counts);
    let mut listed: Vec<_> = match stop {
        Stop::Findings => counting().filter(|(_, it)| it.needs_human.is_some()).collect(),
        _ => counting().filter(|(judgement, it)| blocking(facts, judgement).contains(&it.id)).collect(),
    };
    if listed.is_empty() {
        listed = counting().collect();
    }
    listed.sort_by_key(|(_, it)| (std::cmp::Reverse(it.severity), it.id));
    listed
}

fn reviewers<'a>(
    judged: &'a [Judgement<'a>],
    stop: &Stop<'a>,
    listed: &[(&'a Judgement<'a>, &'a Judged<'a>)],
) -> Vec<&'a RoleName> {
    if let Stop::Failed { roles } = stop {
        return roles.clone();
    }
    let speaks = |it: &&Judgement<'a>| it.blocks() || listed.iter().any(|(judgement, _)| judgement.name() == it.name());
    judged.iter().filter(speaks).map(Judgement::name).collect()
}

fn tell<'a>(
    facts: &Facts<'a>,
    judged: &[Judgement<'a>],
    judgement: &'a Judgement<'a>,
    it: &'a Judged<'a>,
) -> OpenFinding<'a> {
    let mut rounds = it.known.map_or_else(Vec::new, |known| known.rounds.to_vec());
    let round = round_of(facts, judgement);
    if 0 < round && !rounds.contains(&round) && blocking(facts, judgement).contains(&it.id) {
        rounds.push(round);
    }
    OpenFinding {
        role: judgement.name(),
        id: it.id,
        severity: it.severity,
        title: &it.title,
        path: it.path,
        line: it.line,
        rounds,
        attacks_fix: attacks_fix(judged, it),
        needs_human: it.needs_human,
    }
}

/// Whether it was raised where the fix of an earlier finding went.
fn attacks_fix(judged: &[Judgement<'_>], it: &Judged<'_>) -> bool {
    let fixed = judged.iter().flat_map(|it| &it.findings).filter(|it| it.state == FindingState::Fixed);
    let near = |a: Option<u32>, b: Option<u32>| matches!((a, b), (Some(a), Some(b)) if a.abs_diff(b) <= NEAR);
    { fixed }.any(|fixed| fixed.id < it.id && fixed.path == it.path && near(fixed.line, it.line))
}

/// Findings that hold a role's block up (INC-12).
fn blocking(facts: &Facts<'_>, judgement: &Judgement<'_>) -> Vec<FindingId> {
    if judgement.blocks() { publish::blocking(facts, judgement).collect() } else { Vec::new() }
}

/// What all roles took, this turn's reports included: their Marks are not written yet.
fn spent(facts: &Facts<'_>, judged: &[Judgement<'_>]) -> Figures {
    let of = |it: &Judgement<'_>| {
        let mark = it.role.standing.map(|standing| standing.mark);
        let fresh = it.role.report.filter(|_| !is_told(facts, it)).map(|report| report.figures);
        mark.map(|mark| mark.spent).unwrap_or_default().plus(fresh.unwrap_or_default())
    };
    judged.iter().map(of).fold(Figures::default(), Figures::plus)
}

/// Whether the forge counts an own block once this plan is done: it does now, or one is about to be posted (PUB-21).
fn holds_up(facts: &Facts<'_>, judged: &[Judgement<'_>], it: &Judgement<'_>) -> bool {
    let snapshot = facts.snapshot;
    let counted = facts.newest_counted(it.role.identity) == Some(Verdict::RequestChanges);
    let posts = !snapshot.pull.author.is(it.role.identity)
        && snapshot.capabilities.verdicts != Support::Unsupported
        && facts.policy.approve != Approve::Off;
    // One that was dismissed by somebody who may, or that the forge never counts, is not posted again.
    let left = |review: &Review| review.counts == Counts::No || lifted_rightly(snapshot, review);
    let stays = it.role.standing.is_some_and(|it| it.form == Verdict::RequestChanges && left(it.review));
    let sibling_blocks = judged.iter().any(|other| other.blocks() && other.role.identity == it.role.identity);
    let enforced = it.role.role.blocks && it.own.is_some() && it.role.held && sibling_blocks;
    counted || (enforced && posts && !stays)
}

fn options<'a>(facts: &Facts<'a>, judged: &'a [Judgement<'a>], stop: &Stop<'_>) -> Vec<Choice> {
    let policy = facts.policy;
    let operator = policy.operator.as_ref();
    let is_author = operator.is_some() && operator == facts.snapshot.pull.author.login.as_ref();
    let own_block = judged.iter().any(|it| holds_up(facts, judged, it));
    let others = !facts.blocks.is_empty();
    let may_dismiss = !is_author || policy.author_may_accept;
    let mut options = Vec::new();
    if !others && (!own_block || may_dismiss) {
        let held: Vec<FindingId> = judged.iter().flat_map(|it| blocking(facts, it)).collect();
        options.push(Choice::Merge { dismiss: if own_block { held } else { Vec::new() } });
    }
    let approvals = facts.snapshot.capabilities.verdicts != Support::Unsupported;
    if !others && !own_block && approvals && !is_author {
        options.push(Choice::Approve);
    }
    if operator.is_some() && matches!(stop, Stop::Rounds | Stop::Heads { .. }) {
        options.push(Choice::Rounds);
    }
    if matches!(stop, Stop::Rounds | Stop::Heads { .. } | Stop::Jobs { .. }) {
        options.push(Choice::Reopen);
    }
    if !matches!(stop, Stop::Budget { .. }) {
        options.push(Choice::Push);
    }
    if matches!(stop, Stop::Failed { .. }) {
        options.push(Choice::Retry);
    }
    if own_block && (operator.is_some() || !policy.break_glass.is_empty()) {
        options.push(Choice::BreakGlass);
    }
    if matches!(stop, Stop::Budget { .. }) {
        options.push(Choice::Budget);
    }
    options.push(Choice::Pause);
    options
}
