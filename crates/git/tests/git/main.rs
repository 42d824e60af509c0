//! The git program and its diffs, on real repositories.

mod diff;
mod discover;
mod history;
mod names;
mod patch_id;
mod program;
mod refs;
mod repository;
