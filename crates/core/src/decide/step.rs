//! Steps that more than one rule plans: a comment, a label, an assignment.

use crate::facts::Facts;
use crate::mark::Tag;
use crate::model::{Comment, Login};
use crate::plan::{Action, Draft, Expect, Gate, Reason, Step, Target, Trailer};
use crate::sanitise::SafeText;

/// Writes a comment, or edits the one that is there.
pub(super) fn comment(
    existing: Option<&Comment>,
    target: Target,
    by: &Login,
    tag: Tag,
    words: SafeText,
    reason: Reason,
) -> Step {
    let existing = existing.map(|comment| comment.id.clone());
    let text = Draft { words, trailer: Trailer::Tag(Box::new(tag)) };
    let expect = if target == Target::Pull { Expect::Head } else { Expect::Nothing };
    step(Action::EnsureComment { existing, target, text }, by, Gate::Review, reason, expect)
}

/// Puts a label on.
pub(super) fn label_on(by: &Login, name: &str, reason: Reason) -> Step {
    step(Action::SetLabel { name: name.to_owned(), on: true }, by, Gate::Label, reason, Expect::Head)
}

/// Takes an own label off.
pub(super) fn label_off(by: &Login, name: &str, reason: Reason) -> Step {
    step(Action::SetLabel { name: name.to_owned(), on: false }, by, Gate::Label, reason, Expect::Nothing)
}

/// Assigns somebody, or takes the own assignment back.
pub(super) fn assign(target: Target, by: &Login, who: Option<&Login>, reason: Reason) -> Step {
    step(Action::Assign { target, who: who.cloned() }, by, Gate::Label, reason, Expect::Nothing)
}

/// The fixing side's identity, if this process may speak for it; else the own one.
pub(super) fn worker_identity<'a>(facts: &Facts<'a>) -> &'a Login {
    let user = facts.policy.work.as_ref().map(|work| &work.user).filter(|user| holds(facts, user));
    user.unwrap_or(&facts.snapshot.viewer.login)
}

/// Whether this process has that identity's token.
pub(super) fn holds(facts: &Facts<'_>, login: &Login) -> bool {
    facts.snapshot.viewer.login == *login || facts.snapshot.viewer.holds.contains(login)
}

fn step(action: Action, by: &Login, gate: Gate, reason: Reason, expect: Expect) -> Step {
    Step { action, by: by.clone(), gate, approves: false, reason, expect }
}
