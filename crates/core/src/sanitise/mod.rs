//! Sanitises text before it is posted (PUB-16). Only this module creates a `SafeText`: from untrusted text with
//! [`SafeText::sanitise_block`] and [`SafeText::sanitise_line`], from referee's own text with [`MarkdownBuilder`].
//!
//! | untrusted text | becomes |
//! |---|---|
//! | control, invisible and private-use characters, terminal escape sequences | nothing |
//! | bidirectional control characters | visible, such as `U+202E` |
//! | HTML comment, HTML tag | a space |
//! | any other `<`, an entity | escaped, so that it shows as typed |
//! | image | its alt text |
//! | link | its text and, as code, its URL; the text alone if the URL is neither a web page nor a path |
//! | URL, email address, `@name`, `#12`, `!12`, commit id | code, where forges create no links and mentions |
//! | `@` and the name of a known bot, also in code | with a space between, because some bots read code |
//! | `/word` or a bot's bare command at the start of a line | code |
//! | unmatched backtick | `'` |
//! | delimiter row of a table | a row without pipes, so that no table forms |
//! | checkbox | `( )` or `(x)` |
//! | code block | fenced by three backticks at the start of the line, closed, without an inner fence |
//! | `/word` alone at the start of a line in a code block | with a space after the slash |
//! | `referee:mark` and the like, `review-bot:`, anywhere | with a space instead of the colon |
//! | too long | cut at a word, with `…` in a line and `… 1,234 more characters` in a block |
//!
//! A pass is repeated until nothing changes, so sanitising is idempotent.

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

/// Text that is safe to post.
///
/// It can be deserialised, because the journal stores plans to compare them on replay. A deserialised text is never
/// posted: a plan is applied in the turn that made it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct SafeText(String);

impl SafeText {
    /// Sanitises text of several lines, to at most `max_bytes`. Keeps lists, quotes, emphasis and code blocks.
    pub fn sanitise_block(untrusted: &str, max_bytes: usize) -> Self {
        Self(limit::sanitise_block(untrusted, max_bytes))
    }

    /// Sanitises text to one line of at most `max_chars` characters, for a table cell, a heading or a sentence.
    pub fn sanitise_line(untrusted: &str, max_chars: usize) -> Self {
        Self(limit::sanitise_line(untrusted, max_chars))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
