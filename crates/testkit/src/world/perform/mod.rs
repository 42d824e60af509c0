//! The behaviour of a correct adapter on top of the forge's rules: actions are idempotent, and texts of others are never
//! edited.

mod comments;
mod metadata;
mod reviews;

use referee_core::hash::Hash;
use referee_core::model::{Login, PullNumber};
use referee_core::plan::{Action, Precondition};
use referee_forge::{ForgeError, PerformOutcome};

use super::effect::EffectKind;
use super::rows::StoredReview;
use super::state::WorldState;

impl WorldState {
    pub(crate) fn perform(
        &mut self,
        pull: PullNumber,
        by: &Login,
        action: &Action<String>,
        expect: &Precondition,
    ) -> Result<PerformOutcome, ForgeError> {
        let ctx = ActionContext { pull, by };
        if self.is_interrupted() && !matches!(action, Action::PostReview { .. } | Action::OpenThreads { .. }) {
            return Err(ForgeError::OutcomeUnknown);
        }
        self.check_expectation(&ctx, action, expect)?;
        self.check_text_length(action)?;
        match action {
            Action::PostReview { role: _, verdict, commit, text, threads } => {
                self.post_review(&ctx, *verdict, commit, text, threads)
            }
            Action::EditReview { review, edit, text } => {
                let effect = EffectKind::ReviewEdited { review: review.clone(), text: text.clone() };
                self.edit_review(&ctx, review, edit, text, effect)
            }
            Action::Supersede { review, edit, text, .. } => {
                let effect = EffectKind::ReviewSuperseded { review: review.clone(), text: text.clone() };
                self.edit_review(&ctx, review, edit, text, effect)
            }
            Action::OpenThreads { role: _, commit, threads } => self.open_threads(&ctx, commit, threads),
            Action::Reply { thread, text } => self.reply(&ctx, thread, text),
            Action::Resolve { thread, mark } => self.resolve(&ctx, thread, mark.as_ref()),
            Action::EnsureComment { existing, target, text } => {
                self.ensure_comment(&ctx, existing.as_ref(), *target, text)
            }
            Action::SetLabel { name, on } => self.set_label(&ctx, name, *on),
            Action::Assign { target, who } => self.assign(&ctx, *target, who.as_ref()),
            Action::SetStatus { commit, context, state, text } => {
                self.set_status(&ctx, commit, context, *state, text.as_str())
            }
        }
    }

    /// Refuses a text that is longer than the forge allows.
    fn check_text_length(&self, action: &Action<String>) -> Result<(), ForgeError> {
        let mut longest = 0;
        action.map_text(|text| longest = longest.max(text.len()));
        match longest > self.repo.quirks.max_text {
            true => Err(ForgeError::Refused("the text is too long".to_owned())),
            false => Ok(()),
        }
    }

    fn check_expectation(
        &self,
        ctx: &ActionContext<'_>,
        action: &Action<String>,
        expect: &Precondition,
    ) -> Result<(), ForgeError> {
        let pull = self.readable_repo().pull(ctx.pull)?;
        match (expect, action) {
            (Precondition::Head, Action::PostReview { commit, .. } | Action::OpenThreads { commit, .. })
                if pull.head != *commit =>
            {
                Err(ForgeError::Conflict("the head".to_owned()))
            }
            (Precondition::OwnText { edit, seen }, _) => {
                match pull.reviews.iter().find(|review| review.edit == *edit) {
                    Some(review) => check_unchanged(ctx, action, review, seen),
                    None => Ok(()),
                }
            }
            (Precondition::Nothing | Precondition::Head, _) => Ok(()),
        }
    }
}

/// The pull and the acting login.
struct ActionContext<'a> {
    pull: PullNumber,
    by: &'a Login,
}

fn check_own(by: &Login, author: &Login) -> Result<(), ForgeError> {
    if by == author { Ok(()) } else { Err(ForgeError::Forbidden("edit a text of another user".to_owned())) }
}

/// Checks that the text is our own and unchanged since it was read, or that it already has the new content.
fn check_unchanged(
    ctx: &ActionContext<'_>,
    action: &Action<String>,
    review: &StoredReview,
    seen: &Hash,
) -> Result<(), ForgeError> {
    check_own(ctx.by, &review.author)?;
    let already_so = match action {
        Action::EditReview { text, .. } | Action::Supersede { text, .. } => review.text.body_or_empty() == text,
        _ => false,
    };
    if already_so || review.text.hash == *seen { Ok(()) } else { Err(ForgeError::Conflict("the text".to_owned())) }
}
