//! Builds the steps of an answer: the reply and the resolution.

use super::answer_context::AnswerContext;
use super::ruling::ResolveMethod;
use crate::mark::{ReplyKind, Tag, TagKind};
use crate::model::{FindingState, Login, NoteId};
use crate::plan::{Action, Gate, Precondition, Reason, Step, TextDraft, Trailer};
use crate::render::reply::{self, FixReply, RenderedReply};

/// Reserved for the Tag, and for the line that is added to a root note.
const TRAILER_RESERVE_BYTES: usize = 400;

/// Plans a reply; also returns why the template could not be used.
pub(super) fn plan_reply(context: &AnswerContext<'_>, answers: &NoteId, reason: Reason) -> (Step, Option<String>) {
    let RenderedReply { text: words, template_error } = reply::render_reply(
        &FixReply {
            class: context.class,
            fix_summary: context.text.fix_summary,
            evidence: context.text.evidence,
            commit: context.reachable_commit(),
            verification: &context.answer.verification,
            reply_body: context.text.reply_body,
            path: context.thread.path.as_deref(),
            line: context.thread.line,
        },
        context.policy.threads.reply_template.as_deref(),
        max_text_bytes(context),
    );
    let kind = TagKind::Reply { what: ReplyKind::Answer, answers: answers.clone() };
    let tag = Tag { kind, head: context.snapshot.pull.head.clone() };
    let text = TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) };
    let action = Action::Reply { thread: context.thread.id.clone(), text };
    (
        build_step(action, context.snapshot.viewer.login.clone(), Gate::Reply, reason, Precondition::Nothing),
        template_error,
    )
}

/// Plans a resolution. Its evidence is of the plan's head, so it is void once the head moves.
pub(super) fn plan_resolution(context: &AnswerContext<'_>, how: ResolveMethod, reason: Reason) -> Step {
    let mark = build_settled_root(context).filter(|_| how == ResolveMethod::RootText);
    let by = mark.as_ref().map_or(&context.snapshot.viewer.login, |(_, by, _)| by).clone();
    let mark = mark.map(|(note, _, text)| (note, text));
    build_step(
        Action::Resolve { thread: context.thread.id.clone(), mark },
        by,
        Gate::Resolve,
        reason,
        Precondition::Head,
    )
}

/// Builds the text of referee's root note with a line that says that it is settled. The Tag keeps the finding's head
/// and says `answered`: only the reviewer can say that a finding is fixed (D9).
fn build_settled_root(context: &AnswerContext<'_>) -> Option<(NoteId, Login, TextDraft)> {
    let (root, by, words) = context.editable_root()?;
    let mut tag = context.own.root_tag(context.thread)?.clone();
    if let TagKind::Root { settled, .. } = &mut tag.kind {
        *settled = Some(FindingState::Answered);
    }
    let words =
        reply::render_root_settled_by_class(words, context.class, context.reachable_commit(), max_text_bytes(context));
    Some((root.id.clone(), by.clone(), TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) }))
}

fn max_text_bytes(context: &AnswerContext<'_>) -> usize {
    context.snapshot.capabilities.max_text.saturating_sub(TRAILER_RESERVE_BYTES)
}

fn build_step(action: Action, by: Login, gate: Gate, reason: Reason, expect: Precondition) -> Step {
    Step { action, by, gate, approves: false, reason, expect }
}
