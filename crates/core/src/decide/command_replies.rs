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

use super::topic_comment;
use crate::facts::{Facts, UserCommand};
use crate::mark::Topic;
use crate::model::{FindingId, PullState};
use crate::plan::{Plan, Reason, Step};
use crate::render::{self, BreakGlassNote, CommandPermission, CommandResponse, CommandResponseKind};
use crate::rule::Rule;
use crate::say::{Ask, Named};

/// What is answered to people's commands, once the rest of the plan is made: `explain` tells it.
pub fn answer_commands<'a>(facts: &'a Facts<'a>, plan: &'a Plan) -> Vec<Step> {
    if facts.snapshot.pull.state != PullState::Open {
        return Vec::new();
    }
    let unanswered = facts.commands.iter().filter(|said| topic_comment::find(facts, &reply_topic(said)).is_none());
    let answers = unanswered.filter_map(|said| Some((said, choose_reply(facts, plan, said)?)));
    let bot = &facts.snapshot.viewer.login;
    let steps = answers.filter_map(|(said, word)| {
        let words = render::render_command_response(&CommandResponse { bot, kind: word });
        let why = Reason::new(Rule::Said).with_fact(format!("{} asked in {}", said.by.display_name(), said.source_id));
        topic_comment::ensure(facts, bot, reply_topic(said), words, why)
    });
    plan_glass_audit(facts, plan).into_iter().chain(steps).collect()
}

fn reply_topic(said: &UserCommand<'_>) -> Topic {
    Topic::Said { to: said.source_id.to_owned() }
}

fn choose_reply<'a>(
    facts: &'a Facts<'a>,
    plan: &'a Plan,
    said: &'a UserCommand<'a>,
) -> Option<CommandResponseKind<'a>> {
    if !said.allowed {
        return explain_denial(facts, said);
    }
    match said.ask {
        Ask::Explain => Some(CommandResponseKind::Explain { plan, facts }),
        Ask::Help => Some(CommandResponseKind::Help),
        Ask::Unknown { verb, nearest, .. } => Some(CommandResponseKind::Unknown { verb, nearest: nearest.as_deref() }),
        Ask::Pause => Some(CommandResponseKind::Paused { by: said.by.display_name() }),
        Ask::Resume => Some(CommandResponseKind::Resumed { by: said.by.display_name() }),
        Ask::Dismiss { findings, .. } | Ask::Reopen { findings } => {
            let names: Vec<&Named> = findings.iter().filter(|named| !is_known_finding(plan, named)).collect();
            (!names.is_empty()).then_some(CommandResponseKind::NoSuchFinding { names })
        }
        Ask::Review | Ask::FullReview | Ask::Rounds { .. } | Ask::Retry | Ask::BreakGlass { .. } => None,
    }
}

fn is_known_finding(plan: &Plan, named: &Named) -> bool {
    plan.findings.iter().any(|it| it.id == named.id && named.role.as_ref().is_none_or(|role| role.as_str() == it.role))
}

/// Who may, told to people who belong here. A stranger gets no answer, and so cannot make referee talk.
fn explain_denial<'a>(facts: &Facts<'a>, said: &UserCommand<'a>) -> Option<CommandResponseKind<'a>> {
    let is_author = said.by.login.is_some() && said.by.login == facts.snapshot.pull.author.login;
    if !said.by.may_write() && !is_author {
        return None;
    }
    let policy = facts.policy;
    let who = match said.ask {
        Ask::Unknown { .. } | Ask::Explain | Ask::Help => return None,
        Ask::Dismiss { .. } => CommandPermission::WritersButAuthor,
        Ask::Rounds { .. } => CommandPermission::Operator(policy.operator.as_ref()),
        Ask::BreakGlass { .. } if policy.break_glass.is_empty() => {
            CommandPermission::Operator(policy.operator.as_ref())
        }
        Ask::BreakGlass { .. } => CommandPermission::GlassBreakers(policy.break_glass.iter().collect()),
        Ask::Review | Ask::FullReview | Ask::Reopen { .. } | Ask::Retry | Ask::Pause | Ask::Resume => {
            CommandPermission::Writers
        }
    };
    Some(CommandResponseKind::NotAllowed { ask: said.ask, permission: who })
}

fn plan_glass_audit(facts: &Facts<'_>, plan: &Plan) -> Option<Step> {
    let glass = facts.break_glass?;
    let topic = Topic::Glass { patch: facts.snapshot.changes.patch.clone() };
    if topic_comment::find(facts, &topic).is_some() {
        return None;
    }
    let (by, head) = (glass.by.display_name(), &facts.snapshot.pull.head);
    let blocking: Vec<FindingId> = plan.findings.iter().filter(|it| it.counts).map(|it| it.id).collect();
    let words = render::render_break_glass_note(&BreakGlassNote { by, reason: glass.reason, head, blocking });
    let why = Reason::new(Rule::BreakGlass).with_fact(format!("by {by} at {}", glass.at));
    topic_comment::ensure(facts, &facts.snapshot.viewer.login, topic, words, why)
}
