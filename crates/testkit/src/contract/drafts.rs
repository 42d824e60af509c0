//! Drafts as `decide` would write them, without deciding anything.

use referee_core::mark::{Tag, TagKind, Topic};
use referee_core::model::{FindingId, Sha};
use referee_core::plan::{DiffLocation, NewThread, TextDraft, Trailer};
use referee_core::sanitise::SafeText;

/// Words with a Tag of their own: no two of one suite are equal unless their words are.
pub(super) fn build_draft(words: &str, head: &Sha) -> TextDraft {
    let kind = TagKind::Topic(Topic::Said { to: "1".to_owned() });
    let tag = Tag { kind, head: head.clone() };
    TextDraft { words: safe_text(words), trailer: Trailer::Tag(Box::new(tag)) }
}

pub(super) fn build_thread(words: &str, place: &DiffLocation, head: &Sha) -> NewThread {
    NewThread { finding: FindingId(1), place: place.clone(), text: build_draft(words, head) }
}

/// The words here are ours and safe as they are; the sanitiser's own tests are elsewhere.
pub(super) fn safe_text(words: &str) -> SafeText {
    serde_json::from_value(words.into()).unwrap_or_default()
}
