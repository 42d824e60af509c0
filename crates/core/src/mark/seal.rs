//! From a draft to the text that is sent: the visible words, a blank line, one trailer.

use super::block::encode_block;
use super::codec::encode_mark;
use super::keys::{Binding, Keys, Signed};
use super::tag::encode_tag;
use super::trailer::visible;
use crate::hash::Hash;
use crate::plan::{Draft, Trailer};

/// The version that is written.
pub(super) const VERSION: &str = "v1";

/// A text that is ready to be sent: safe words and one sealed trailer. Made only here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed(String);

impl Sealed {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Seals a draft for one place. A Mark gets the hash of the words it is sent with (D28).
pub fn seal(draft: &Draft, binding: &Binding, keys: &Keys) -> Sealed {
    let words = visible(draft.words.as_str());
    let mut text = words.trim_end().to_owned();
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    match &draft.trailer {
        Trailer::Mark(mark, block) => {
            let mut mark = mark.as_ref().clone().fitted();
            mark.words = Hash::of_words(&text);
            let block = encode_block(&block.as_ref().clone().fitted());
            if let Some(payload) = &block {
                text.push_str(&format!("<!-- referee:block {VERSION} {payload} -->\n"));
            }
            let payload = encode_mark(&mark, block.map(Hash::of).as_ref());
            close(&mut text, "mark", &payload, binding, keys);
        }
        Trailer::Tag(tag) => {
            let payload = encode_tag(&tag.as_ref().clone().fitted());
            close(&mut text, "tag", &payload, binding, keys);
        }
    }
    Sealed(text)
}

fn close(text: &mut String, kind: &str, payload: &str, binding: &Binding, keys: &Keys) {
    let seal = keys.sign(&Signed { binding, kind, version: VERSION, payload });
    text.push_str(&format!("<!-- referee:{kind} {VERSION} {payload} {seal} -->"));
}
