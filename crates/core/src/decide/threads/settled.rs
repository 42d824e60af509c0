//! Decides whether a finding is settled, and plans the steps that say so: Block, reply in the thread, resolution.

use super::JudgedFinding;
use super::thread_reply::{ThreadClosing, ThreadReply, plan_reply, plan_resolution};
use crate::facts::{Facts, KnownFinding, RoleFacts, may_accept};
use crate::mark::{ReplyKind, TagKind};
use crate::model::{Author, FindingState, Note, Severity, Sha, Support, Thread, Time};
use crate::plan::Step;
use crate::rule::Rule;

/// Returns the state in which an earlier turn settled a finding, unless somebody reopened it since.
///
/// A turn first resolves the thread, then replies. An open thread without the reply is from a turn that was
/// interrupted: the finding is settled. An open thread with the reply was reopened by somebody: it is not. After
/// `reopen`, only state that was written later counts, because the thread alone cannot show the order.
pub(super) fn find_settled_state(
    facts: &Facts<'_>,
    role: &RoleFacts<'_>,
    known: &KnownFinding<'_>,
    reopened: Option<Time>,
) -> Option<FindingState> {
    let before = known.state.is_settled().then_some(known.state);
    if reopened.is_some() {
        return before.filter(|_| known.reopened_at == reopened);
    }
    let Some(thread) = known.thread else { return before };
    let replied = find_settling_reply(role, thread, None);
    if let Some(resolution) = &thread.resolved {
        let by_us = facts.is_own_author(&resolution.by);
        return before.or(replied.filter(|_| by_us));
    }
    let replied_last = thread.last().is_some_and(|note| note.author.has_login(role.identity));
    match facts.snapshot.capabilities.resolve {
        Support::Native if thread.can_resolve => before.filter(|_| replied.is_none()),
        _ => before.or(replied).filter(|_| replied.is_none() || replied_last),
    }
}

/// Returns whether the fixing side resolved the thread with `fix-comments`: that is an answer, not an acceptance (D10).
/// On a local pull referee and the author share an identity; there the person resolved it.
pub(super) fn is_fixing_side_resolution(facts: &Facts<'_>, by: &Author) -> bool {
    let person = facts.policy.author_may_accept && by.login == facts.snapshot.pull.author.login;
    facts.is_own_author(by) && !person
}

/// Returns the state of referee's last settling reply in a thread since `reopen`.
pub(super) fn find_settling_reply(
    role: &RoleFacts<'_>,
    thread: &Thread,
    reopened: Option<Time>,
) -> Option<FindingState> {
    let since = |at: Time| reopened.is_none_or(|reopened| reopened < at);
    own_replies(role, thread).filter(|(_, _, at)| since(*at)).filter_map(|(what, ..)| what.settled_state()).last()
}

/// Plans the resolution of a settled finding's thread and the reply, or what an interrupted turn left out. A thread
/// that a person resolved gets no reply, unless that accepted a critical finding. At most once per head: where the forge cannot resolve, a bot that answers
/// every note would otherwise be answered forever (LOOP-8).
pub(super) fn plan_closing<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &JudgedFinding<'a>,
    rule: Rule,
) -> Vec<Step> {
    let Some(thread) = it.known.and_then(|known| known.thread) else { return Vec::new() };
    let replied = find_settling_reply(role, thread, it.reopened_at);
    let resolution = match &thread.resolved {
        None if !is_settlement_posted(facts, role, thread, it, replied) => {
            plan_resolution(facts, role, thread, &ThreadClosing::from_finding(it), rule)
        }
        Some(resolution) if replied.is_none() && (facts.is_own_author(&resolution.by) || is_accepted_critical(it)) => {
            None
        }
        _ => return Vec::new(),
    };
    let reply = ThreadReply::from_settled_finding(it, &facts.snapshot.pull.head, role.identity);
    resolution.into_iter().chain(plan_reply(facts, role, thread, reply, rule)).collect()
}

/// Returns whether the acceptance must be confirmed in the thread, so that a person whose account was used learns of it
/// (D39).
fn is_accepted_critical(it: &JudgedFinding<'_>) -> bool {
    it.severity == Severity::Critical && it.state == FindingState::Accepted && it.accepted_by.is_some()
}

/// Returns whether an open thread already says that the finding is settled: at this head, as its last note, or in a
/// root note that cannot get replies.
fn is_settlement_posted(
    facts: &Facts<'_>,
    role: &RoleFacts<'_>,
    thread: &Thread,
    it: &JudgedFinding<'_>,
    replied: Option<FindingState>,
) -> bool {
    let replied_last = thread.last().is_some_and(|note| note.author.has_login(role.identity));
    let head = &facts.snapshot.pull.head;
    let since = |when: Time| it.reopened_at.is_none_or(|reopened| reopened < when);
    let at_head =
        |(what, at, when): (ReplyKind, &Sha, Time)| what.settled_state() == Some(it.state) && at == head && since(when);
    let cannot_reply = !thread.can_reply || facts.snapshot.capabilities.reply == Support::Unsupported;
    (replied.is_some() && replied_last)
        || own_replies(role, thread).any(at_head)
        || (cannot_reply && is_root_marked(role, thread, it.state))
}

/// Returns whether referee's root note is marked as settled. Where the forge can neither resolve nor reply, that is the
///  only sign.
pub(super) fn is_root_marked(role: &RoleFacts<'_>, thread: &Thread, state: FindingState) -> bool {
    let root =
        thread.root().filter(|root| root.author.has_login(role.identity)).and_then(|root| root.text.trusted_tag());
    root.is_some_and(|tag| matches!(tag.kind, TagKind::Root { settled, .. } if settled == Some(state)))
}

/// Returns the kinds of referee's replies in a thread, with their heads.
pub(super) fn own_reply_kinds<'a>(
    role: &'a RoleFacts<'a>,
    thread: &'a Thread,
) -> impl Iterator<Item = (ReplyKind, &'a Sha)> {
    own_replies(role, thread).map(|(what, head, _)| (what, head))
}

pub(super) fn own_replies<'a>(
    role: &'a RoleFacts<'a>,
    thread: &'a Thread,
) -> impl Iterator<Item = (ReplyKind, &'a Sha, Time)> {
    // The Tag first: most notes are people's and have none.
    thread.notes.iter().filter_map(|note| {
        let tag = note.text.trusted_tag()?;
        match &tag.kind {
            TagKind::Reply { what, .. } if note.author.has_login(role.identity) => Some((*what, &tag.head, note.at)),
            _ => None,
        }
    })
}

/// Returns the last note of a person in the thread, and the last note of a person with write access or the right to
/// accept: what others write afterwards does not revoke it.
pub(super) fn find_last_person_notes<'a>(facts: &Facts<'a>, known: &KnownFinding<'a>) -> [Option<&'a Note>; 2] {
    let is_person = |note: &&Note| !note.author.bot && !facts.is_own_author(&note.author);
    let is_decisive = |note: &&Note| {
        note.author.may_write() || may_accept(facts.snapshot, facts.policy, &note.author, known.severity)
    };
    let notes = known.thread.map_or(&[][..], |thread| &thread.notes);
    let mut people = notes.iter().rev().filter(is_person);
    let last = people.next();
    [last, last.into_iter().chain(people).find(is_decisive)]
}
