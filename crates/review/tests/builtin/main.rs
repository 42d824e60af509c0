//! The built-in reviewer, through what it offers.

mod bad_input;
mod changed_lines;
mod desk;
mod own_rules;
mod pages;
mod samples;
mod secrets;
mod text_rules;
