//! Whether a pull was read whole (D16, D43).
//!
//! | a text that was cut, by | meaning |
//! |---|---|
//! | an own identity | the read is truncated: a Mark, a Tag or a record may be missing |
//! | somebody with write access | the read is truncated: a command or a stance may be missing |
//! | anybody else | noise: nothing that it could say counts |

use crate::model::{Access, Author, Completeness, Login, MAX_READ_TEXT_BYTES, Snapshot, Text};

/// Returns whether the snapshot has everything that a decision depends on. `own` are the identities whose Marks and Tags
/// count.
pub fn judge_completeness(snapshot: &Snapshot, own: &[Login]) -> Completeness {
    let is_own = |author: &Author| author.login.as_ref().is_some_and(|login| own.contains(login));
    let matters = |text: &Text, author: &Author| text.is_cut && (is_own(author) || author.access == Access::Write);
    let describe = |what: &str, author: &Author| {
        format!("{what} of {}, which is longer than {} KiB,", author.display_name(), MAX_READ_TEXT_BYTES >> 10)
    };
    let reviews = snapshot.reviews.iter().map(|review| ("a review", &review.text, &review.author));
    let notes = snapshot.threads.iter().flat_map(|thread| &thread.notes);
    let notes = notes.map(|note| ("a note", &note.text, &note.author));
    let comments = snapshot.comments.iter().map(|comment| ("a comment", &comment.text, &comment.author));
    let mut cut = reviews.chain(notes).chain(comments).filter(|(_, text, author)| matters(text, author));
    match (&snapshot.complete, cut.next()) {
        (Completeness::Complete, Some((what, _, author))) => {
            let mut own_reviews = snapshot.reviews.iter().filter(|review| is_own(&review.author));
            let own_reviews_read = own_reviews.all(|review| !review.text.is_cut);
            Completeness::Truncated { what: describe(what, author), own_reviews_read }
        }
        (complete, _) => complete.clone(),
    }
}
