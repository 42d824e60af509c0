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
mod code_lines;
mod data;
mod diff;
mod file_versions;
mod fingerprint;
mod follow;
mod line_map;
mod match_findings;
mod moved_blocks;
mod patch_id;
mod reflow;
mod spot;
mod title;
mod touched;

pub use anchor::DiffAnchors;
pub use code_lines::extract_lines;
pub use data::{
    Anchor, AnchorHash, ChangeKind, ChangedFile, CodeLocation, Fingerprint, HunkRange, PatchId, Side, Track,
};
pub use diff::{DiffContent, DiffLine, FileDiff, Hunk, LineKind, count_lines};
pub use follow::{FileChange, follow_spots};
pub use line_map::{LineChange, LineMap};
pub use match_findings::{ObservedFinding, PriorFinding, match_findings};
pub use title::{normalise_title, title_similarity};
pub use touched::is_touched;
