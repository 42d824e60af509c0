//! Answers to people's commands (LOOP-12), one comment each, never twice; and the audit of a broken glass (INC-13).
//!
//! | command | answered with |
//! |---|---|
//! | any, from one who may not, without write access and not the pull's author | nothing |
//! | any other, from one who may not | who may |
//! | `explain` | why the pull is where it is |
//! | `help` | the commands |
//! | an unknown verb | the nearest one |
//! | `pause`, `resume` | that it holds |
//! | `dismiss`, `reopen` of a finding that is not here | that it is not here |
//! | everything else | nothing: what follows is the answer |
//!
//! | the glass | comment |
//! |---|---|
//! | broken at this change | who, why, and what is not enforced: once per change |

use super::topic;
use crate::facts::{Facts, Said};
use crate::mark::Topic;
use crate::model::{FindingId, PullState};
use crate::plan::{Plan, Reason, Step};
use crate::render::{self, GlassNote, SaidNote, Who, Word};
use crate::say::{Ask, Named};

/// What is answered to people's commands, once the rest of the plan is made: `explain` tells it.
pub fn said<'a>(facts: &'a Facts<'a>, plan: &'a Plan) -> Vec<Step> {
    if facts.snapshot.pull.state != PullState::Open {
        return Vec::new();
    }
    let unanswered = facts.said.iter().filter(|said| topic::find(facts, &topic(said)).is_none());
    let answers = unanswered.filter_map(|said| Some((said, word(facts, plan, said)?)));
    let bot = &facts.snapshot.viewer.login;
    let steps = answers.filter_map(|(said, word)| {
        let words = render::said(&SaidNote { bot, word });
        let why = Reason::new("said").fact(format!("{} asked in {}", said.by.name(), said.id));
        topic::ensure(facts, bot, topic(said), words, why)
    });
    audit(facts, plan).into_iter().chain(steps).collect()
}

fn topic(said: &Said<'_>) -> Topic {
    Topic::Said { to: said.id.to_owned() }
}

fn word<'a>(facts: &'a Facts<'a>, plan: &'a Plan, said: &'a Said<'a>) -> Option<Word<'a>> {
    if !said.allowed {
        return not_allowed(facts, said);
    }
    match said.ask {
        Ask::Explain => Some(Word::Explain { plan, facts }),
        Ask::Help => Some(Word::Help),
        Ask::Unknown { verb, nearest, .. } => Some(Word::Unknown { verb, nearest: nearest.as_deref() }),
        Ask::Pause => Some(Word::Paused { by: said.by.name() }),
        Ask::Resume => Some(Word::Resumed { by: said.by.name() }),
        Ask::Dismiss { findings, .. } | Ask::Reopen { findings } => {
            let names: Vec<&Named> = findings.iter().filter(|named| !is_known(plan, named)).collect();
            (!names.is_empty()).then_some(Word::NoSuchFinding { names })
        }
        Ask::Review | Ask::FullReview | Ask::Rounds { .. } | Ask::Retry | Ask::BreakGlass { .. } => None,
    }
}

fn is_known(plan: &Plan, named: &Named) -> bool {
    plan.findings.iter().any(|it| it.id == named.id && named.role.as_ref().is_none_or(|role| role.as_str() == it.role))
}

/// Who may, told to people who belong here. A stranger gets no answer, and so cannot make referee talk.
fn not_allowed<'a>(facts: &Facts<'a>, said: &Said<'a>) -> Option<Word<'a>> {
    let is_author = said.by.login.is_some() && said.by.login == facts.snapshot.pull.author.login;
    if !said.by.may_write() && !is_author {
        return None;
    }
    let policy = facts.policy;
    let who = match said.ask {
        Ask::Unknown { .. } | Ask::Explain | Ask::Help => return None,
        Ask::Dismiss { .. } => Who::WritersButAuthor,
        Ask::Rounds { .. } => Who::Operator(policy.operator.as_ref()),
        Ask::BreakGlass { .. } if policy.break_glass.is_empty() => Who::Operator(policy.operator.as_ref()),
        Ask::BreakGlass { .. } => Who::GlassBreakers(policy.break_glass.iter().collect()),
        Ask::Review | Ask::FullReview | Ask::Reopen { .. } | Ask::Retry | Ask::Pause | Ask::Resume => Who::Writers,
    };
    Some(Word::NotAllowed { ask: said.ask, who })
}

fn audit(facts: &Facts<'_>, plan: &Plan) -> Option<Step> {
    let glass = facts.glass?;
    let topic = Topic::Glass { patch: facts.snapshot.changes.patch.clone() };
    if topic::find(facts, &topic).is_some() {
        return None;
    }
    let (by, head) = (glass.by.name(), &facts.snapshot.pull.head);
    let blocking: Vec<FindingId> = plan.findings.iter().filter(|it| it.counts).map(|it| it.id).collect();
    let words = render::glass(&GlassNote { by, reason: glass.reason, head, blocking });
    let why = Reason::new("break-glass").fact(format!("by {by} at {}", glass.at));
    topic::ensure(facts, &facts.snapshot.viewer.login, topic, words, why)
}
