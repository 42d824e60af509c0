//! Reviews with inline comments as the forge stores them: its own rules, the surprising ones included. What an
//! adapter makes of them is `perform`'s business.

use referee_core::model::{
    EditId, Login, NoteId, PullNumber, PullState, ReviewId, ReviewKind, Sha, Text, ThreadId, Verdict,
};
use referee_core::plan::DiffLocation;
use referee_core::track::Side;
use referee_forge::ForgeError;

use super::commits::nth_line;
use super::quirks::BadLines;
use super::rows::{StoredNote, StoredRepo, StoredReview, StoredThread};

/// A review on its way.
pub(crate) struct NewReview<'a> {
    pub(crate) by: &'a Login,
    pub(crate) row: ReviewKind,
    pub(crate) commit: &'a Sha,
    pub(crate) text: &'a str,
    pub(crate) inline: &'a [NewInlineComment],
    /// The sender is gone after half of the inline comments.
    pub(crate) interrupted: bool,
}

/// An inline comment on its way.
#[derive(Clone, Debug)]
pub(crate) struct NewInlineComment {
    pub(crate) place: DiffLocation,
    pub(crate) text: String,
}

/// A review that was stored.
pub(crate) struct PostedReview {
    /// `None` for bare threads on a forge that needs no review around them.
    pub(crate) review: Option<ReviewId>,
    pub(crate) threads: Vec<ThreadId>,
}

/// A review that was not stored, and what is left of it.
pub(crate) struct FailedPost {
    pub(crate) error: ForgeError,
    pub(crate) leftover_draft: Option<ReviewId>,
}

impl From<ForgeError> for FailedPost {
    fn from(error: ForgeError) -> Self {
        Self { error, leftover_draft: None }
    }
}

impl StoredRepo {
    /// Stores a review with its inline comments, or what the forge stores of it.
    pub(crate) fn post_review(&mut self, number: PullNumber, post: &NewReview<'_>) -> Result<PostedReview, FailedPost> {
        self.check_review(number, post)?;
        let bad = post.inline.iter().position(|inline| !self.is_storable(number, post.commit, &inline.place));
        if !self.quirks.inline_one_by_one {
            if post.interrupted {
                return Err(ForgeError::OutcomeUnknown.into());
            }
            if let Some(inline) = bad.and_then(|index| post.inline.get(index)) {
                let place = format!("`{}` has no such line", inline.place.path);
                return Err(ForgeError::Refused(place).into());
            }
        }
        let draft = self.quirks.draft_adopted.then(|| self.pull(number).ok()?.draft_by(post.by)).flatten();
        let adopted = draft.map(|draft| draft.id.clone());
        let bare = post.row == ReviewKind::Wrapper && !self.quirks.threads_wrapped && adopted.is_none();
        let half = post.interrupted.then(|| post.inline.len().div_ceil(2));
        if let Some(stored) = half.into_iter().chain(bad).min() {
            if stored == 0 {
                return Err(ForgeError::OutcomeUnknown.into());
            }
            let draft = self.store_review_row(number, post, adopted, ReviewKind::Draft)?;
            self.store_inline_comments(number, post, Some(&draft), post.inline.get(..stored).unwrap_or_default())?;
            return Err(FailedPost { error: ForgeError::OutcomeUnknown, leftover_draft: Some(draft) });
        }
        let review = if bare { None } else { Some(self.store_review_row(number, post, adopted, post.row)?) };
        let threads = self.store_inline_comments(number, post, review.as_ref(), post.inline)?;
        if post.row == ReviewKind::Draft {
            return Ok(PostedReview { review, threads });
        }
        self.replace_older_reviews(number, post)?;
        if let Some(review) = review.as_ref().filter(|_| self.quirks.posts_swap_comments && !post.inline.is_empty()) {
            self.swap_inline_comments(number, post.by, review)?;
        }
        Ok(PostedReview { review, threads })
    }

    fn check_review(&self, number: PullNumber, post: &NewReview<'_>) -> Result<(), ForgeError> {
        let pull = self.pull(number)?;
        let refused = |why: &str| Err(ForgeError::Refused(why.to_owned()));
        if matches!(post.row, ReviewKind::Verdict(Verdict::Approve | Verdict::RequestChanges)) {
            if self.quirks.no_verdicts {
                return Err(ForgeError::Unsupported("give a verdict".to_owned()));
            }
            if self.quirks.no_verdict_on_own_pull && pull.author == *post.by {
                return refused("nobody gives a verdict on a pull of their own");
            }
            if self.quirks.no_verdict_on_closed && pull.state != PullState::Open {
                return refused("the pull is closed");
            }
        }
        if !self.commits.contains_key(post.commit) {
            return refused("there is no such commit");
        }
        Ok(())
    }

