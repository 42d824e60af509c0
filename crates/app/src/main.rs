//! The shell: reads what people type, opens what they mean, plays turns, and tells what came of it.

mod case;
mod cli;
mod config;
mod console;
mod dispatch;
mod elsewhere;
mod failure;
mod fix_payload;
mod forge;
mod hosted;
mod ledger;
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
mod turn_output;
mod user_dirs;
mod wait;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
