//! The stage of the demo: a repository in a folder of its own, the author's git, and referee as its own child.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// A repository to play in.
#[derive(Debug)]
pub(super) struct DemoRepository {
    dir: PathBuf,
    program: PathBuf,
    child_output: ChildOutput,
}

/// Whether children print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChildOutput {
    /// As they would alone.
    Inherited,
    /// Not at all.
    Discarded,
}

/// The operator's file: only there may programs be named.
pub(super) const OPERATOR_FILE: &str = ".git/demo-operator.toml";

/// The author's git obeys nobody's settings.
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
    /// An empty repository.
    pub(super) fn new(dir: &Path, shown: ChildOutput) -> Result<Self, Failure> {
        let referee = std::env::current_exe()
            .map_err(|error| Failure::failed(format!("this program does not know where it lies: {error}")))?;
        let stage = Self { dir: dir.to_owned(), program: referee, child_output: shown };
        stage.run_git(&["init", "--quiet"])?;
        stage.run_git(&["config", "user.name", "Ada"])?;
        stage.run_git(&["config", "user.email", "ada@example.org"])?;
        Ok(stage)
    }

    /// The operator's file.
    pub(super) fn operator_path(&self) -> PathBuf {
        self.dir.join(OPERATOR_FILE)
    }

    /// Writes the operator's file.
    pub(super) fn write_operator(&self) -> Result<(), Failure> {
        let program = toml::Value::String(self.program.display().to_string());
        let text = format!("[commands.pedant]\nargv = [{program}, \"demo\", \"--as-pedant\"]\nformat = \"referee\"\n");
        std::fs::write(self.operator_path(), text).map_err(demo_failure)
    }

    /// The author writes files and commits them.
    pub(super) fn commit(&self, files: &[(&str, &str)], message: &str) -> Result<(), Failure> {
        for (path, text) in files {
            let path = self.dir.join(path);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(demo_failure)?;
            }
            std::fs::write(path, text).map_err(demo_failure)?;
        }
        self.run_git(&["add", "--all"])?;
        self.run_git(&["commit", "--quiet", "--message", message])
    }

    /// The author's git.
    pub(super) fn run_git(&self, args: &[&str]) -> Result<(), Failure> {
        let mut git = Command::new("git");
        for (key, _) in std::env::vars_os().filter(|(key, _)| key.as_encoded_bytes().starts_with(b"GIT_")) {
            git.env_remove(key);
        }
        let output = git.current_dir(&self.dir).args(GIT_ARGS).args(args).output().map_err(demo_failure)?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Failure::failed(format!("`git {}` failed: {words}", args.join(" "))))
    }

    /// referee itself, as a user would run it. Its exit code is part of the play.
    pub(super) fn run_referee(&self, args: &[&str], ends: u8) -> Result<(), Failure> {
        let mut child = self.referee_command(args);
        if self.child_output == ChildOutput::Inherited {
            child.stdout(Stdio::inherit()).stderr(io::stdout());
        } else {
            child.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let code = child.status().map_err(demo_failure)?.code();
        if code == Some(i32::from(ends)) {
            return Ok(());
        }
        let found = code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        Err(Failure::failed(format!("`referee {}` ended with {found}, not with {ends}", args.join(" "))))
    }

    /// What referee prints, as data.
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
