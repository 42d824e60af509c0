//! Tracks findings between two heads: where their code moved, and which findings are the same.
//!
//! Pure functions over texts. `gather` calls them with texts from git and keeps only the results: no source text enters
//! a snapshot. In the order in which a turn uses them:
//!
//! | item | question |
//! |---|---|
//! | [`FileDiff`], [`ChangedFile`] | What does the pull change, with and without source text? |
//! | [`PatchId`] | Do two heads have the same patch (INC-16, LOOP-3)? |
//! | [`AnchorHash`], [`Fingerprint`] | What identifies a finding, whatever its line? |
//! | [`LineMap`], [`follow_locations`], [`Track`] | Where did its code move (INC-9, D9)? |
//! | [`is_touched`] | Did the cited lines change (D9, LOOP-5)? |
//! | [`match_findings`], [`match_tool_findings`] | Which prior finding does a raised one repeat (INC-9, INC-10)? |
//! | [`find_lost_changes`], [`pair_commits`] | Does a rebase keep every change and every author (D44)? |
//! | [`DiffAnchors`] | Does the diff allow a comment there (PUB-13)? |

mod anchor;
mod code_lines;
mod code_location;
mod commit_pairs;
mod data;
mod diff;
mod file_versions;
mod fingerprint;
mod follow;
mod line_map;
mod lost_changes;
mod match_findings;
mod moved_blocks;
mod patch_id;
mod reflow;
mod title;
mod touched;

pub use anchor::DiffAnchors;
pub use code_lines::extract_lines;
pub use commit_pairs::{CommitPairs, WorkCommit, pair_commits};
pub use data::{
    Anchor, AnchorHash, ChangeKind, ChangedFile, CodeLocation, Fingerprint, HunkRange, PatchId, Side, Track,
};
pub use diff::{DiffContent, DiffLine, FileDiff, Hunk, LineKind, count_lines};
pub use follow::{FileChange, follow_locations};
pub use line_map::{LineChange, LineMap};
pub use lost_changes::{ConflictArea, find_lost_changes};
pub use match_findings::{ObservedFinding, PriorFinding, match_findings, match_tool_findings};
pub use title::{normalise_title, title_similarity};
pub use touched::is_touched;
