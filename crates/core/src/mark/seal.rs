//! Turns a draft into the text to post: the visible text, an empty line, one hidden trailer.

use super::block_codec::encode_block;
use super::keys::{Binding, Keys, SealInput};
use super::mark_codec::encode_mark;
use super::tag_codec::encode_tag;
use super::trailer::strip_hidden_comments;
use crate::hash::Hash;
use crate::plan::{TextDraft, Trailer};

pub(super) const FORMAT_VERSION: &str = "v1";

/// A text ready to be posted: sanitised, with one sealed trailer. Only [`seal_draft`] creates it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedText(String);

impl SealedText {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Seals a draft for one pull. Stores the hash of the visible text in a Mark (D28).
pub fn seal_draft(draft: &TextDraft, binding: &Binding, keys: &Keys) -> SealedText {
    let words = strip_hidden_comments(draft.words.as_str());
    let mut text = words.trim_end().to_owned();
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    match &draft.trailer {
        Trailer::Mark(mark, block) => {
            let mut mark = mark.as_ref().clone().truncate_to_limits();
            mark.words = Hash::digest_visible_text(&text);
            let block = encode_block(block);
            if let Some(payload) = &block {
                text.push_str(&format!("<!-- referee:block {FORMAT_VERSION} {payload} -->\n"));
            }
            let payload = encode_mark(&mark, block.map(Hash::digest).as_ref());
            append_sealed_comment(&mut text, "mark", &payload, binding, keys);
        }
        Trailer::Tag(tag) => {
            let payload = encode_tag(&tag.as_ref().clone().truncate_to_limits());
            append_sealed_comment(&mut text, "tag", &payload, binding, keys);
        }
    }
    SealedText(text)
}

fn append_sealed_comment(text: &mut String, kind: &str, payload: &str, binding: &Binding, keys: &Keys) {
    let seal = keys.sign(&SealInput { binding, kind, version: FORMAT_VERSION, payload });
    text.push_str(&format!("<!-- referee:{kind} {FORMAT_VERSION} {payload} {seal} -->"));
}
