//! referee's own memory: hidden comments in its own texts (D1). Read in one place, only from texts of the
//! identities that roles have (PUB-12).

mod data;

pub use data::{Block, Entry, Evaluation, Mark, Opened, ReplyKind, Tag, TagKind, Topic, Trust};

/// A text without the hidden comments of our namespace.
pub fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    std::borrow::Cow::Borrowed(text)
}

/// A text that is ready to be sent: safe words and one sealed trailer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed(String);

impl Sealed {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
