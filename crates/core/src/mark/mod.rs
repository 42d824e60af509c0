//! Referee's state on the forge: hidden comments in its own texts (D1). [`seal_draft`] writes them. [`TextReader`]
//! reads them, only from texts of the roles' identities (PUB-12).
//!
//! | comment | found in | maximum size |
//! |---|---|---|
//! | `<!-- referee:mark v1 FIELDS SEAL -->` | a role's summary | 2 kB |
//! | `<!-- referee:block v1 FIELDS -->`, the line before it | the same, unless empty | 12 kB |
//! | `<!-- referee:tag v1 FIELDS SEAL -->` | every other text | 200 bytes |
//!
//! FIELDS are separated by `;` and contain no space, `--`, `<` or `>`; `field` documents the encoding. SEAL is `-`, or
//! four characters of key id and 22 of MAC. Later minor versions may append fields.

mod block_codec;
mod data;
mod field;
mod keys;
mod limits;
mod mark_codec;
mod recovery;
mod seal;
mod tag_codec;
mod text_reader;
mod trailer;

pub use block_codec::{MAX_BLOCK_BYTES, MAX_PRE_EXISTING, MAX_REPORT_SUMMARY_BYTES};
pub use data::{Block, BlockEntry, Evaluation, Mark, ReplyKind, Tag, TagKind, Topic, Trust, UnsealedMark};
pub use keys::{Binding, Key, Keys};
pub use limits::{MAX_CAUSE_BYTES, MAX_ID_BYTES, MAX_ROLE_BYTES, shorten_cause, shorten_rule};
pub use mark_codec::MAX_MARK_BYTES;
pub(crate) use recovery::find_patch;
pub use recovery::recover_lost_marks;
pub use seal::{SealedText, seal_draft};
pub use tag_codec::MAX_TAG_BYTES;
pub use text_reader::{TextHistory, TextReader};
pub use trailer::strip_hidden_comments;
