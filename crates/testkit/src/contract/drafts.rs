//! Drafts as `decide` would write them, built directly.

use referee_core::mark::{Tag, TagKind, Topic};
use referee_core::model::{FindingId, Sha};
use referee_core::plan::{DiffLocation, NewThread, TextDraft, Trailer};
use referee_core::sanitise::SafeText;

/// Builds a draft with a Tag. Two drafts for one head are equal only if their texts are.
pub(super) fn build_draft(text: &str, head: &Sha) -> TextDraft {
    let kind = TagKind::Topic(Topic::Said { to: "1".to_owned() });
    let tag = Tag { kind, head: head.clone() };
    TextDraft { words: safe_text(text), trailer: Trailer::Tag(Box::new(tag)) }
}

pub(super) fn build_thread(text: &str, location: &DiffLocation, head: &Sha) -> NewThread {
    NewThread { finding: FindingId(1), place: location.clone(), text: build_draft(text, head) }
}

/// Wraps a literal of the suite, which needs no sanitising.
pub(super) fn safe_text(text: &str) -> SafeText {
    serde_json::from_value(text.into()).unwrap_or_default()
}
