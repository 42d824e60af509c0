//! Marks with an invalid MAC: copied, edited or forged, or written by a stranger (PUB-12). They are listed as refused.
//!
//! | rule | when | then |
//! |---|---|---|
//! | `forged-mark` | a text looks like a Mark, and its MAC is invalid | the Mark is ignored |

use crate::model::{Author, Snapshot, Text};
use crate::plan::{Reason, Refusal};
use crate::rule::Rule;

/// The refusal names this many texts and counts the rest.
const MAX_LISTED_TEXTS: usize = 5;

/// Lists the texts with a forged Mark as one refusal, if there are any.
pub(super) fn report_forged_marks(snapshot: &Snapshot) -> Option<Refusal> {
    let is_forged = |text: &Text| text.reading.forged;
    let mut forged: Vec<(&str, &Author)> = Vec::new();
    forged.extend(snapshot.reviews.iter().filter(|it| is_forged(&it.text)).map(|it| (it.id.as_str(), &it.author)));
    for thread in &snapshot.threads {
        forged.extend(thread.notes.iter().filter(|it| is_forged(&it.text)).map(|it| (it.id.as_str(), &it.author)));
    }
    forged.extend(snapshot.comments.iter().filter(|it| is_forged(&it.text)).map(|it| (it.id.as_str(), &it.author)));
    if forged.is_empty() {
        return None;
    }
    let (named, rest) = forged.split_at(forged.len().min(MAX_LISTED_TEXTS));
    let mut why = Reason::new(Rule::ForgedMark);
    for (id, by) in named {
        why = why.with_fact(format!("{id} by {}", by.display_name()));
    }
    if !rest.is_empty() {
        why = why.with_fact(format!("{} more", rest.len()));
    }
    Some(Refusal { what: "trust a text that looks like a Mark".to_owned(), why })
}
