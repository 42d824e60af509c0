//! What an identity already has on a pull: its reviews, and the threads it opened at one commit.

use referee_core::mark::SealedText;
use referee_core::model::{Completeness, Sha, ThreadId, Verdict};
use referee_core::plan::{DiffLocation, NewThread};
use referee_core::track::Side;

use super::GiteaWriter;
use crate::ForgeError;
use crate::gitea::pages::Listing;
use crate::gitea::wire::{Inline, Review};

/// An identity's reviews, drafts included, and its inline comments in drafts and in reviews of one commit.
///
/// A Tag contains the head, so equal texts belong to one commit; comments of other reviews need not be read.
#[derive(Default)]
pub(super) struct OwnPosts {
    pub(super) reviews: Vec<Review>,
    pub(super) notes: Vec<Inline>,
}

/// A file, its line on the new side and its line on the old side; a thread on the whole file has neither.
pub(super) type CommentLine<'a> = (&'a str, u64, u64);

pub(super) const DRAFT_STATE: &str = "PENDING";
const REQUEST_STATE: &str = "REQUEST_REVIEW";

impl GiteaWriter<'_> {
    /// Reads what this identity has on the pull; nothing is read where the plan knows that there is nothing more.
    pub(super) async fn load_own_posts(&self, commit: &Sha) -> Result<OwnPosts, ForgeError> {
        if self.basis.is_current_for(&self.account.login) {
            return Ok(OwnPosts::default());
        }
        self.read_own_posts(commit).await
    }

    pub(super) async fn read_own_posts(&self, commit: &Sha) -> Result<OwnPosts, ForgeError> {
        let is_own = |row: &Review| self.is_own_account(row.user.as_ref()) && row.state != REQUEST_STATE;
        let mut own = OwnPosts::default();
        for row in self.read_reviews().await?.into_iter().filter(is_own) {
            if row.comments_count > 0 && (row.state == DRAFT_STATE || row.commit_id == commit.as_str()) {
                own.notes.extend(self.read_notes(row.id).await?);
            }
            own.reviews.push(row);
        }
        own.notes.retain(|note| self.is_own_account(note.user.as_ref()));
        Ok(own)
    }

    /// Returns whether the plan knows that review.
    pub(super) fn is_known(&self, row: &Review) -> bool {
        let id = row.id.to_string();
        self.basis.reviews.iter().any(|known| known.id.as_str() == id)
    }

    /// Reads all reviews of the pull.
    pub(super) async fn read_reviews(&self) -> Result<Vec<Review>, ForgeError> {
        require_complete(self.forge.read_reviews(self.account, self.pull).await?)
    }

    /// Reads the inline comments of a review.
    pub(super) async fn read_notes(&self, review: u64) -> Result<Vec<Inline>, ForgeError> {
        self.forge.read_review_comments(self.account, self.pull, review).await
    }
}

impl OwnPosts {
    /// Returns the threads that are not stored yet, not even in a draft.
    pub(super) fn find_missing<'t>(&self, threads: &[&'t NewThread<SealedText>]) -> Vec<&'t NewThread<SealedText>> {
        threads.iter().filter(|new| self.find_root(new).is_none()).copied().collect()
    }

    /// Returns the ids of the stored threads, in the order of the request.
    pub(super) fn thread_ids(&self, threads: &[&NewThread<SealedText>]) -> Vec<ThreadId> {
        threads.iter().filter_map(|new| self.find_root(new)).map(|root| ThreadId(root.id.to_string())).collect()
    }

    /// Returns whether one of the threads is still in a draft.
    pub(super) fn has_drafted(&self, threads: &[&NewThread<SealedText>]) -> bool {
        let drafted = |root: &Inline| self.draft().is_some_and(|draft| draft.id == root.pull_request_review_id);
        threads.iter().filter_map(|new| self.find_root(new)).any(drafted)
    }

    /// Returns the draft: a user has at most one per pull, and the next post publishes it with all its comments.
    pub(super) fn draft(&self) -> Option<&Review> {
        self.reviews.iter().find(|row| row.state == DRAFT_STATE)
    }

    /// Returns the lines that the draft has comments on.
    pub(super) fn drafted_lines(&self) -> Vec<CommentLine<'_>> {
        let Some(draft) = self.draft() else { return Vec::new() };
        let notes = self.notes.iter().filter(|note| note.pull_request_review_id == draft.id);
        notes.map(|note| (note.path.as_str(), note.position, note.original_position)).collect()
    }

    fn find_root(&self, new: &NewThread<SealedText>) -> Option<&Inline> {
        self.notes.iter().find(|note| note.path == new.place.path && note.body == new.text.as_str())
    }
}

/// Returns the server's word for a verdict.
pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approve => "APPROVED",
        Verdict::Comment => "COMMENT",
        Verdict::RequestChanges => "REQUEST_CHANGES",
    }
}

/// Returns the line of a location; the server has no ranges, so it is the last line of one.
pub(super) fn comment_line(place: &DiffLocation) -> CommentLine<'_> {
    let line = place.line.unwrap_or_default().into();
    match place.side {
        Side::New => (&place.path, line, 0),
        Side::Old => (&place.path, 0, line),
    }
}

/// Counts the inline comments of reviews: the timeline omits them after paging.
pub(super) fn count_inline_comments<'a>(rows: impl IntoIterator<Item = &'a Review>) -> usize {
    rows.into_iter().map(|row| usize::try_from(row.comments_count).unwrap_or_default()).sum()
}

/// Returns the rows of a complete list; a truncated one may lack the row that is looked for.
pub(super) fn require_complete<T>(listing: Listing<T>) -> Result<Vec<T>, ForgeError> {
    match listing.complete {
        Completeness::Complete => Ok(listing.items),
        Completeness::Truncated { what, .. } => Err(ForgeError::Conflict(what)),
    }
}
