//! The shell.
fn main() {}
