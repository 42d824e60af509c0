//! What a good adapter makes of the forge's rules: doing twice is doing once, and nobody else's words are touched.

mod desk;
mod reviews;
mod talk;

use referee_core::hash::Hash;
use referee_core::model::{Login, PullNumber};
use referee_core::plan::{Action, Expect};
use referee_forge::{ForgeError, Performed};

use super::effect::What;
use super::rows::StoredReview;
use super::state::State;

impl State {
    pub(crate) fn perform(
        &mut self,
        pull: PullNumber,
        by: &Login,
        action: &Action<String>,
        expect: &Expect,
    ) -> Result<Performed, ForgeError> {
        let doing = Doing { pull, by };
        if self.torn() && !matches!(action, Action::PostReview { .. } | Action::OpenThreads { .. }) {
            return Err(ForgeError::Unknown);
        }
        self.expects(&doing, action, expect)?;
        self.takes(action)?;
        match action {
            Action::PostReview { role: _, verdict, commit, text, threads } => {
                self.post_review(&doing, *verdict, commit, text, threads)
            }
            Action::EditReview { review, edit, text } => {
                let what = What::Edited { review: review.clone(), text: text.clone() };
                self.edit_review(&doing, review, edit, text, what)
            }
            Action::Supersede { review, edit, text } => {
                let what = What::Superseded { review: review.clone(), text: text.clone() };
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
    fn takes(&self, action: &Action<String>) -> Result<(), ForgeError> {
        let mut longest = 0;
        action.map(|text| longest = longest.max(text.len()));
        match longest > self.repo.quirks.max_text {
            true => Err(ForgeError::Refused("the text is too long".to_owned())),
            false => Ok(()),
        }
    }

    fn expects(&self, doing: &Doing<'_>, action: &Action<String>, expect: &Expect) -> Result<(), ForgeError> {
        let pull = self.seen().pull(doing.pull)?;
        match (expect, action) {
            (Expect::Head, Action::PostReview { commit, .. } | Action::OpenThreads { commit, .. })
                if pull.head != *commit =>
            {
                Err(ForgeError::Moved("the head".to_owned()))
            }
            (Expect::OwnText { edit, seen }, _) => match pull.reviews.iter().find(|review| review.edit == *edit) {
                Some(review) => unchanged(doing, action, review, seen),
                None => Ok(()),
            },
            (Expect::Nothing | Expect::Head, _) => Ok(()),
        }
    }
}

/// Who acts, and on what.
struct Doing<'a> {
    pull: PullNumber,
    by: &'a Login,
}

fn own(by: &Login, author: &Login) -> Result<(), ForgeError> {
    if by == author { Ok(()) } else { Err(ForgeError::Forbidden("edit what somebody else wrote".to_owned())) }
}

/// The text is ours, and still the one that was read; or it says already what it is to say.
fn unchanged(doing: &Doing<'_>, action: &Action<String>, review: &StoredReview, seen: &Hash) -> Result<(), ForgeError> {
    own(doing.by, &review.author)?;
    let said = match action {
        Action::EditReview { text, .. } | Action::Supersede { text, .. } => review.text.words() == text,
        _ => false,
    };
    if said || review.text.hash == *seen { Ok(()) } else { Err(ForgeError::Moved("the text".to_owned())) }
}
