//! Decides what to say on a pull. Pure: no IO, no clock, no async, no randomness.
#![warn(missing_docs)]

pub mod decide;
pub mod facts;
pub mod hash;
pub mod mark;
pub mod merge;
pub mod model;
pub mod plan;
pub mod policy;
pub mod render;
pub mod sanitise;
pub mod say;
pub mod track;
pub mod triage;
