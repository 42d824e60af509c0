//! The shell: reads what people type, opens what they mean, plays turns, and tells what came of it.

mod cli;
mod config;
mod failure;
mod fix;
mod out;
mod payload;
mod place;
mod progress;
#[cfg_attr(not(test), expect(dead_code, reason = "the commands that choose by it are being built"))]
mod reach;
mod reviewers;
mod setup;
mod show;
mod source;
mod stand;
mod store;
mod table;
mod target;
mod tell;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
