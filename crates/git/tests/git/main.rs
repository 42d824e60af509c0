//! The git program and its diffs, on real repositories.

mod diff;
mod names;
mod patch_id;
mod program;
mod repository;
