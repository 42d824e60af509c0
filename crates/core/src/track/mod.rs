//! Where a finding's code went between two heads.

mod data;

pub use data::{Anchor, ChangeKind, ChangedFile, Fingerprint, HunkRange, PatchId, Side, Spot, Track};
