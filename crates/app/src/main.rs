//! The program `referee`: parses the command line, opens pull requests, runs turns and prints their results.

mod cli;
mod config;
mod console;
mod dispatch;
mod failure;
mod fix_payload;
mod known_secrets;
mod logging;
mod output;
mod payload;
mod printable;
mod progress;
mod reviewers;
mod session;
mod store;
mod user_dirs;
mod worker;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The sandbox runs this program again as its first process. It must not have threads yet.
    if let Some(code) = referee_sandbox::run_if_invoked() {
        return code;
    }
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(cli::run_from_args()),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: the async runtime could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}
