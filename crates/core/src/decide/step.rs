//! Steps that more than one rule plans: a comment, a label, an assignment.

use crate::facts::Facts;
use crate::mark::Tag;
use crate::model::{Comment, Login};
use crate::plan::{Action, CommentTarget, Gate, Precondition, Reason, Step, TextDraft, Trailer};
use crate::sanitise::SafeText;

/// Plans a new comment, or the edit of an existing one.
pub(super) fn plan_comment(
    existing: Option<&Comment>,
    target: CommentTarget,
    by: &Login,
    tag: Tag,
    words: SafeText,
    reason: Reason,
) -> Step {
    let existing = existing.map(|comment| comment.id.clone());
    let text = TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) };
    let expect = if target == CommentTarget::Pull { Precondition::Head } else { Precondition::Nothing };
    build_step(Action::EnsureComment { existing, target, text }, by, Gate::Review, reason, expect)
}

pub(super) fn plan_add_label(by: &Login, name: &str, reason: Reason) -> Step {
    build_step(Action::SetLabel { name: name.to_owned(), on: true }, by, Gate::Label, reason, Precondition::Head)
}

/// Plans the removal of a label that referee set.
pub(super) fn plan_remove_label(by: &Login, name: &str, reason: Reason) -> Step {
    build_step(Action::SetLabel { name: name.to_owned(), on: false }, by, Gate::Label, reason, Precondition::Nothing)
}

/// Plans an assignment; `who: None` removes the worker's own assignment.
pub(super) fn plan_assignment(target: CommentTarget, by: &Login, who: Option<&Login>, reason: Reason) -> Step {
    build_step(Action::Assign { target, who: who.cloned() }, by, Gate::Label, reason, Precondition::Nothing)
}

/// Returns the fixing side's identity if this process has its token, otherwise the viewer.
pub(super) fn worker_identity<'a>(facts: &Facts<'a>) -> &'a Login {
    let user = facts.policy.work.as_ref().map(|work| &work.user).filter(|user| holds_token(facts, user));
    user.unwrap_or(&facts.snapshot.viewer.login)
}

/// Returns whether this process has a token of that identity.
pub(super) fn holds_token(facts: &Facts<'_>, login: &Login) -> bool {
    facts.snapshot.viewer.login == *login || facts.snapshot.viewer.holds.contains(login)
}

fn build_step(action: Action, by: &Login, gate: Gate, reason: Reason, expect: Precondition) -> Step {
    Step { action, by: by.clone(), gate, approves: false, reason, expect }
}
