//! Replies to people's commands (LOOP-12), one comment per command; and the audit comment of a break-glass (INC-13).
//!
//! | command | reply |
//! |---|---|
//! | edited, of a person who may give it, with a lasting effect that it does not have | it does not count (D40) |
//! | edited otherwise | none |
//! | not permitted, from an outsider who is not the pull's author | none |
//! | not permitted, from anybody else | who may give the command |
//! | `explain` | the state of the pull and the reasons for it |
//! | `help` | the list of commands |
//! | an unknown verb | the most similar known verb |
//! | `pause`, `resume` | a confirmation |
//! | `dismiss`, `reopen` of an unknown finding | the finding does not exist |
//! | everything else | none: its effect is visible |
//!
//! | break-glass | comment |
//! |---|---|
//! | used at this change | who, why, and which findings no longer block; once per change |

use super::topic_comment;
use crate::facts::{Facts, UserCommand, is_permitted};
use crate::mark::Topic;
use crate::model::{FindingId, PullState};
use crate::plan::{Plan, Reason, Step};
use crate::render::{self, BreakGlassNote, CommandPermission, CommandResponse, CommandResponseKind};
use crate::rule::Rule;
use crate::say::{Ask, Named};

/// Plans the replies to people's commands. Runs last, because the reply to `explain` describes the rest of the plan.
pub fn answer_commands<'a>(facts: &'a Facts<'a>, plan: &'a Plan) -> Vec<Step> {
    if facts.snapshot.pull.state != PullState::Open {
        return Vec::new();
    }
    let unanswered =
        facts.commands.iter().filter(|command| topic_comment::find(facts, &reply_topic(command)).is_none());
    let answers = unanswered.filter_map(|command| Some((command, choose_reply(facts, plan, command)?)));
    let bot = &facts.snapshot.viewer.login;
    let steps = answers.filter_map(|(command, kind)| {
        let text = render::render_command_response(&CommandResponse { bot, kind });
        let why =
            Reason::new(Rule::Said).with_fact(format!("{} asked in {}", command.by.display_name(), command.source_id));
        topic_comment::ensure(facts, bot, reply_topic(command), text, why)
    });
    plan_glass_audit(facts, plan).into_iter().chain(steps).collect()
}

fn reply_topic(command: &UserCommand<'_>) -> Topic {
    let to = command.source_id.to_owned();
    match command.ask {
        Ask::Pause | Ask::Resume if command.allowed => {
            Topic::PauseSet { to, paused: matches!(command.ask, Ask::Pause) }
        }
        _ => Topic::Said { to },
    }
}

fn choose_reply<'a>(
    facts: &'a Facts<'a>,
    plan: &'a Plan,
    command: &'a UserCommand<'a>,
) -> Option<CommandResponseKind<'a>> {
    if command.edited {
        return is_lost_edit(facts, plan, command).then_some(CommandResponseKind::Edited { ask: command.ask });
    }
    if !command.allowed {
        return explain_denial(facts, command);
    }
    match command.ask {
        Ask::Explain => Some(CommandResponseKind::Explain { plan, facts }),
        Ask::Help => Some(CommandResponseKind::Help),
        Ask::Unknown { verb, nearest, .. } => Some(CommandResponseKind::Unknown { verb, nearest: nearest.as_deref() }),
        Ask::Pause => Some(CommandResponseKind::Paused { by: command.by.display_name() }),
        Ask::Resume => Some(CommandResponseKind::Resumed { by: command.by.display_name() }),
        Ask::Dismiss { findings, .. } | Ask::Reopen { findings } => {
            let names: Vec<&Named> = findings.iter().filter(|named| !is_known_finding(plan, named)).collect();
            (!names.is_empty()).then_some(CommandResponseKind::NoSuchFinding { names })
        }
        Ask::Review
        | Ask::FullReview
        | Ask::DismissOverflow { .. }
        | Ask::Rounds { .. }
        | Ask::Retry
        | Ask::BreakGlass { .. } => None,
    }
}

/// Returns whether a person who may give the command should learn that an edited one has no effect.
fn is_lost_edit(facts: &Facts<'_>, plan: &Plan, command: &UserCommand<'_>) -> bool {
    let names = |named: &[Named], counts: bool| {
        plan.findings.iter().any(|it| it.counts == counts && named.iter().any(|named| named.id == it.id))
    };
    let is_lost = match command.ask {
        Ask::Dismiss { findings, .. } => names(findings, true),
        Ask::Reopen { findings } => names(findings, false),
        Ask::DismissOverflow { .. } | Ask::Rounds { .. } | Ask::Pause | Ask::Resume | Ask::BreakGlass { .. } => {
            facts.snapshot.pull.head_since <= command.at
        }
        Ask::Review | Ask::FullReview | Ask::Retry | Ask::Explain | Ask::Help | Ask::Unknown { .. } => false,
    };
    is_lost && is_permitted(facts.snapshot, facts.policy, command.ask, command.by)
}

fn is_known_finding(plan: &Plan, named: &Named) -> bool {
    plan.findings.iter().any(|it| it.id == named.id && named.role.as_ref().is_none_or(|role| role.as_str() == it.role))
}

/// Replies with who may give the command, but only to the author and to people with write access: strangers cannot make
/// referee post comments.
fn explain_denial<'a>(facts: &Facts<'a>, command: &UserCommand<'a>) -> Option<CommandResponseKind<'a>> {
    let is_author = command.by.login.is_some() && command.by.login == facts.snapshot.pull.author.login;
    if !command.by.may_write() && !is_author {
        return None;
    }
    let policy = facts.policy;
    let who = match command.ask {
        Ask::Unknown { .. } | Ask::Explain | Ask::Help => return None,
        Ask::Dismiss { .. } | Ask::DismissOverflow { .. } => CommandPermission::WritersButAuthor,
        Ask::Rounds { .. } => CommandPermission::Operator(policy.operator.as_ref()),
        Ask::BreakGlass { .. } if policy.break_glass.is_empty() => {
            CommandPermission::Operator(policy.operator.as_ref())
        }
        Ask::BreakGlass { .. } => CommandPermission::GlassBreakers(policy.break_glass.iter().collect()),
        Ask::Review | Ask::FullReview | Ask::Reopen { .. } | Ask::Retry | Ask::Pause | Ask::Resume => {
            CommandPermission::Writers
        }
    };
    Some(CommandResponseKind::NotAllowed { ask: command.ask, permission: who })
}

fn plan_glass_audit(facts: &Facts<'_>, plan: &Plan) -> Option<Step> {
    let glass = facts.break_glass?;
    let topic = Topic::Glass { patch: facts.snapshot.changes.patch.clone() };
    if topic_comment::find(facts, &topic).is_some() {
        return None;
    }
    let (by, head) = (glass.by.display_name(), &facts.snapshot.pull.head);
    let blocking: Vec<FindingId> = plan.findings.iter().filter(|it| it.counts).map(|it| it.id).collect();
    let text = render::render_break_glass_note(&BreakGlassNote { by, reason: glass.reason, head, blocking });
    let why = Reason::new(Rule::BreakGlass).with_fact(format!("by {by} at {}", glass.at));
    topic_comment::ensure(facts, &facts.snapshot.viewer.login, topic, text, why)
}
