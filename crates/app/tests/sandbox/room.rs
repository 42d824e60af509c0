//! A room for one run, and what came of it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// The tiers that hold anything.
pub(crate) const TIERS: [&str; 3] = ["0", "1", "2"];

pub(crate) struct Room {
    folder: TempDir,
    tier: String,
    more: Vec<String>,
}

/// How a run ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) told: Value,
    pub(crate) log: String,
}

impl Room {
    pub(crate) fn new(tier: &str) -> Self {
        Self { folder: TempDir::new().expect("a folder"), tier: tier.to_owned(), more: Vec::new() }
    }

    /// More words for the command line.
    pub(crate) fn with(mut self, words: &[&str]) -> Self {
        self.more.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A worker that is a line of shell.
    pub(crate) fn command(&self, script: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.args(["sandbox", "run", "--tier", &self.tier, "--folder"]).arg(self.folder.path());
        command.args(&self.more).args(["--", "sh", "-c", script]);
        command
    }

    pub(crate) fn run(&self, script: &str) -> Ran {
        self.ran(&self.command(script).output().expect("referee runs"))
    }

    pub(crate) fn ran(&self, output: &Output) -> Ran {
        let words = String::from_utf8_lossy(&output.stderr);
        let told = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {words}"));
        let log = fs::read(self.path("log")).expect("a log");
        Ran { told, log: String::from_utf8_lossy(&log).into_owned() }
    }
}