    fn is_storable(&self, number: PullNumber, commit: &Sha, place: &DiffLocation) -> bool {
        let stored = match (self.quirks.bad_lines, place.side, place.line) {
            (BadLines::PastEnd, Side::New, Some(line)) => {
                self.text_at(commit, &place.path).is_none_or(|text| line == 0 || nth_line(&text, line).is_some())
            }
            (BadLines::None | BadLines::PastEnd, ..) => true,
            (BadLines::All, ..) => {
                let pull = self.pull(number);
                return pull.is_ok_and(|pull| self.is_commentable(pull, commit, &place.path, place.line, place.side));
            }
        };
        // No forge follows a path out of the repository.
        stored && place.path.split('/').all(|name| name != "..")
    }

    /// The row of a post: the adopted draft's, or a new one.
    pub(crate) fn store_review_row(
        &mut self,
        number: PullNumber,
        post: &NewReview<'_>,
        adopted: Option<ReviewId>,
        row: ReviewKind,
    ) -> Result<ReviewId, ForgeError> {
        let (id, edit) = match adopted {
            Some(id) => {
                let edit = self.pull(number)?.review(&id)?.edit.clone();
                (id, edit)
            }
            None => (self.next_review_id(), EditId(self.next_text_id())),
        };
        // What breaks off keeps no words; a draft that was meant keeps them.
        let text = if row == post.row { post.text } else { "" };
        let official = self.may_write(post.by) && self.pull(number)?.author != *post.by;
        let at = self.now;
        let pull = self.pull_mut(number)?;
        pull.reviews.retain(|review| review.id != id);
        pull.reviews.push(StoredReview {
            id: id.clone(),
            edit,
            author: post.by.clone(),
            row,
            original: text.to_owned(),
            text: Text::from_body(text),
            commit: post.commit.clone(),
            at,
            updated: at,
            official,
            replaced: false,
            flagged_dismissed: false,
            requested: false,
            dismissed: None,
            stale: None,
        });
        Ok(id)
    }

    pub(crate) fn store_inline_comments(
        &mut self,
        number: PullNumber,
        post: &NewReview<'_>,
        review: Option<&ReviewId>,
        inline: &[NewInlineComment],
    ) -> Result<Vec<ThreadId>, ForgeError> {
        let mut made = Vec::new();
        for NewInlineComment { place, text } in inline {
            let root = self.new_note(post.by, text);
            let id = ThreadId(root.id.0.clone());
            let DiffLocation { path, line, start_line, side } = place.clone();
            self.pull_mut(number)?.threads.push(StoredThread {
                id: id.clone(),
                review: review.cloned(),
                path,
                line,
                start_line,
                side,
                commit: post.commit.clone(),
                notes: vec![root],
                resolved: None,
            });
            made.push(id);
        }
        Ok(made)
    }

    /// What a stored review does to the others of its author.
    fn replace_older_reviews(&mut self, number: PullNumber, post: &NewReview<'_>) -> Result<(), ForgeError> {
        let replaces = self.quirks.newest_verdict_only
            && matches!(post.row, ReviewKind::Verdict(Verdict::Approve | Verdict::RequestChanges));
        let pull = self.pull_mut(number)?;
        pull.requests.retain(|(_, request)| request.of != *post.by);
        if replaces {
            let mut own = pull.reviews.iter_mut().rev().filter(|review| review.author == *post.by);
            own.next();
            own.for_each(|older| {
                older.replaced = true;
                older.flagged_dismissed |= post.inline.is_empty();
            });
        }
        Ok(())
    }

    fn swap_inline_comments(&mut self, number: PullNumber, by: &Login, review: &ReviewId) -> Result<(), ForgeError> {
        let pull = self.pull_mut(number)?;
        let Some(waiting) = pull.unpaired_posts.iter().position(|(login, _)| login == by) else {
            pull.unpaired_posts.push((by.clone(), review.clone()));
            return Ok(());
        };
        let (_, other) = pull.unpaired_posts.remove(waiting);
        for thread in &mut pull.threads {
            if thread.review.as_ref() == Some(review) {
                thread.review = Some(other.clone());
            } else if thread.review.as_ref() == Some(&other) {
                thread.review = Some(review.clone());
            }
        }
        Ok(())
    }

    pub(crate) fn new_note(&mut self, by: &Login, text: &str) -> StoredNote {
        let (author, at) = (by.clone(), self.now);
        StoredNote {
            id: NoteId(self.next_text_id()),
            author,
            at,
            updated: at,
            edited: false,
            text: Text::from_body(text),
        }
    }
}
