//! Workers. What one is told is here; running one comes with the runner.

pub(crate) mod cage;
#[expect(dead_code, reason = "called by whoever runs workers")]
mod deliver;
#[cfg_attr(not(test), expect(dead_code, reason = "called by whoever runs workers"))]
mod left;
mod prompt;

pub(crate) use prompt::{Brief, render, task};
