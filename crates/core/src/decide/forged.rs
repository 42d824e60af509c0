//! Texts that look as if they held our memory, and do not: copied, edited, forged, or a stranger's (PUB-12). Nothing
//! in them counts; that it does not is told.

use crate::model::{Snapshot, Text};
use crate::plan::{Reason, Refusal};

/// How many are named.
const NAMED: usize = 5;

/// What is told of them, if there are any.
pub(super) fn forged(snapshot: &Snapshot) -> Option<Refusal> {
    let reviews = snapshot.reviews.iter().map(|it| (it.id.as_str(), it.author.name(), &it.text));
    let notes = snapshot.threads.iter().flat_map(|thread| &thread.notes);
    let notes = notes.map(|it| (it.id.as_str(), it.author.name(), &it.text));
    let comments = snapshot.comments.iter().map(|it| (it.id.as_str(), it.author.name(), &it.text));
    let is_forged = |(_, _, text): &(&str, &str, &Text)| text.reading.forged;
    let found: Vec<_> = reviews.chain(notes).chain(comments).filter(is_forged).collect();
    let (named, rest) = found.split_at(found.len().min(NAMED));
    let mut why = Reason::new("forged-mark");
    for (id, by, _) in named {
        why = why.fact(format!("{id} by {by}"));
    }
    if !rest.is_empty() {
        why = why.fact(format!("{} more", rest.len()));
    }
    (!found.is_empty()).then(|| Refusal { what: "believe what looks like a Mark".to_owned(), why })
}
