//! The shell: reads what people type, opens what they mean, plays turns, and tells what came of it.

mod case;
mod cli;
mod config;
mod dispatch;
mod elsewhere;
mod failure;
mod fix;
mod folders;
mod forge;
mod hosted;
mod ledger;
mod out;
mod payload;
mod place;
mod progress;
mod reach;
mod reviewers;
mod setup;
mod shelf;
mod show;
mod source;
mod stand;
mod store;
mod table;
mod target;
mod tell;
mod wait;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
