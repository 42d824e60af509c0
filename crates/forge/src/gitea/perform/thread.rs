//! Finding a thread by its root. No route tells which review an inline comment is in.

use std::collections::BTreeSet;

use referee_core::model::ThreadId;

use super::{GiteaWriter, parse_id};
use crate::ForgeError;
use crate::gitea::wire::{Inline, Review};

/// A thread, the review it is in, and all rows of the pull.
pub(super) struct LocatedThread {
    pub(super) root: Inline,
    /// All notes on the root's line of its review, the root among them.
    pub(super) notes: Vec<Inline>,
    pub(super) review: Review,
    pub(super) reviews: Vec<Review>,
}

impl GiteaWriter<'_> {
    /// The thread of that root.
    ///
    /// Ids rise with time in reviews and comments alike, so most often halving the list finds it; a comment that lay in
    /// a draft for long is out of order, and then the rest is read too.
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

/// Whether both are on the same line.
pub(super) fn is_on_same_line(note: &Inline, root: &Inline) -> bool {
    note.path == root.path && note.position == root.position && note.original_position == root.original_position
}
