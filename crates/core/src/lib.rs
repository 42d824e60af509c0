//! Decides what referee does on a pull. Pure: no IO, no clock, no async, no randomness.

pub mod decide;
pub mod facts;
pub mod hash;
pub mod mark;
pub mod merge;
pub mod model;
pub mod plan;
pub mod policy;
mod protected_files;
pub mod render;
pub mod rule;
pub mod sanitise;
pub mod say;
pub mod track;
pub mod triage;
