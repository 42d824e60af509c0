//! Tracking of findings between two heads, by example and by property.

mod anchor;
mod assign;
mod code;
mod diff_of;
mod follow;
mod lines;
mod patch;
mod rebase;
mod texts;
