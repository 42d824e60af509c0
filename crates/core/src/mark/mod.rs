//! referee's own memory: hidden comments in its own texts (D1). Written by [`seal`], read in one place by [`Reader`],
//! only from texts of the identities that roles have (PUB-12).
//!
//! | comment | in | at most |
//! |---|---|---|
//! | `<!-- referee:mark v1 FIELDS SEAL -->` | a role's summary | 2 kB |
//! | `<!-- referee:block v1 FIELDS -->`, the line before it | the same, if anything is remembered | 12 kB |
//! | `<!-- referee:tag v1 FIELDS SEAL -->` | every other text | 200 bytes |
//!
//! FIELDS are separated by `;` and hold neither blank nor `--`, `<`, `>`; `field` tells how each is written. SEAL is
//! `-`, or four characters that name the key and 22 of the MAC. Later minor versions may add fields at the end.

mod block;
mod codec;
mod data;
mod field;
mod fit;
mod keys;
mod read;
mod seal;
mod tag;
mod trailer;

pub use block::{BLOCK_BYTES, PRE_EXISTING_MAX};
pub use codec::MARK_BYTES;
pub use data::{Block, Entry, Evaluation, Mark, Opened, ReplyKind, Tag, TagKind, Topic, Trust};
pub use fit::{CAUSE_BYTES, ID_BYTES, ROLE_BYTES, fitted_cause};
pub use keys::{Binding, Key, Keys};
pub use read::{Reader, Written};
pub use seal::{Sealed, seal};
pub use tag::TAG_BYTES;
pub use trailer::visible;
