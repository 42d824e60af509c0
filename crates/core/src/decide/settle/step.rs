//! The steps themselves: who does what, with which words.

use super::case::Case;
use super::class::How;
use crate::mark::{ReplyKind, Tag, TagKind};
use crate::model::{FindingState, Login, NoteId};
use crate::plan::{Action, Draft, Expect, Gate, Reason, Step, Trailer};
use crate::render::reply::{self, Reply, Worded};

/// Room for the hidden part of a text, and for the line that is added to a root.
const ROOM: usize = 400;

/// A reply, and why its words are not the template's.
pub(super) fn reply(case: &Case<'_>, answers: &NoteId, reason: Reason) -> (Step, Option<String>) {
    let Worded { words, broken } = reply::reply(
        &Reply {
            class: case.class,
            fix_summary: case.said.fix_summary,
            evidence: case.said.evidence,
            commit: case.commit(),
            verification: &case.answer.verification,
            reply_body: case.said.reply_body,
            path: case.thread.path.as_deref(),
            line: case.thread.line,
        },
        case.policy.threads.reply_template.as_deref(),
        room(case),
    );
    let kind = TagKind::Reply { what: ReplyKind::Answer, answers: answers.clone() };
    let tag = Tag { kind, head: case.snapshot.pull.head.clone() };
    let text = Draft { words, trailer: Trailer::Tag(Box::new(tag)) };
    let action = Action::Reply { thread: case.thread.id.clone(), text };
    (step(action, case.snapshot.viewer.login.clone(), Gate::Reply, reason, Expect::Nothing), broken)
}

/// A resolution. Its evidence is of the plan's head, so a moved head needs a new plan.
pub(super) fn resolve(case: &Case<'_>, how: How, reason: Reason) -> Step {
    let mark = mark(case).filter(|_| how == How::InText);
    let by = mark.as_ref().map_or(&case.snapshot.viewer.login, |(_, by, _)| by).clone();
    let mark = mark.map(|(note, _, text)| (note, text));
    step(Action::Resolve { thread: case.thread.id.clone(), mark }, by, Gate::Resolve, reason, Expect::Head)
}

/// The own root with a line that says that it is settled. Its Tag keeps the finding's head, and says no more than
/// that the fixing side answered: whether the finding is fixed is the reviewer's word (D9).
fn mark(case: &Case<'_>) -> Option<(NoteId, Login, Draft)> {
    let (root, by, words) = case.markable()?;
    let mut tag = case.own.root_tag(case.thread)?.clone();
    if let TagKind::Root { settled, .. } = &mut tag.kind {
        *settled = Some(FindingState::Answered);
    }
    let words = reply::settled(words, case.class, case.commit(), room(case));
    Some((root.id.clone(), by.clone(), Draft { words, trailer: Trailer::Tag(Box::new(tag)) }))
}

fn room(case: &Case<'_>) -> usize {
    case.snapshot.capabilities.max_text.saturating_sub(ROOM)
}

fn step(action: Action, by: Login, gate: Gate, reason: Reason, expect: Expect) -> Step {
    Step { action, by, gate, approves: false, reason, expect }
}
