//! Marks that do not count: copied, edited, forged, or a stranger's (PUB-12). They are listed as refused.
//!
//! | rule | when | then |
//! |---|---|---|
//! | `forged-mark` | a text looks like a Mark, and its seal does not hold | nothing in it counts |

use crate::model::{Author, Snapshot, Text};
use crate::plan::{Reason, Refusal};
use crate::rule::Rule;

/// How many are named.
const MAX_LISTED_TEXTS: usize = 5;

/// What is told of them, if there are any.
pub(super) fn report_forged_marks(snapshot: &Snapshot) -> Option<Refusal> {
    let is_forged = |text: &Text| text.reading.forged;
    let mut found: Vec<(&str, &Author)> = Vec::new();
    found.extend(snapshot.reviews.iter().filter(|it| is_forged(&it.text)).map(|it| (it.id.as_str(), &it.author)));
    for thread in &snapshot.threads {
        found.extend(thread.notes.iter().filter(|it| is_forged(&it.text)).map(|it| (it.id.as_str(), &it.author)));
    }
    found.extend(snapshot.comments.iter().filter(|it| is_forged(&it.text)).map(|it| (it.id.as_str(), &it.author)));
    if found.is_empty() {
        return None;
    }
    let (named, rest) = found.split_at(found.len().min(MAX_LISTED_TEXTS));
    let mut why = Reason::new(Rule::ForgedMark);
    for (id, by) in named {
        why = why.with_fact(format!("{id} by {}", by.display_name()));
    }
    if !rest.is_empty() {
        why = why.with_fact(format!("{} more", rest.len()));
    }
    Some(Refusal { what: "believe what looks like a Mark".to_owned(), why })
}
