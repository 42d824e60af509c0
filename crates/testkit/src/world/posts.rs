//! Reviews with inline comments as the forge stores them, with the quirks of real forges. `perform` builds the adapter's
//! behaviour on top.

use referee_core::model::{
    EditId, Login, NoteId, PullNumber, PullState, ReviewId, ReviewKind, Sha, Text, ThreadId, Verdict,
};
use referee_core::plan::DiffLocation;
use referee_core::track::Side;
use referee_forge::ForgeError;

use super::commits::nth_line;
use super::quirks::BadLines;
use super::rows::{StoredNote, StoredRepo, StoredReview, StoredThread};

/// A review to store.
pub(crate) struct NewReview<'a> {
    pub(crate) by: &'a Login,
    pub(crate) row: ReviewKind,
    pub(crate) commit: &'a Sha,
    pub(crate) text: &'a str,
    pub(crate) inline: &'a [NewInlineComment],
    /// The client crashes after half of the inline comments.
    pub(crate) interrupted: bool,
}

/// An inline comment to store.
#[derive(Clone, Debug)]
pub(crate) struct NewInlineComment {
    pub(crate) place: DiffLocation,
    pub(crate) text: String,
}

/// A stored review.
pub(crate) struct PostedReview {
    /// `None` for threads on a forge that stores them without a review.
    pub(crate) review: Option<ReviewId>,
    pub(crate) threads: Vec<ThreadId>,
}

/// A review that was not stored.
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
    /// Stores a review with its inline comments, or the part of it that the forge would store.
    pub(crate) fn post_review(&mut self, number: PullNumber, post: &NewReview<'_>) -> Result<PostedReview, FailedPost> {
        self.check_review(number, post)?;
        let first_bad = post.inline.iter().position(|inline| !self.is_storable(number, post.commit, &inline.place));
        if !self.quirks.inline_one_by_one {
            if post.interrupted {
                return Err(ForgeError::OutcomeUnknown.into());
            }
            if let Some(inline) = first_bad.and_then(|index| post.inline.get(index)) {
                let reason = format!("`{}` has no such line", inline.place.path);
                return Err(ForgeError::Refused(reason).into());
            }
        }
        let draft = self.quirks.draft_adopted.then(|| self.pull(number).ok()?.draft_by(post.by)).flatten();
        let adopted = draft.map(|draft| draft.id.clone());
        let without_review = post.row == ReviewKind::Wrapper && !self.quirks.threads_wrapped && adopted.is_none();
        let half = post.interrupted.then(|| post.inline.len().div_ceil(2));
        if let Some(stored) = half.into_iter().chain(first_bad).min() {
            if stored == 0 {
                return Err(ForgeError::OutcomeUnknown.into());
            }
            let draft = self.store_review_row(number, post, adopted, ReviewKind::Draft)?;
            self.store_inline_comments(number, post, Some(&draft), post.inline.get(..stored).unwrap_or_default())?;
            return Err(FailedPost { error: ForgeError::OutcomeUnknown, leftover_draft: Some(draft) });
        }
        let review = if without_review { None } else { Some(self.store_review_row(number, post, adopted, post.row)?) };
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
        let refused = |reason: &str| Err(ForgeError::Refused(reason.to_owned()));
        if matches!(post.row, ReviewKind::Verdict(Verdict::Approve | Verdict::RequestChanges)) {
            if self.quirks.no_verdicts {
                return Err(ForgeError::Unsupported("give a verdict".to_owned()));
            }
            if self.quirks.no_verdict_on_own_pull && pull.author == *post.by {
                return refused("a verdict on one's own pull is not allowed");
            }
            if self.quirks.no_verdict_on_closed && pull.state != PullState::Open {
                return refused("the pull is closed");
            }
        }
        if !self.commits.contains_key(post.commit) {
            return refused("the commit does not exist");
        }
        Ok(())
    }

    fn is_storable(&self, number: PullNumber, commit: &Sha, location: &DiffLocation) -> bool {
        let stored = match (self.quirks.bad_lines, location.side, location.line) {
            (BadLines::PastEnd, Side::New, Some(line)) => {
                self.text_at(commit, &location.path).is_none_or(|text| line == 0 || nth_line(&text, line).is_some())
            }
            (BadLines::None | BadLines::PastEnd, ..) => true,
            (BadLines::All, ..) => {
                let pull = self.pull(number);
                return pull
                    .is_ok_and(|pull| self.is_commentable(pull, commit, &location.path, location.line, location.side));
            }
        };
        // Forges reject paths that leave the repository.
        stored && location.path.split('/').all(|name| name != "..")
    }

    /// Stores the row of a review: reuses the adopted draft's ids, or allocates new ones.
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
        // A draft left by an interrupted post has no body; a draft that the user saved has one.
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
        let mut created = Vec::new();
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
            created.push(id);
        }
        Ok(created)
    }

    /// Withdraws the author's pending requests and, where the forge does so, the weight of older verdicts.
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
