//! What an identity has on a pull already: its rows, and the threads it opened at one commit.

use referee_core::mark::Sealed;
use referee_core::model::{Completeness, Sha, ThreadId, Verdict};
use referee_core::plan::{NewThread, Place};
use referee_core::track::Side;

use super::Pen;
use crate::ForgeError;
use crate::gitea::pages::Listing;
use crate::gitea::wire::{Inline, Review};

/// The own rows, drafts included, and the own inline comments in those of one commit and in drafts.
///
/// A Tag names the head, so equal texts are of one commit: other rows need not be read.
pub(super) struct Own {
    pub(super) rows: Vec<Review>,
    pub(super) notes: Vec<Inline>,
    /// Somebody asks for the identity's review anew.
    requested: bool,
}

/// The line of a file that a thread is on, as the server keeps it: new side, old side. A file as a whole is line 0.
pub(super) type Spot<'a> = (&'a str, u64, u64);

pub(super) const DRAFT: &str = "PENDING";
const REQUEST: &str = "REQUEST_REVIEW";

impl Pen<'_> {
    pub(super) async fn own(&self, commit: &Sha) -> Result<Own, ForgeError> {
        let (requests, rows): (Vec<Review>, Vec<Review>) = self
            .reviews()
            .await?
            .into_iter()
            .filter(|row| self.is_me(row.user.as_ref()))
            .partition(|row| row.state == REQUEST);
        let mut own = Own { rows: Vec::new(), notes: Vec::new(), requested: !requests.is_empty() };
        for row in rows {
            if row.comments_count > 0 && (row.state == DRAFT || row.commit_id == commit.as_str()) {
                own.notes.extend(self.notes(row.id).await?);
            }
            own.rows.push(row);
        }
        own.notes.retain(|note| self.is_me(note.user.as_ref()));
        Ok(own)
    }

    /// All rows of the list.
    pub(super) async fn reviews(&self) -> Result<Vec<Review>, ForgeError> {
        whole(self.forge.reviews(self.hand, self.pull).await?)
    }

    /// The inline comments of a review.
    pub(super) async fn notes(&self, review: u64) -> Result<Vec<Inline>, ForgeError> {
        self.forge.review_comments(self.hand, self.pull, review).await
    }
}

impl Own {
    /// Threads that are nowhere yet, not even in a draft.
    pub(super) fn missing<'t>(&self, threads: &[&'t NewThread<Sealed>]) -> Vec<&'t NewThread<Sealed>> {
        threads.iter().filter(|new| self.root(new).is_none()).copied().collect()
    }

    /// The threads that are there, in the order they were asked for.
    pub(super) fn ids(&self, threads: &[&NewThread<Sealed>]) -> Vec<ThreadId> {
        threads.iter().filter_map(|new| self.root(new)).map(|root| ThreadId(root.id.to_string())).collect()
    }

    /// Whether one of them waits in a draft.
    pub(super) fn waits(&self, threads: &[&NewThread<Sealed>]) -> bool {
        let drafted = |root: &Inline| self.draft().is_some_and(|draft| draft.id == root.pull_request_review_id);
        threads.iter().filter_map(|new| self.root(new)).any(drafted)
    }

    /// The draft: a user has at most one on a pull, and the next post takes it over with all that is in it.
    pub(super) fn draft(&self) -> Option<&Review> {
        self.rows.iter().find(|row| row.state == DRAFT)
    }

    /// Lines that the draft has something on.
    pub(super) fn taken(&self) -> Vec<Spot<'_>> {
        let Some(draft) = self.draft() else { return Vec::new() };
        let notes = self.notes.iter().filter(|note| note.pull_request_review_id == draft.id);
        notes.map(|note| (note.path.as_str(), note.position, note.original_position)).collect()
    }

    /// Whether a row of that verdict still has the weight it can have.
    ///
    /// One that a newer row of the same or a worse verdict replaced still stands (D17); one that was dismissed, or
    /// whose author was asked again, does not (PUB-20).
    pub(super) fn stands(&self, row: &Review, verdict: Verdict) -> bool {
        let counts = |row: &Review| row.official && !row.dismissed;
        if verdict == Verdict::Comment || counts(row) {
            return true;
        }
        let newer = |other: &&Review| other.id > row.id && verdict_of(other).is_some_and(|it| it != Verdict::Comment);
        match self.rows.iter().filter(newer).max_by_key(|other| other.id) {
            Some(newest) => counts(newest) && verdict_of(newest) >= Some(verdict),
            // It never counted: its author has no say here.
            None => !row.dismissed && !self.requested,
        }
    }

    fn root(&self, new: &NewThread<Sealed>) -> Option<&Inline> {
        self.notes.iter().find(|note| note.path == new.place.path && note.body == new.text.as_str())
    }
}

/// The server's word for a verdict.
pub(super) fn event(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approve => "APPROVED",
        Verdict::Comment => "COMMENT",
        Verdict::RequestChanges => "REQUEST_CHANGES",
    }
}

fn verdict_of(row: &Review) -> Option<Verdict> {
    let all = [Verdict::Approve, Verdict::Comment, Verdict::RequestChanges];
    all.into_iter().find(|verdict| event(*verdict) == row.state)
}

/// Where a place is. There are no ranges: the last line is the one.
pub(super) fn spot(place: &Place) -> Spot<'_> {
    let line = place.line.unwrap_or_default().into();
    match place.side {
        Side::New => (&place.path, line, 0),
        Side::Old => (&place.path, 0, line),
    }
}

/// How many inline comments these rows hold: the timeline leaves them out after counting them.
pub(super) fn hidden<'a>(rows: impl IntoIterator<Item = &'a Review>) -> usize {
    rows.into_iter().map(|row| usize::try_from(row.comments_count).unwrap_or_default()).sum()
}

/// A list that was read to its end; one that was not may lack what is looked for.
pub(super) fn whole<T>(listing: Listing<T>) -> Result<Vec<T>, ForgeError> {
    match listing.complete {
        Completeness::Complete => Ok(listing.items),
        Completeness::Truncated { what } => Err(ForgeError::Moved(what)),
    }
}
