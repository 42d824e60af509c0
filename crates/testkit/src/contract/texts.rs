//! Drafts as `decide` would write them, without deciding anything.

use referee_core::mark::{Tag, TagKind, Topic};
use referee_core::model::{FindingId, Sha};
use referee_core::plan::{Draft, NewThread, Place, Trailer};
use referee_core::sanitise::SafeText;

/// Words with a Tag of their own: no two of one suite are equal unless their words are.
pub(super) fn draft(words: &str, head: &Sha) -> Draft {
    let kind = TagKind::Topic(Topic::Said { to: "1".to_owned() });
    let tag = Tag { kind, head: head.clone() };
    Draft { words: safe(words), trailer: Trailer::Tag(Box::new(tag)) }
}

pub(super) fn thread(words: &str, place: &Place, head: &Sha) -> NewThread {
    NewThread { finding: FindingId(1), place: place.clone(), text: draft(words, head) }
}

/// The words here are ours and safe as they are; the sanitiser's own tests are elsewhere.
pub(super) fn safe(words: &str) -> SafeText {
    serde_json::from_value(words.into()).unwrap_or_default()
}
