//! The git program and its diffs, on real repositories.

mod cache;
mod diff;
mod discover;
mod history;
mod hostile;
mod many;
mod merge;
mod names;
mod nasty;
mod patch_id;
mod pending;
mod program;
mod push;
mod refs;
mod repository;
mod take;
mod work_copy;
mod worktree;
