//! One program in the sandbox, run with the helper `referee sandbox '{"run": …}'`, and what came of it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const TIERS: [u8; 3] = [0, 1, 2];

/// A run in a temporary folder.
pub(crate) struct SandboxRun {
    folder: TempDir,
    request: Value,
}

/// How a run ended, and what the program printed.
#[derive(Debug)]
pub(crate) struct FinishedRun {
    pub(crate) report: Value,
    pub(crate) log: String,
}

impl SandboxRun {
    pub(crate) fn new(tier: u8) -> Self {
        let folder = TempDir::new().expect("a folder");
        let request = json!({ "tier": tier, "folder": folder.path() });
        Self { folder, request }
    }

    /// Sets a field of the request.
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.request[field] = value.into();
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the command that runs a shell script in the sandbox.
    pub(crate) fn command(&self, script: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.args(["sandbox", &json!({ "run": self.request }).to_string(), "sh", "-c", script]);
        command
    }

    pub(crate) fn run(&self, script: &str) -> FinishedRun {
        self.finish(&self.command(script).output().expect("referee runs"))
    }

    /// Reads the report and the log of a command that has ended.
    pub(crate) fn finish(&self, output: &Output) -> FinishedRun {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
        let log = fs::read(self.path("log")).expect("a log");
        FinishedRun { report, log: String::from_utf8_lossy(&log).into_owned() }
    }
}
