//! The sample repository of the demo: runs git as the author, and referee as a child process.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// The sample repository.
#[derive(Debug)]
pub(super) struct DemoRepository {
    dir: PathBuf,
    program: PathBuf,
    child_output: ChildOutput,
}

/// What happens to the output of child processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChildOutput {
    Inherited,
    Discarded,
}

/// The operator file, relative to the repository. It defines the pedant's command, which `referee.toml` may not.
pub(super) const OPERATOR_FILE: &str = ".git/demo-operator.toml";

/// Overrides of the user's git config.
const GIT_ARGS: &[&str] = &[
    "-c",
    "user.name=Ada",
    "-c",
    "user.email=ada@example.org",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "init.defaultBranch=main",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.autocrlf=false",
];

impl DemoRepository {
    /// Creates an empty repository.
    pub(super) fn new(dir: &Path, child_output: ChildOutput) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|error| {
            Failure::failed(format!("the demo cannot start: the path of this program is unknown: {error}"))
        })?;
        let repository = Self { dir: dir.to_owned(), program, child_output };
        repository.run_git(&["init", "--quiet"])?;
        repository.run_git(&["config", "user.name", "Ada"])?;
        repository.run_git(&["config", "user.email", "ada@example.org"])?;
        Ok(repository)
    }

    pub(super) fn operator_path(&self) -> PathBuf {
        self.dir.join(OPERATOR_FILE)
    }

    pub(super) fn write_operator(&self) -> Result<(), Failure> {
        let program = toml::Value::String(self.program.display().to_string());
        let text = format!("[commands.pedant]\nargv = [{program}, \"demo\", \"--as-pedant\"]\nformat = \"referee\"\n");
        std::fs::write(self.operator_path(), text).map_err(demo_failure)
    }

    /// Writes files and commits them as the author.
    pub(super) fn commit(&self, files: &[(&str, &str)], message: &str) -> Result<(), Failure> {
        for (path, text) in files {
            let path = self.dir.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(demo_failure)?;
            }
            std::fs::write(path, text).map_err(demo_failure)?;
        }
        self.run_git(&["add", "--all"])?;
        self.run_git(&["commit", "--quiet", "--message", message])
    }

    /// Runs git as the author.
    pub(super) fn run_git(&self, args: &[&str]) -> Result<(), Failure> {
        let mut git = Command::new("git");
        for (key, _) in std::env::vars_os().filter(|(key, _)| key.as_encoded_bytes().starts_with(b"GIT_")) {
            git.env_remove(key);
        }
        let output = git.current_dir(&self.dir).args(GIT_ARGS).args(args).output().map_err(demo_failure)?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Failure::failed(format!("`git {}` failed: {message}", args.join(" "))))
    }

    /// Runs referee as a user would, and fails unless it exits with the expected code.
    pub(super) fn run_referee(&self, args: &[&str], expected_exit: u8) -> Result<(), Failure> {
        let mut child = self.referee_command(args);
        if self.child_output == ChildOutput::Inherited {
            child.stdout(Stdio::inherit()).stderr(io::stdout());
        } else {
            child.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let code = child.status().map_err(demo_failure)?.code();
        if code == Some(i32::from(expected_exit)) {
            return Ok(());
        }
        let actual = code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        Err(Failure::failed(format!("`referee {}` exited with {actual} instead of {expected_exit}", args.join(" "))))
    }

    /// Runs referee and parses its stdout as JSON.
    pub(super) fn read_json(&self, args: &[&str]) -> Result<serde_json::Value, Failure> {
        let output = self.referee_command(args).output().map_err(demo_failure)?;
        serde_json::from_slice(&output.stdout).map_err(demo_failure)
    }

    fn referee_command(&self, args: &[&str]) -> Command {
        let mut child = Command::new(&self.program);
        for key in ["REFEREE_PULL", "REFEREE_TOKEN", "REFEREE_ACCESSIBLE"] {
            child.env_remove(key);
        }
        child.current_dir(&self.dir).env("REFEREE_OPERATOR", self.operator_path()).args(args).stdin(Stdio::null());
        child
    }
}

fn demo_failure(error: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("the demo stopped: {error}"))
}
