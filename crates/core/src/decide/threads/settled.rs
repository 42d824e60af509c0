//! When a finding is settled, and how that is said: by the Block, by our own word in its thread, by resolving it.

use super::JudgedFinding;
use super::thread_reply::{ThreadReply, plan_reply, plan_resolution};
use crate::facts::{Facts, KnownFinding, RoleFacts, may_accept};
use crate::mark::{ReplyKind, TagKind};
use crate::model::{Author, FindingState, Note, Sha, Support, Thread, Time};
use crate::plan::Step;
use crate::rule::Rule;

/// What an earlier turn settled, unless somebody opened it again since.
///
/// Settling is resolving, then saying so. So an open thread without our word is a turn that was cut short, and is
/// settled still; one with our word was opened again by somebody, and is not. After `reopen` only what was written
/// down since settles it: its thread cannot tell.
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
    let said = find_settling_reply(role, thread, None);
    if let Some(resolution) = &thread.resolved {
        let by_us = facts.is_own_author(&resolution.by);
        return before.or(said.filter(|_| by_us));
    }
    let ours_is_last = thread.last().is_some_and(|note| note.author.has_login(role.identity));
    match facts.snapshot.capabilities.resolve {
        Support::Native if thread.can_resolve => before.filter(|_| said.is_none()),
        _ => before.or(said).filter(|_| said.is_none() || ours_is_last),
    }
}

/// Whether a resolution is the fixing side's, by `fix-comments`: an answer, and nobody's acceptance (D10). Where the
/// own identity is the author's, as on a local pull, it is the person.
pub(super) fn is_fixing_side_resolution(facts: &Facts<'_>, by: &Author) -> bool {
    let person = facts.policy.author_may_accept && by.login == facts.snapshot.pull.author.login;
    facts.is_own_author(by) && !person
}

/// The last of our words in a thread that settles it, since somebody said `reopen`.
pub(super) fn find_settling_reply(
    role: &RoleFacts<'_>,
    thread: &Thread,
    reopened: Option<Time>,
) -> Option<FindingState> {
    let since = |at: Time| reopened.is_none_or(|reopened| reopened < at);
    own_replies(role, thread).filter(|(_, _, at)| since(*at)).filter_map(|(what, ..)| what.settled_state()).last()
}

/// Resolves the own thread of a finding that is settled, then says so: where a turn was cut short, what is missing.
/// A thread that a person resolved needs no word of ours. Once a head: where the forge cannot resolve, a program that
/// answers every note would otherwise be answered for ever (LOOP-8).
pub(super) fn plan_closing<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    it: &JudgedFinding<'a>,
    rule: Rule,
) -> Vec<Step> {
    let Some(thread) = it.known.and_then(|known| known.thread) else { return Vec::new() };
    let word = find_settling_reply(role, thread, it.reopened_at);
    let resolution = match &thread.resolved {
        None if !is_settlement_posted(facts, role, thread, it, word) => plan_resolution(facts, role, thread, it, rule),
        Some(resolution) if word.is_none() && facts.is_own_author(&resolution.by) => None,
        _ => return Vec::new(),
    };
    let reply = ThreadReply::from_settled_finding(it, &facts.snapshot.pull.head, role.identity);
    resolution.into_iter().chain(plan_reply(facts, role, thread, reply, rule)).collect()
}

/// Whether an open thread says already that it is settled so: at this head, as its last word, or in a root that can get
/// no reply.
fn is_settlement_posted(
    facts: &Facts<'_>,
    role: &RoleFacts<'_>,
    thread: &Thread,
    it: &JudgedFinding<'_>,
    word: Option<FindingState>,
) -> bool {
    let ours_is_last = thread.last().is_some_and(|note| note.author.has_login(role.identity));
    let head = &facts.snapshot.pull.head;
    let since = |when: Time| it.reopened_at.is_none_or(|reopened| reopened < when);
    let at_head =
        |(what, at, when): (ReplyKind, &Sha, Time)| what.settled_state() == Some(it.state) && at == head && since(when);
    let mute = !thread.can_reply || facts.snapshot.capabilities.reply == Support::Unsupported;
    (word.is_some() && ours_is_last)
        || own_replies(role, thread).any(at_head)
        || (mute && is_root_marked(role, thread, it.state))
}

/// Whether the own root says that it is settled so: where the forge can neither resolve nor reply, that is all.
pub(super) fn is_root_marked(role: &RoleFacts<'_>, thread: &Thread, state: FindingState) -> bool {
    let root =
        thread.root().filter(|root| root.author.has_login(role.identity)).and_then(|root| root.text.trusted_tag());
    root.is_some_and(|tag| matches!(tag.kind, TagKind::Root { settled, .. } if settled == Some(state)))
}

/// What referee said in a thread before, and at which head.
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
    // Most notes are people's, and have no Tag: that is seen sooner than whose they are.
    thread.notes.iter().filter_map(|note| {
        let tag = note.text.trusted_tag()?;
        match &tag.kind {
            TagKind::Reply { what, .. } if note.author.has_login(role.identity) => Some((*what, &tag.head, note.at)),
            _ => None,
        }
    })
}

/// The last note of the thread that is neither ours nor another bot's, and the last of one who has a say in it: what an
/// outsider says after that takes nothing back.
pub(super) fn find_last_person_notes<'a>(facts: &Facts<'a>, known: &KnownFinding<'a>) -> [Option<&'a Note>; 2] {
    let is_person = |note: &&Note| !note.author.bot && !facts.is_own_author(&note.author);
    let has_say = |note: &&Note| {
        note.author.may_write() || may_accept(facts.snapshot, facts.policy, &note.author, known.severity)
    };
    let notes = known.thread.map_or(&[][..], |thread| &thread.notes);
    let mut people = notes.iter().rev().filter(is_person);
    let last = people.next();
    [last, last.into_iter().chain(people).find(has_say)]
}
