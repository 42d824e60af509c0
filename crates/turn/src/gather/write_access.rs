//! Write access where the forge does not say (D10).

use std::collections::BTreeSet;

use referee_core::model::{Access, Author, Login, ReviewWeight};
use referee_forge::FetchedPull;

/// Gives everybody in `writers` write access whose access the forge does not report.
pub(super) fn grant_write_access(fetched: &mut FetchedPull, writers: &BTreeSet<Login>) {
    let dismisser = |weight| match weight {
        &mut ReviewWeight::Dismissed { ref mut by, .. } => by.as_mut(),
        _ => None,
    };
    let reviewers = fetched
        .reviews
        .iter_mut()
        .flat_map(|review| std::iter::once(&mut review.author).chain(dismisser(&mut review.counts)));
    let discussing = fetched.threads.iter_mut().flat_map(|thread| {
        let authors = thread.notes.iter_mut().map(|note| &mut note.author);
        authors.chain(thread.resolved.as_mut().map(|resolution| &mut resolution.by))
    });
    let commenting = fetched.comments.iter_mut().map(|comment| &mut comment.author);
    for Author { login, access, .. } in reviewers.chain(discussing).chain(commenting).chain([&mut fetched.pull.author])
    {
        if *access == Access::Unknown && login.as_ref().is_some_and(|login| writers.contains(login)) {
            *access = Access::Write;
        }
    }
}
