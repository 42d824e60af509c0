//! The built-in reviewer, through its public interface.

mod bad_input;
mod changed_lines;

mod pages;
mod repository_rules;
mod samples;
mod secrets;
mod test_change;
mod text_rules;
