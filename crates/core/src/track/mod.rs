//! Where a finding's code went between two heads, and whether two findings are one.
//!
//! Everything here is a function over texts handed in. `gather` calls it with what git says and keeps the results; no
//! source text enters a snapshot. The parts, in the order in which a turn uses them:
//!
//! | part | question |
//! |---|---|
//! | [`FileDiff`], [`ChangedFile`] | what does the pull change, with and without source text |
//! | [`PatchId`] | is this head the same patch as that one (INC-16, LOOP-3) |
//! | [`AnchorHash`], [`Fingerprint`] | what is a finding called, whatever its line |
//! | [`LineMap`], [`follow`], [`Track`] | where did its code go (INC-9, D9) |
//! | [`touched`] | did the lines that somebody cites change (D9, LOOP-5) |
//! | [`assign`] | which prior finding is this raised one (INC-9, INC-10) |
//! | [`Anchors`] | may a comment stand there (PUB-13) |

mod anchor;
mod assign;
mod code;
mod data;
mod diff;
mod fingerprint;
mod follow;
mod line_map;
mod pair;
mod patch_id;
mod reflow;
mod seek;
mod spot;
mod title;
mod touched;

pub use anchor::Anchors;
pub use assign::{Prior, Sighting, assign};
pub use code::anchored;
pub use data::{Anchor, AnchorHash, ChangeKind, ChangedFile, Fingerprint, HunkRange, PatchId, Side, Spot, Track};
pub use diff::{Content, FileDiff, Hunk, Line, LineKind, line_count};
pub use follow::{FileChange, follow};
pub use line_map::{Change, LineMap};
pub use title::{alike, normalise_title};
pub use touched::touched;
