//! What the configuration says about accounts: write access where the forge does not report it (D10), and which accounts
//! are programs (D31).

use referee_core::model::{Access, Author, ReviewWeight};
use referee_core::policy::Policy;
use referee_forge::FetchedPull;

/// Completes every author of the pull.
pub(super) fn classify_authors(fetched: &mut FetchedPull, policy: &Policy) {
    let viewer = fetched.viewer.clone();
    for author in authors_mut(fetched) {
        let Some(login) = &author.login else { continue };
        if author.access == Access::Unknown && policy.people_write.contains(login) {
            author.access = Access::Write;
        }
        author.bot |= *login == viewer.login || viewer.holds.contains(login) || policy.is_program(login);
    }
}

fn authors_mut(fetched: &mut FetchedPull) -> impl Iterator<Item = &mut Author> {
    let dismisser = |weight| match weight {
        &mut ReviewWeight::Dismissed { ref mut by, .. } => by.as_mut(),
        _ => None,
    };
    let reviewers = fetched
        .reviews
        .iter_mut()
        .flat_map(move |review| std::iter::once(&mut review.author).chain(dismisser(&mut review.counts)));
    let discussing = fetched.threads.iter_mut().flat_map(|thread| {
        let authors = thread.notes.iter_mut().map(|note| &mut note.author);
        authors.chain(thread.resolved.as_mut().map(|resolution| &mut resolution.by))
    });
    let commenting = fetched.comments.iter_mut().map(|comment| &mut comment.author);
    reviewers.chain(discussing).chain(commenting).chain([&mut fetched.pull.author])
}
