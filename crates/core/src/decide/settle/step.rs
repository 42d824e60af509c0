//! The steps themselves: who does what, with which words.

use super::answer_context::AnswerContext;
use super::ruling::ResolveMethod;
use crate::mark::{ReplyKind, Tag, TagKind};
use crate::model::{FindingState, Login, NoteId};
use crate::plan::{Action, Gate, Precondition, Reason, Step, TextDraft, Trailer};
use crate::render::reply::{self, FixReply, RenderedReply};

/// Room for the hidden part of a text, and for the line that is added to a root.
const TRAILER_RESERVE_BYTES: usize = 400;

/// A reply, and why its words are not the template's.
pub(super) fn plan_reply(case: &AnswerContext<'_>, answers: &NoteId, reason: Reason) -> (Step, Option<String>) {
    let RenderedReply { text: words, template_error: broken } = reply::render_reply(
        &FixReply {
            class: case.class,
            fix_summary: case.text.fix_summary,
            evidence: case.text.evidence,
            commit: case.reachable_commit(),
            verification: &case.answer.verification,
            reply_body: case.text.reply_body,
            path: case.thread.path.as_deref(),
            line: case.thread.line,
        },
        case.policy.threads.reply_template.as_deref(),
        max_text_bytes(case),
    );
    let kind = TagKind::Reply { what: ReplyKind::Answer, answers: answers.clone() };
    let tag = Tag { kind, head: case.snapshot.pull.head.clone() };
    let text = TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) };
    let action = Action::Reply { thread: case.thread.id.clone(), text };
    (build_step(action, case.snapshot.viewer.login.clone(), Gate::Reply, reason, Precondition::Nothing), broken)
}

/// A resolution. Its evidence is of the plan's head, so a moved head needs a new plan.
pub(super) fn plan_resolution(case: &AnswerContext<'_>, how: ResolveMethod, reason: Reason) -> Step {
    let mark = build_settled_root(case).filter(|_| how == ResolveMethod::RootText);
    let by = mark.as_ref().map_or(&case.snapshot.viewer.login, |(_, by, _)| by).clone();
    let mark = mark.map(|(note, _, text)| (note, text));
    build_step(Action::Resolve { thread: case.thread.id.clone(), mark }, by, Gate::Resolve, reason, Precondition::Head)
}

/// The own root with a line that says that it is settled. Its Tag keeps the finding's head, and says no more than
/// that the fixing side answered: whether the finding is fixed is the reviewer's word (D9).
fn build_settled_root(case: &AnswerContext<'_>) -> Option<(NoteId, Login, TextDraft)> {
    let (root, by, words) = case.editable_root()?;
    let mut tag = case.own.root_tag(case.thread)?.clone();
    if let TagKind::Root { settled, .. } = &mut tag.kind {
        *settled = Some(FindingState::Answered);
    }
    let words = reply::render_root_settled_by_class(words, case.class, case.reachable_commit(), max_text_bytes(case));
    Some((root.id.clone(), by.clone(), TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) }))
}

fn max_text_bytes(case: &AnswerContext<'_>) -> usize {
    case.snapshot.capabilities.max_text.saturating_sub(TRAILER_RESERVE_BYTES)
}

fn build_step(action: Action, by: Login, gate: Gate, reason: Reason, expect: Precondition) -> Step {
    Step { action, by, gate, approves: false, reason, expect }
}
