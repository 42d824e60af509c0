//! The git program and its diffs, on real repositories.

mod batch;
mod cache;
mod commands;
mod diff;
mod discover;
mod fetch_work_copy;
mod history;
mod hostile;
mod merge;
mod new_commits;
mod patch_id;
mod push;
mod quoting;
mod refs;
mod repository;
mod uncommitted;
mod unusual_paths;
mod work_copy;
mod worktree;
