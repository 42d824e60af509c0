//! Workers. What one is told is here; running one comes with the runner.

mod prompt;

pub(crate) use prompt::{Brief, render, task};
