//! Text that may be sent (PUB-16). `SafeText` comes only from here: from tainted words by [`SafeText::block`] and
//! [`SafeText::line`], and from referee's own words by [`Page`].
//!
//! | in tainted words | becomes |
//! |---|---|
//! | control, invisible and private characters, terminal sequences | nothing |
//! | characters that turn the direction of writing | `U+202E`, so that they are seen |
//! | a hidden comment, an HTML tag | a blank |
//! | any other `<`, an entity | shown as it was typed |
//! | an image | its text |
//! | a link | its text and, in code, its address; the text alone if the address is neither a page nor a path |
//! | an address, a mail address, `@name`, `#12`, `!12`, a commit | the same in code: forges look for none of them there |
//! | `@` and the name of a listed bot, also in code | with a blank between: some bots read code |
//! | `/word` at the start of a line, a listed bot's bare word there | the same in code |
//! | a backtick without its twin | `'` |
//! | a table's rule | a rule |
//! | a checkbox | round |
//! | a code block | fenced by three backticks at the start of its line, closed, with no fence inside |
//! | `/word` alone at the start of a line of a code block | with a blank behind the slash |
//! | `referee:mark` and the like, `review-bot:`, anywhere | with a blank for the colon |
//! | more than fits | `… 1,234 more characters` |
//!
//! A pass is repeated until it changes nothing, so making a safe text safe again changes nothing.

mod chars;
mod code;
mod inline;
mod lexicon;
mod limit;
mod links;
mod markdown_builder;
mod single_pass;
mod word_scan;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use code::is_verbatim;
pub use markdown_builder::MarkdownBuilder;

/// Text that may be sent.
///
/// It can be deserialised, since plans are kept in the journal and compared with what is decided again. What was
/// deserialised is read by people and tests; nothing sends it, because a plan is applied in the turn that made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SafeText(String);

impl SafeText {
    /// Prose of several lines, of at most `max_bytes`: lists, quotes, emphasis and code blocks stay.
    pub fn sanitise_block(tainted: &str, max_bytes: usize) -> Self {
        Self(limit::sanitise_block(tainted, max_bytes))
    }

    /// One line of at most `max_chars` characters, for a table's cell, a heading or a sentence.
    pub fn sanitise_line(tainted: &str, max_chars: usize) -> Self {
        Self(limit::sanitise_line(tainted, max_chars))
    }

    /// The words.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The words, owned.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bytes it takes.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
