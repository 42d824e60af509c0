//! What a good adapter makes of the forge's rules: doing twice is doing once, and nobody else's words are touched.

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
        let doing = ActionContext { pull, by };
        if self.is_interrupted() && !matches!(action, Action::PostReview { .. } | Action::OpenThreads { .. }) {
            return Err(ForgeError::OutcomeUnknown);
        }
        self.check_expectation(&doing, action, expect)?;
        self.check_text_length(action)?;
        match action {
            Action::PostReview { role: _, verdict, commit, text, threads } => {
                self.post_review(&doing, *verdict, commit, text, threads)
            }
            Action::EditReview { review, edit, text } => {
                let what = EffectKind::ReviewEdited { review: review.clone(), text: text.clone() };
                self.edit_review(&doing, review, edit, text, what)
            }
            Action::Supersede { review, edit, text } => {
                let what = EffectKind::ReviewSuperseded { review: review.clone(), text: text.clone() };
                self.edit_review(&doing, review, edit, text, what)
            }
            Action::OpenThreads { role: _, commit, threads } => self.open_threads(&doing, commit, threads),
            Action::Reply { thread, text } => self.reply(&doing, thread, text),
            Action::Resolve { thread, mark } => self.resolve(&doing, thread, mark.as_ref()),
            Action::EnsureComment { existing, target, text } => {
                self.ensure_comment(&doing, existing.as_ref(), *target, text)
            }
            Action::SetLabel { name, on } => self.set_label(&doing, name, *on),
            Action::Assign { target, who } => self.assign(&doing, *target, who.as_ref()),
            Action::SetStatus { commit, context, state, text } => {
                self.set_status(&doing, commit, context, *state, text.as_str())
            }
        }
    }

    /// No text is longer than the forge takes.
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
        doing: &ActionContext<'_>,
        action: &Action<String>,
        expect: &Precondition,
    ) -> Result<(), ForgeError> {
        let pull = self.readable_repo().pull(doing.pull)?;
        match (expect, action) {
            (Precondition::Head, Action::PostReview { commit, .. } | Action::OpenThreads { commit, .. })
                if pull.head != *commit =>
            {
                Err(ForgeError::Conflict("the head".to_owned()))
            }
            (Precondition::OwnText { edit, seen }, _) => {
                match pull.reviews.iter().find(|review| review.edit == *edit) {
                    Some(review) => check_unchanged(doing, action, review, seen),
                    None => Ok(()),
                }
            }
            (Precondition::Nothing | Precondition::Head, _) => Ok(()),
        }
    }
}

/// Who acts, and on what.
struct ActionContext<'a> {
    pull: PullNumber,
    by: &'a Login,
}

fn check_own(by: &Login, author: &Login) -> Result<(), ForgeError> {
    if by == author { Ok(()) } else { Err(ForgeError::Forbidden("edit what somebody else wrote".to_owned())) }
}

/// The text is ours, and still the one that was read; or it says already what it is to say.
fn check_unchanged(
    doing: &ActionContext<'_>,
    action: &Action<String>,
    review: &StoredReview,
    seen: &Hash,
) -> Result<(), ForgeError> {
    check_own(doing.by, &review.author)?;
    let said = match action {
        Action::EditReview { text, .. } | Action::Supersede { text, .. } => review.text.body_or_empty() == text,
        _ => false,
    };
    if said || review.text.hash == *seen { Ok(()) } else { Err(ForgeError::Conflict("the text".to_owned())) }
}
