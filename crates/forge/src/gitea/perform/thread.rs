//! Finding a thread by its root. The server has no route from an inline comment to its review.

use std::collections::BTreeSet;

use referee_core::model::ThreadId;

use super::{GiteaWriter, parse_id};
use crate::ForgeError;
use crate::gitea::wire::{Inline, Review};

/// A thread, its review, and all reviews of the pull.
pub(super) struct LocatedThread {
    pub(super) root: Inline,
    /// All notes on the root's line in its review, including the root.
    pub(super) notes: Vec<Inline>,
    pub(super) review: Review,
    pub(super) reviews: Vec<Review>,
}

impl GiteaWriter<'_> {
    /// Finds the thread with that root.
    ///
    /// Ids of reviews and comments rise with time, so a binary search usually finds it. A comment that stayed in a draft
    /// is out of order; then the remaining reviews are read too.
    pub(super) async fn find_thread(&self, thread: &ThreadId) -> Result<LocatedThread, ForgeError> {
        let wanted = parse_id(thread.as_str())?;
        let rows = self.read_reviews().await?;
        let holding: Vec<&Review> = rows.iter().filter(|row| row.comments_count > 0).collect();
        let mut unread: BTreeSet<usize> = (0..holding.len()).collect();
        let (mut low, mut high) = (0, holding.len());
        while let Some(index) = (low < high).then_some(usize::midpoint(low, high)).or(unread.first().copied()) {
            unread.remove(&index);
            let review = holding[index];
            let notes = self.read_notes(review.id).await?;
            if let Some(root) = notes.iter().find(|note| note.id == wanted).cloned() {
                let notes = notes.into_iter().filter(|note| is_on_same_line(note, &root)).collect();
                let review = review.clone();
                return Ok(LocatedThread { root, notes, review, reviews: rows });
            }
            if low < high {
                match notes.iter().map(|note| note.id).min() {
                    Some(first) if first > wanted => high = index,
                    _ => low = index + 1,
                }
            }
        }
        Err(ForgeError::NotFound(format!("thread {thread}")))
    }
}

/// Returns whether both notes are on the same line.
pub(super) fn is_on_same_line(note: &Inline, root: &Inline) -> bool {
    note.path == root.path && note.position == root.position && note.original_position == root.original_position
}
