//! Reviews with inline comments as the forge stores them: its own rules, the surprising ones included. What an
//! adapter makes of them is `perform`'s business.

use referee_core::model::{EditId, Login, NoteId, PullNumber, PullState, ReviewId, Row, Sha, Text, ThreadId, Verdict};
use referee_core::plan::Place;
use referee_core::track::Side;
use referee_forge::ForgeError;

use super::commits::nth;
use super::quirks::BadLines;
use super::rows::{Repo, StoredNote, StoredReview, StoredThread};

/// A review on its way.
pub(crate) struct Post<'a> {
    pub(crate) by: &'a Login,
    pub(crate) row: Row,
    pub(crate) commit: &'a Sha,
    pub(crate) text: &'a str,
    pub(crate) inline: &'a [Inline],
    /// The sender is gone after half of the inline comments.
    pub(crate) torn: bool,
}

/// An inline comment on its way.
#[derive(Clone, Debug)]
pub(crate) struct Inline {
    pub(crate) place: Place,
    pub(crate) text: String,
}

/// A review that was stored.
pub(crate) struct Posted {
    /// `None` for bare threads on a forge that needs no review around them.
    pub(crate) review: Option<ReviewId>,
    pub(crate) threads: Vec<ThreadId>,
}

/// A review that was not stored, and what is left of it.
pub(crate) struct Torn {
    pub(crate) error: ForgeError,
    pub(crate) left: Option<ReviewId>,
}

impl From<ForgeError> for Torn {
    fn from(error: ForgeError) -> Self {
        Self { error, left: None }
    }
}

impl Repo {
    /// Stores a review with its inline comments, or what the forge stores of it.
    pub(crate) fn post(&mut self, number: PullNumber, post: &Post<'_>) -> Result<Posted, Torn> {
        self.accepts(number, post)?;
        let bad = post.inline.iter().position(|inline| !self.fits(number, post.commit, &inline.place));
        if !self.quirks.inline_one_by_one {
            if post.torn {
                return Err(ForgeError::Unknown.into());
            }
            if let Some(inline) = bad.and_then(|index| post.inline.get(index)) {
                let place = format!("`{}` has no such line", inline.place.path);
                return Err(ForgeError::Refused(place).into());
            }
        }
        let draft = self.quirks.draft_adopted.then(|| self.pull(number).ok()?.draft_of(post.by)).flatten();
        let adopted = draft.map(|draft| draft.id.clone());
        let bare = post.row == Row::Wrapper && !self.quirks.threads_wrapped && adopted.is_none();
        let half = post.torn.then(|| post.inline.len().div_ceil(2));
        if let Some(stored) = half.into_iter().chain(bad).min() {
            if stored == 0 {
                return Err(ForgeError::Unknown.into());
            }
            let draft = self.review_row(number, post, adopted, Row::Draft)?;
            self.inline(number, post, Some(&draft), post.inline.get(..stored).unwrap_or_default())?;
            return Err(Torn { error: ForgeError::Unknown, left: Some(draft) });
        }
        let review = if bare { None } else { Some(self.review_row(number, post, adopted, post.row)?) };
        let threads = self.inline(number, post, review.as_ref(), post.inline)?;
        if post.row == Row::Draft {
            return Ok(Posted { review, threads });
        }
        self.weigh(number, post)?;
        if let Some(review) = review.as_ref().filter(|_| self.quirks.posts_mixed_up && !post.inline.is_empty()) {
            self.mix_up(number, post.by, review)?;
        }
        Ok(Posted { review, threads })
    }

    fn accepts(&self, number: PullNumber, post: &Post<'_>) -> Result<(), ForgeError> {
        let pull = self.pull(number)?;
        let refused = |why: &str| Err(ForgeError::Refused(why.to_owned()));
        if matches!(post.row, Row::Verdict(Verdict::Approve | Verdict::RequestChanges)) {
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

    fn fits(&self, number: PullNumber, commit: &Sha, place: &Place) -> bool {
        let stored = match (self.quirks.bad_lines, place.side, place.line) {
            (BadLines::PastEnd, Side::New, Some(line)) => {
                self.text_at(commit, &place.path).is_none_or(|text| line == 0 || nth(&text, line).is_some())
            }
            (BadLines::None | BadLines::PastEnd, ..) => true,
            (BadLines::All, ..) => {
                let pull = self.pull(number);
                return pull.is_ok_and(|pull| self.commentable(pull, commit, &place.path, place.line, place.side));
            }
        };
        // No forge follows a path out of the repository.
        stored && place.path.split('/').all(|name| name != "..")
    }

    /// The row of a post: the adopted draft's, or a new one.
    pub(crate) fn review_row(
        &mut self,
        number: PullNumber,
        post: &Post<'_>,
        adopted: Option<ReviewId>,
        row: Row,
    ) -> Result<ReviewId, ForgeError> {
        let (id, edit) = match adopted {
            Some(id) => {
                let edit = self.pull(number)?.review(&id)?.edit.clone();
                (id, edit)
            }
            None => (self.next_review(), EditId(self.next_text())),
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
            text: Text::unread(text),
            commit: post.commit.clone(),
            at,
            updated: at,
            official,
            replaced: false,
            struck: false,
            requested: false,
            dismissed: None,
            stale: None,
        });
        Ok(id)
    }

    pub(crate) fn inline(
        &mut self,
        number: PullNumber,
        post: &Post<'_>,
        review: Option<&ReviewId>,
        inline: &[Inline],
    ) -> Result<Vec<ThreadId>, ForgeError> {
        let mut made = Vec::new();
        for Inline { place, text } in inline {
            let root = self.note_row(post.by, text);
            let id = ThreadId(root.id.0.clone());
            let Place { path, line, start_line, side } = place.clone();
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
    fn weigh(&mut self, number: PullNumber, post: &Post<'_>) -> Result<(), ForgeError> {
        let replaces = self.quirks.newest_verdict_only
            && matches!(post.row, Row::Verdict(Verdict::Approve | Verdict::RequestChanges));
        let pull = self.pull_mut(number)?;
        pull.requests.retain(|(_, request)| request.of != *post.by);
        if replaces {
            let mut own = pull.reviews.iter_mut().rev().filter(|review| review.author == *post.by);
            own.next();
            own.for_each(|older| {
                older.replaced = true;
                older.struck |= post.inline.is_empty();
            });
        }
        Ok(())
    }

    fn mix_up(&mut self, number: PullNumber, by: &Login, review: &ReviewId) -> Result<(), ForgeError> {
        let pull = self.pull_mut(number)?;
        let Some(waiting) = pull.unpaired.iter().position(|(login, _)| login == by) else {
            pull.unpaired.push((by.clone(), review.clone()));
            return Ok(());
        };
        let (_, other) = pull.unpaired.remove(waiting);
        for thread in &mut pull.threads {
            if thread.review.as_ref() == Some(review) {
                thread.review = Some(other.clone());
            } else if thread.review.as_ref() == Some(&other) {
                thread.review = Some(review.clone());
            }
        }
        Ok(())
    }

    pub(crate) fn note_row(&mut self, by: &Login, text: &str) -> StoredNote {
        let (author, at) = (by.clone(), self.now);
        StoredNote { id: NoteId(self.next_text()), author, at, updated: at, edited: false, text: Text::unread(text) }
    }
}
