//! Answering threads and triaging them.
#![expect(clippy::print_stdout, reason = "exhaustive products say how many cases they had")]

mod bars;
mod checks;
mod forges;
mod payload;
mod phases;
mod product;
mod rows;
mod scans;
mod support;
mod twice;
mod words;
