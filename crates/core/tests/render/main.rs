//! Every text of referee, as people and programs read it.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod answers;
mod commands;
mod kit;
mod limits;
mod operators;
mod plans;
mod summaries;
mod threads;
mod topics;
