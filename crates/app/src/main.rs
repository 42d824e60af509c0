//! The shell. The commands that need a repository or a forge come with their adapters; what is here is what the core
//! alone can answer.

mod config;

use std::io::{self, Write};
use std::process::ExitCode;

use referee_core::model::{Snapshot, Submission};
use referee_core::plan::Plan;
use referee_core::policy::Policy;
use referee_core::triage::TriagePayload;
use schemars::{Schema, schema_for};

const HELP: &str = "\
referee runs the whole review loop on pull requests, and ends it

usage: referee schema NAME    print a published JSON schema: report, triage, snapshot, plan, policy
       referee --version
       referee --help
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["--help" | "-h" | "help"] => say(HELP),
        ["--version" | "-V"] => say(concat!("referee ", env!("CARGO_PKG_VERSION"), "\n")),
        ["schema", name] => match schema(name) {
            Some(schema) => say(&format!("{:#}\n", schema.as_value())),
            None => refuse(&format!("there is no schema `{name}`"), "ask for report, triage, snapshot, plan or policy"),
        },
        _ => refuse(&format!("`{}` is not understood", words.join(" ")), "run `referee --help`"),
    }
}

fn schema(name: &str) -> Option<Schema> {
    Some(match name {
        "report" => schema_for!(Submission),
        "triage" => schema_for!(TriagePayload),
        "snapshot" => schema_for!(Snapshot),
        "plan" => schema_for!(Plan),
        "policy" => schema_for!(Policy),
        _ => return None,
    })
}

/// Data goes to stdout. A reader that went away is no error of ours.
fn say(text: &str) -> ExitCode {
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

/// Words go to stderr; 2 is a usage error.
fn refuse(message: &str, hint: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {message}\n\nhint: {hint}");
    ExitCode::from(2)
}
